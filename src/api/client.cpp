#include <rowlock/client.hpp>

#include <rowlock/error.hpp>
#include <rowlock/openmetrics.hpp>

#include <utility>

#include "api/inside.hpp"
#include "runtime/client_impl.hpp"

namespace rowlock::inline v1 {

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
  auto held = detail::inside::of(*this)->acquire(name, options, options.as, duration::max(), stop);
  if (!held) throw error{errc::cancelled, "stopped while waiting for \"" + std::string{name.view()} + "\""};
  return std::move(*held);
}

std::optional<held_lock> client::try_acquire(const lock_name& name, const lock_options& options) {
  return detail::inside::of(*this)->acquire(name, options, options.as, duration::zero(), {});
}

std::optional<held_lock> client::try_acquire_for_(const lock_name& name, duration wait, const lock_options& options,
                                                  std::stop_token stop) {
  return detail::inside::of(*this)->acquire(name, options, options.as, wait, stop);
}

void client::release_all() noexcept {
  if (impl_) impl_->release_all();
}

bool client::force_release(const lock_name& name, std::optional<fencing_token> only) {
  return detail::inside::of(*this)->force_release(name, only);
}

std::vector<lock_info> client::list(std::string_view prefix) { return detail::inside::of(*this)->list(prefix); }
std::optional<lock_info> client::find(const lock_name& name) { return detail::inside::of(*this)->find(name); }
std::vector<waiter_info> client::waiters(const lock_name& name) { return detail::inside::of(*this)->waiters(name); }
void client::check() { detail::inside::of(*this)->check(); }
std::vector<finding> client::diagnose() { return detail::inside::of(*this)->diagnose(); }
database_statistics client::database_stats() { return detail::inside::of(*this)->database_stats(); }
void client::migrate() { detail::inside::of(*this)->migrate(); }
rowlock::schema_status client::schema_status() { return detail::inside::of(*this)->schema_status(); }

client_statistics client::stats() const { return detail::inside::of(*this)->stats(); }
void client::write_openmetrics(std::ostream& to) const { rowlock::write_openmetrics(to, stats()); }

void client::close() {
  if (impl_) impl_->close();
}

}  // namespace rowlock::inline v1
