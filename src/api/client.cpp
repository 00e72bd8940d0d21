#include <rowlock/client.hpp>

#include <rowlock/error.hpp>
#include <rowlock/openmetrics.hpp>

#include <utility>

#include "api/inside.hpp"
#include "base/text.hpp"
#include "core/url.hpp"
#include "driver/backend.hpp"

namespace rowlock::inline v1 {

using detail::inside;

client::client(std::shared_ptr<engine::client_core> impl) noexcept : impl_{std::move(impl)} {}

client client::connect(std::string_view url, client_options options) {
  return inside::connect(driver::backend_for(core::cut_url(url).scheme), url, std::move(options));
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
  return detail::granted(try_acquire_for_(name, duration::max(), options, std::move(stop)), "for ", &name);
}

std::optional<held_lock> client::try_acquire(const lock_name& name, const lock_options& options) {
  return try_acquire_for_(name, duration::zero(), options, {});
}

std::optional<held_lock> client::try_acquire_for_(const lock_name& name, duration wait, const lock_options& options,
                                                  std::stop_token stop) {
  const auto core = inside::of(*this);
  return inside::held(core, core->acquiring.acquire(name, options, options.as, wait, stop));
}

held_lock client::acquire_any(const lock_names& names, const lock_options& options, std::stop_token stop) {
  return detail::granted(try_acquire_any_for_(names.all(), duration::max(), options, std::move(stop)),
                         "for one of several names");
}

std::optional<held_lock> client::try_acquire_any(const lock_names& names, const lock_options& options) {
  return try_acquire_any_for_(names.all(), duration::zero(), options, {});
}

std::optional<held_lock> client::try_acquire_any_for_(std::span<const lock_name> names, duration wait,
                                                      const lock_options& options, std::stop_token stop) {
  const auto core = inside::of(*this);
  engine::thread_flow here;
  return inside::held(core, core->acquiring.acquire_any(here, names, options, options.as, wait, stop).get());
}

held_set client::acquire_all(const lock_names& names, const lock_options& options, std::stop_token stop) {
  return detail::granted(try_acquire_all_for_(names.all(), duration::max(), options, std::move(stop)),
                         "for several names");
}

std::optional<held_set> client::try_acquire_all(const lock_names& names, const lock_options& options) {
  return try_acquire_all_for_(names.all(), duration::zero(), options, {});
}

std::optional<held_set> client::try_acquire_all_for_(std::span<const lock_name> names, duration wait,
                                                     const lock_options& options, std::stop_token stop) {
  const auto core = inside::of(*this);
  engine::thread_flow here;
  return inside::held(core, core->acquiring.acquire_all(here, names, options, options.as, wait, stop).get());
}

held_lock client::acquire_shared(const lock_name& name, const lock_options& options, std::stop_token stop) {
  return detail::granted(try_acquire_shared_for_(name, duration::max(), options, std::move(stop)), "to share ", &name);
}

std::optional<held_lock> client::try_acquire_shared(const lock_name& name, const lock_options& options) {
  return try_acquire_shared_for_(name, duration::zero(), options, {});
}

std::optional<held_lock> client::try_acquire_shared_for_(const lock_name& name, duration wait,
                                                         const lock_options& options, std::stop_token stop) {
  const auto core = inside::of(*this);
  return inside::held(core, core->acquiring.acquire(name, options, options.as, wait, stop, core::one_reader));
}

void client::release_all() noexcept {
  if (impl_ && impl_->db.is_usable()) impl_->locks.release_all();
}

bool client::force_release(const lock_name& name, std::optional<fencing_token> only) {
  return inside::of(*this)->freeing(name, only);
}

std::vector<lock_info> client::list(std::string_view prefix) { return inside::of(*this)->inspection.list(prefix); }
std::optional<lock_info> client::find(const lock_name& name) { return inside::of(*this)->inspection.find(name); }
std::vector<lock_info> client::sharers(const lock_name& name) { return inside::of(*this)->inspection.sharers(name); }
std::vector<waiter_info> client::waiters(const lock_name& name) { return inside::of(*this)->inspection.waiters(name); }

std::vector<waiter_info> client::list_waiters(std::string_view prefix) {
  return inside::of(*this)->inspection.list_waiters(prefix);
}
void client::check() { inside::of(*this)->inspection.check(); }
std::vector<finding> client::diagnose() { return inside::of(*this)->inspection.diagnose(); }
database_statistics client::database_stats() { return inside::of(*this)->inspection.statistics(); }
guard_status client::guard() { return inside::of(*this)->inspection.guard(); }
guard_status client::set_guard(std::optional<duration> quarantine, const guard_options& options) {
  return inside::of(*this)->inspection.set_guard(quarantine, options);
}
guard_status client::end_quarantine() { return inside::of(*this)->inspection.end_quarantine(); }
void client::migrate() { inside::of(*this)->inspection.migrate(); }
rowlock::schema_status client::schema_status() { return inside::of(*this)->inspection.schema_status(); }

client_statistics client::stats() const { return inside::of(*this)->stats(); }
void client::write_openmetrics(std::ostream& to) const { rowlock::write_openmetrics(to, stats()); }

void client::close() {
  if (impl_) impl_->close();
}

}  // namespace rowlock::inline v1
