#pragma once

#include <rowlock/error.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "driver/session.hpp"
#include "engine/flow/flow.hpp"
#include "engine/flow/task.hpp"
#include "engine/gateway/gathering.hpp"
#include "engine/gateway/pool.hpp"
#include "store/access.hpp"

namespace rowlock::inline v1::engine {

/// Requests whose threads wait.
inline constexpr std::size_t combined_batch_size = 256;
/// Up to so many prompt callers (gathering.hpp) share one line, while nothing on it is stuck: carrying out their
/// requests takes less than the round trip and the commit.
inline constexpr std::size_t most_on_one_line = 32;

class combinable_verb;

/// How long one request of a batch may take.
struct combined_limits {
  driver::limits until{};  ///< of its statement
  base::instant last{};    ///< when its thread has to return: not before `until`
};

/// The request of one caller, while it waits for a line or is part of a batch. It may outlive its caller's interest: a
/// caller whose time is over leaves it behind.
///
///   queued --a worker takes it--> sent --> ended: with an answer or an error
///   queued --left: out of time or stopped--> nothing was sent
///   sent   --left: out of time or stopped--> its outcome is unknown to its caller
///   sent   --left, and given up by its caller--> its heir learns the outcome when it has ended
class combined_call {
 public:
  class answered;

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

  // --- by its caller

  enum class outcome : std::uint8_t { ended, not_sent, unknown };
  /// Once its time is over.
  outcome present();
  /// Throws its error, if it has failed.
  void throw_if_failed() const;

  /// Its outcome in the database.
  enum class fate : std::uint8_t { nothing, done, unknown };
  using heir = std::function<void(fate)>;
  /// After `unknown`, once its thread does not look for it in the database any more: `then` is called with its fate,
  /// once: at once if it has ended, otherwise by the worker. It must be quick and may not throw.
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
      if (caller_ != nullptr) caller_->wake();
    }
    ended_.notify_one();
    if (then) then(fate_of());
  }
  fate fate_of() const;
  base::instant waits_until() const noexcept;
  bool is_over() const;

  combinable_verb& verb_;
  const combined_limits until_;
  std::mutex mutex_;               // of the following
  std::condition_variable ended_;  // not the kind for any lock, which would have to lock its own mutex as well
  waker* caller_ = nullptr;        // while it waits without a thread
  std::optional<base::instant> batch_ends_;  // once it is sent
  bool has_ended_ = false;
  std::optional<error> failure_;
  std::exception_ptr other_failure_;
  heir heir_;
};

using combined_call_ptr = std::shared_ptr<combined_call>;

/// The wait of its caller, until it has ended, or its time is over, or it is stopped.
class combined_call::answered final : public wait {
 public:
  answered(combined_call& one, waker* by);
  answered(const answered&) = delete;
  answered& operator=(const answered&) = delete;
  ~answered() override;
  void block() override;
  bool is_over() override;
  base::instant until() override;

 private:
  combined_call& one_;
};

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

/// A verb that may be sent for many threads at once.
class combinable_verb {
 public:
  explicit combinable_verb(purpose what_for) noexcept : purpose_{what_for} {}
  combinable_verb(const combinable_verb&) = delete;
  combinable_verb& operator=(const combinable_verb&) = delete;
  virtual ~combinable_verb() = default;

  purpose what_for() const noexcept { return purpose_; }
  /// Sends these, and stores the answer of each in it.
  virtual void ask(const store::access& db, std::span<const combined_call_ptr> some) = 0;

 private:
  const purpose purpose_;
};

/// The answer to a request that was sent at that time.
template <class Answer>
struct sent_answer {
  base::instant sent{};
  Answer what{};
};

/// One of the verbs that take batches.
template <class Request, class Answer>
class combined_verb final : public combinable_verb {
 public:
  /// One answer for each request, in their order. A batch contains a name at most once, or is of one name.
  using function = std::function<std::vector<Answer>(const store::access&, std::span<const Request>)>;
  /// Whether this answer says that the request has had an effect.
  using judgement = bool (*)(const Answer&);

  combined_verb(purpose what_for, function ask, judgement has_effect)
      : combinable_verb{what_for}, ask_{std::move(ask)}, has_effect_{has_effect} {}

  sent_answer<Answer> ask(const store::access& db, const Request& one) const {
    const auto sent = base::now();
    return {.sent = sent, .what = ask_(db, {&one, 1}).at(0)};
  }

  void ask(const store::access& db, std::span<const combined_call_ptr> some) override {
    std::vector<Request> requests;
    requests.reserve(some.size());
    for (const auto& each : some) requests.push_back(*call_of(each).what);
    const auto sent = base::now();
    auto answers = ask_(db, requests);
    for (std::size_t i = 0; i < some.size(); ++i)
      call_of(some[i]).answer = sent_answer<Answer>{.sent = sent, .what = std::move(answers.at(i))};
  }

  struct call final : combined_call {
    call(combined_verb& verb, const Request& one, const combined_limits& until)
        : combined_call{verb, until}, judge{verb.has_effect_}, what{one} {}
    std::string_view name() const noexcept override { return what->name; }
    bool has_effect() const override { return judge(answer->what); }
    const judgement judge;
    const owning<Request> what;
    std::optional<sent_answer<Answer>> answer;
  };

 private:
  static call& call_of(const combined_call_ptr& c) { return static_cast<call&>(*c); }

  const function ask_;
  const judgement has_effect_;
};

/// Many threads' requests, few statements: while the lines to the database are busy, the requests of other threads
/// gather, and leave together. So they share a round trip and a commit. (Flat combining, by Hendler, Incze, Shavit and
/// Tzafrir; databases call it group commit.)
///
/// A request that finds a line free goes straight, on the thread that asks. The others are sent by threads of the
/// combiner's own, in the order of their arrival, so that each can leave when its own time is over. A batch is of one
/// verb, or, if the database commits faster than it answers, of all waiting requests; releases then go first.
///
/// Requests to share names, and to end shares, have two combiners of their own. By the first, beside other callers,
/// requests of different names leave together, in a statement that waits for no row. By the second, only those of one
/// name travel together, in a statement that waits for it: so they hold up no other name, and of one client's readers
/// of a name only one statement waits for the row.
///
/// The laws. Each request has an acquisition of its own, and a statement for many does for each what a statement for
/// one does, under the same row lock (1 to 4); those for one name accept each other. The time of sending is taken after
/// the wait for a line (5). A lost reply is lost for each request of the batch, and so is the answer to a thread that
/// left: each resolves its own (6). A thread waits by its own limits, never by those of others (8).
///
/// A thread that leaves keeps its request, and may look for it in the database. If it does not find it, it gives it up:
/// from then on the answer of the batch, which the worker knows, decides. So each is adopted by its thread or undone
/// after that, never both, even if the thread leaves at the very moment when the answer arrives.
class combiner {
 public:
  /// Runs this on a session for the purpose.
  using on_session =
      std::function<void(const driver::limits&, purpose, const std::function<void(const store::access&)>&)>;
  struct line_options {
    std::size_t lines = 0;     ///< requests or batches that are under way at once; 0: every request goes straight
    std::size_t few = 0;       ///< so many callers use a line each, half as many prompt ones: too few to gather
    bool mixes_verbs = false;  ///< a batch of several verbs is one transaction
    /// For statements that wait for a row: a batch is of one name, and no other is under way for that name. Requests
    /// of other names do not wait for it, and `lines` limits batches alone.
    bool by_name = false;
    /// With by_name: a batch is of all names that have none under way. Its statement waits for no row.
    bool of_all_names = false;
  };

  combiner(on_session run, const line_options& with) : run_{std::move(run)}, options_{with} {}
  combiner(const combiner&) = delete;
  combiner& operator=(const combiner&) = delete;
  ~combiner() { stop(); }

  /// Throws what the verb throws; call_timed_out or cancelled if its time was over or it was stopped, with
  /// outcome_is_unknown() if it was sent: then `left` is the request that remains in its batch.
  template <class Request, class Answer>
  task<sent_answer<Answer>> run(flow& by, combined_verb<Request, Answer>& verb, const Request& one,
                                const combined_limits& until, combined_call_ptr& left);

  /// Requests that are queued now.
  std::size_t waiting() { return state_.lock()->queue.size(); }

  /// Queued requests are not sent any more; later requests go straight. Batches that are under way are cut, and have
  /// ended when it returns.
  void stop() noexcept;

 private:
  struct contents {
    std::deque<combined_call_ptr> queue;
    std::size_t busy = 0;                           // lines
    base::instant progress{};                       // when a line was last begun or left
    base::instant watched_until{};                  // by a worker that has nothing to do
    std::size_t sent = 0;                           // requests under way
    std::multiset<std::string, std::less<>> names;  // under way, by_name
    std::size_t callers = 0;                        // when the last request ended
    gathering next;                                 // batch
    bool is_stopped = false;
    std::vector<std::jthread> workers;
  };
  class line;
  class caller;

  bool goes_straight(flow& by, std::string_view name, duration pause);
  std::size_t few(const contents& in) const noexcept;
  std::size_t lines(const contents& in) const noexcept;
  bool has_free_line(const contents& in) const noexcept;
  static bool is_busy_with(const contents& in, std::string_view name);
  bool has_prompt_callers(const contents& in) const noexcept;
  static bool is_gathering(const contents& in) noexcept;
  static void begin_line(contents& in, std::size_t requests) noexcept;
  bool is_stuck(const contents& in) const noexcept;
  bool is_due(contents& in) const { return has_work(in) && !is_gathering(in); }
  std::optional<base::instant> next_look(const contents& in) const noexcept;
  void leave_line(std::optional<std::string_view> name, base::instant began) noexcept;
  void end_batch(std::span<const combined_call_ptr> some, base::instant began) noexcept;
  void have_ended(contents& in, std::size_t count, base::instant began) const noexcept;
  bool has_work(contents& in) const { return first_due(in) != in.queue.end(); }
  std::deque<combined_call_ptr>::iterator first_due(contents& in) const;
  void enqueue(const combined_call_ptr& one);
  task<void> wait_for(flow& by, const combined_call_ptr& one, combined_call_ptr& left);
  bool withdraw(const combined_call_ptr& one);
  bool has_workers(contents& in);
  void work(const std::stop_token& stop);
  std::vector<combined_call_ptr> next_batch(const std::stop_token& stop);
  std::vector<combined_call_ptr> take_batch(contents& from, const combined_call_ptr& first) const;
  void carry_out(std::span<const combined_call_ptr> some, const std::stop_token& stop) noexcept;
  void ask(std::span<const combined_call_ptr> some, const driver::limits& until);
  void ask_by_verb(const store::access& db, std::span<const combined_call_ptr> some) const;

  const on_session run_;
  const line_options options_;
  std::atomic<std::size_t> callers_{0};
  std::condition_variable_any work_;
  base::guarded<contents> state_;
};

/// A call from its begin to its end.
class combiner::caller {
 public:
  explicit caller(combiner& of) noexcept;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  ~caller();

  /// Since the last call of this thread.
  duration pause() const noexcept { return pause_; }

 private:
  combiner& of_;
  const duration pause_;
};

/// A line that a thread has begun to use: for a request of that name, or for a batch, whose names are freed earlier.
class combiner::line {
 public:
  line(combiner& of, std::optional<std::string_view> name) noexcept : of_{of}, name_{name} {}
  line(const line&) = delete;
  line& operator=(const line&) = delete;
  ~line() { of_.leave_line(name_, began_); }

 private:
  combiner& of_;
  const std::optional<std::string_view> name_;
  const base::instant began_ = base::now();
};

template <class Request, class Answer>
task<sent_answer<Answer>> combiner::run(flow& by, combined_verb<Request, Answer>& verb, const Request& one,
                                        const combined_limits& until, combined_call_ptr& left) {
  const caller counted{*this};
  if (goes_straight(by, one.name, counted.pause())) {
    const line mine{*this, one.name};
    sent_answer<Answer> out;
    const auto ask = [&](const store::access& db) { out = verb.ask(db, one); };
    run_(until.until, verb.what_for(), std::ref(ask));
    co_return out;
  }
  const auto call = std::make_shared<typename combined_verb<Request, Answer>::call>(verb, one, until);
  enqueue(call);
  co_await wait_for(by, call, left);
  co_return std::move(*call->answer);
}

}  // namespace rowlock::inline v1::engine
