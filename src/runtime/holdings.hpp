#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/acquisition.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

using detail::acquisition;
using acquisition_ptr = std::shared_ptr<acquisition>;

/// Everything a client holds, and who holds it: reentrancy is decided here and nowhere else.
class holdings {
 public:
  /// false: closed. With `reentrant`, its holder gets it again by `again`. `first` is called before anybody else can
  /// lose it, under the mutex: it must be quick and may not come back here.
  bool add(const acquisition_ptr& a, bool reentrant, const std::function<void()>& first = {});

  /// What this holder has under this name, if it is still to be believed in; there is one more handle of it then.
  acquisition_ptr again(const lock_name& name, const holder& by, core::instant now);

  /// Whether anybody here has this name.
  bool has(const lock_name& name);

  /// Whether `again` would give it.
  bool has(const lock_name& name, const holder& by, core::instant now);

  /// One handle less. true: it was the last, and it is not listed any more.
  bool drop(acquisition& a);

  /// Takes it off the list; its handles stay.
  void remove(acquisition& a);

  std::vector<acquisition_ptr> all();
  /// All there is; nothing can be added from now on.
  std::vector<acquisition_ptr> close();

  /// `look` is called for each under the mutex: it must be quick and may not come back here.
  template <class Look>
  void each(Look look) {
    const auto state = state_.lock();
    for (const auto& a : state->listed) look(a);
  }

 private:
  struct contents;
  static const acquisition_ptr* find(const contents& in, const lock_name& name, const holder& by, core::instant now);
  struct contents {
    std::vector<acquisition_ptr> listed;
    std::unordered_map<std::string, acquisition_ptr> by_holder;
    bool is_closed = false;
  };
  static acquisition_ptr unlist(contents& from, acquisition& a);
  guarded<contents> state_;
};

}  // namespace rowlock::inline v1::runtime
