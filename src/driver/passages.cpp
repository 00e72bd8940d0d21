#include "driver/passages.hpp"

#include "core/url.hpp"
#include "driver/backend.hpp"

namespace rowlock::inline v1::driver {

std::vector<sheets::passage> passages_for(std::string_view url, const client_options& with) {
  const auto scheme = core::cut_url(url).scheme;
  return backend_for(scheme).passages(scheme, {.table_prefix = with.table_prefix,
                                               .transaction_pooling = with.transaction_pooling,
                                               .durable_release = with.durable_release});
}

}  // namespace rowlock::inline v1::driver
