#include <rowlock/client.hpp>

#include <rowlock/error.hpp>

#include <utility>

#include "runtime/client_impl.hpp"

namespace rowlock::inline v1 {

namespace {

// A copy: it lives until the call ends, even if the client is destroyed meanwhile.
std::shared_ptr<detail::client_impl> checked(std::shared_ptr<detail::client_impl> impl) {
  if (!impl) throw error{errc::client_closed, "this rowlock client was moved from"};
  return impl;
}

}  // namespace

client::client(std::shared_ptr<detail::client_impl> impl) noexcept : impl_{std::move(impl)} {}

client client::connect(std::string_view url, client_options options) {
  return client{detail::client_impl::open(url, std::move(options))};
}

client::client(client&& other) noexcept = default;

client& client::operator=(client&& other) noexcept {
  if (this != &other) {
    close();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

client::~client() { close(); }

held_lock client::acquire(const lock_name& name, const lock_options& options, std::stop_token stop) {
  auto held = checked(impl_)->acquire(name, options, options.as, duration::max(), stop);
  if (!held) throw error{errc::cancelled, "stopped while waiting for \"" + std::string{name.view()} + "\""};
  return std::move(*held);
}

std::optional<held_lock> client::try_acquire(const lock_name& name, const lock_options& options) {
  return checked(impl_)->acquire(name, options, options.as, duration::zero(), {});
}

std::optional<held_lock> client::try_acquire_for_(const lock_name& name, duration wait, const lock_options& options,
                                                  std::stop_token stop) {
  return checked(impl_)->acquire(name, options, options.as, wait, stop);
}

void client::release_all() noexcept {
  if (impl_) impl_->release_all();
}

std::vector<lock_info> client::list(std::string_view prefix) { return checked(impl_)->list(prefix); }
std::optional<lock_info> client::find(const lock_name& name) { return checked(impl_)->find(name); }
void client::check() { checked(impl_)->check(); }
void client::migrate() { checked(impl_)->migrate(); }

void client::close() {
  if (impl_) impl_->close();
}

}  // namespace rowlock::inline v1
