#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace rowlock::inline v1::engine {

/// What nobody waits for, as renewals: so that no statement lasts long, and no transaction holds a database's locks for
/// long.
inline constexpr std::size_t batch_size = 1024;
/// Requests whose threads wait.
inline constexpr std::size_t combined_batch_size = 256;

template <class T, class Use>
void in_batches(const std::vector<T>& all, Use use) {
  const std::span<const T> whole{all};
  for (std::size_t from = 0; from < whole.size(); from += batch_size)
    use(whole.subspan(from, std::min(batch_size, whole.size() - from)));
}

}  // namespace rowlock::inline v1::engine
