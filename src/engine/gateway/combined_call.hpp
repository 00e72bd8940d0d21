#pragma once

#include <rowlock/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::engine {

class combinable_verb;

/// How long one request of a batch may take.
struct combined_limits {
  driver::limits until{};  ///< of its statement
  base::instant last{};    ///< when its thread has to be back: not before `until`
};

/// The request of one thread, while it waits for a line or is part of a batch. It outlives its thread's interest: a
/// thread whose time is over leaves it behind.
///
///   queued --a worker takes it--> sent --> ended: with an answer or an error
///   queued --left: out of time or stopped--> nothing was sent
///   sent   --left: out of time or stopped--> its outcome is unknown to its thread
///   sent   --left, and given up by its thread--> whoever was given it learns of the outcome when it has ended
class combined_call {
 public:
  combined_call(combinable_verb& verb, const combined_limits& until) : verb_{verb}, until_{until} {}
  combined_call(const combined_call&) = delete;
  combined_call& operator=(const combined_call&) = delete;
  virtual ~combined_call() = default;

  combinable_verb& verb() const noexcept { return verb_; }
  virtual std::string_view name() const noexcept = 0;
  base::instant deadline() const noexcept { return until_.until.deadline; }
  const std::stop_token& stop() const noexcept { return until_.until.stop; }

  // --- by the worker that has taken it

  void was_sent(base::instant batch_ends) noexcept;
  void succeeded() noexcept {
    end([] {});
  }
  void failed(const error& why) {
    end([&] { failure_ = why; });
  }
  void failed(std::exception_ptr why) noexcept {
    end([&] { other_failure_ = std::move(why); });
  }

  // --- by its thread

  enum class outcome : std::uint8_t { ended, not_sent, unknown };
  /// Until it has ended, or its time is over, or it is stopped.
  outcome wait();
  /// What it failed with.
  void throw_if_failed() const;

  /// What became of it in the database.
  enum class fate : std::uint8_t { nothing, done, unknown };
  using heir = std::function<void(fate)>;
  /// After `unknown`, once its thread does not look for it in the database any more: `then` is told its fate, once, at
  /// once if it has ended, or else by the worker. It must be quick and may not throw.
  void give_up(heir then);

 protected:
  /// Whether its answer says that it has had an effect. It was answered.
  virtual bool has_effect() const = 0;

 private:
  template <class Note>
  void end(Note note) {
    heir then;
    {
      const std::lock_guard alone{mutex_};
      note();
      has_ended_ = true;
      then.swap(heir_);
    }
    ended_.notify_one();
    if (then) then(fate_of());
  }
  fate fate_of() const;
  base::instant waits_until() const noexcept;
  bool is_over() const;

  combinable_verb& verb_;
  const combined_limits until_;
  std::mutex mutex_;                         // of what follows
  std::condition_variable ended_;            // not the one for any lock: its mutex would have to be got as well
  std::optional<base::instant> batch_ends_;  // once it is sent
  bool has_ended_ = false;
  std::optional<error> failure_;
  std::exception_ptr other_failure_;
  heir heir_;
};

using combined_call_ptr = std::shared_ptr<combined_call>;

/// Copies the texts that a request points to.
template <class Request>
class owning {
 public:
  explicit owning(const Request& other) : request_{other} {
    std::size_t size = 0;
    for (const auto text : Request::texts()) size += (other.*text).size();
    texts_.reserve(size);  // from now on no text moves
    for (const auto text : Request::texts()) {
      const auto from = texts_.size();
      texts_.append(other.*text);
      request_.*text = std::string_view{texts_}.substr(from);
    }
  }
  owning(const owning&) = delete;
  owning& operator=(const owning&) = delete;
  const Request& operator*() const noexcept { return request_; }
  const Request* operator->() const noexcept { return &request_; }

 private:
  std::string texts_;
  Request request_;
};

}  // namespace rowlock::inline v1::engine
