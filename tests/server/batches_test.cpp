#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <random>

#include "core/lease.hpp"
#include "server/ledger.hpp"
#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

constexpr std::size_t names_at_once = 64;
constexpr std::size_t generations = 4;  // names that are not in use for a while, so that their rows are swept
constexpr int largest_batch = 32;
constexpr int threads = 8;
constexpr duration short_lease = 100ms;

/// One thread's way through random batches, on a session of its own.
class contender {
 public:
  contender(const std::string& url, int number, ledger& book)
      : steps_{url}, random_{static_cast<unsigned>(number)}, id_{std::to_string(number)}, book_{book} {}

  /// How many requests that were.
  int go_round(std::size_t generation) {
    choose(generation);
    acquire();
    if (lease_ == short_lease) return static_cast<int>(chosen_.size());  // left to expire
    if (below(3) == 0) renew();
    release();
    return static_cast<int>(chosen_.size());
  }

 private:
  struct choice {
    std::size_t number;
    std::string name;
    std::string acquisition;
    fencing_token token{};
  };

  int below(int limit) { return std::uniform_int_distribution{0, limit - 1}(random_); }

  void choose(std::size_t generation) {
    std::array<std::size_t, names_at_once> all{};
    std::iota(all.begin(), all.end(), generation * names_at_once);
    std::shuffle(all.begin(), all.end(), random_);
    lease_ = below(4) == 0 ? short_lease : long_lease;
    chosen_.clear();
    const int size = 1 + below(largest_batch);
    for (const auto number : std::span{all}.first(static_cast<std::size_t>(size)))
      chosen_.push_back({number, "name/" + std::to_string(number), id_ + "/" + std::to_string(++attempts_)});
  }

  void acquire() {
    std::vector<strategies::acquire_args> batch;
    for (const auto& c : chosen_) batch.push_back(attempt_at(c.name, c.acquisition, lease_));
    std::vector<strategies::answer> answers;
    base::instant sent;
    insist([&] {
      sent = base::now();
      answers = steps_.acquire(batch);
    });
    granted_.clear();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].what != strategies::verdict::granted) continue;
      chosen_[i].token = answers[i].token;
      granted_.push_back(chosen_[i]);
      book_.enter(chosen_[i].number, answers[i].token, core::local_deadline(sent, answers[i].left.value(), lease_));
    }
  }

  std::vector<store::lease_ref> held() const {
    std::vector<store::lease_ref> out;
    for (const auto& c : granted_) out.push_back({.name = c.name, .acquisition = c.acquisition, .lease = lease_});
    return out;
  }

  void renew() {
    std::vector<store::renewal> answers;
    insist([&] { answers = steps_.renew(held()); });
    for (const auto& answer : answers) EXPECT_NE(answer.what, store::standing::lost) << to_string(answer.why);
  }

  // Until nothing is pinned any more.
  void release() {
    for (const auto& c : granted_) book_.leave(c.number, c.token);
    while (!granted_.empty()) {
      std::vector<store::release_outcome> outcomes;
      insist([&] { outcomes = steps_.release(held()); });
      std::vector<choice> pinned;
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        EXPECT_NE(outcomes[i], store::release_outcome::gone) << granted_[i].name;
        if (outcomes[i] == store::release_outcome::pinned) pinned.push_back(granted_[i]);
      }
      granted_ = std::move(pinned);
    }
  }

  // A call that failed and may be repeated has done nothing.
  template <class Call>
  static void insist(Call call) {
    const auto attempt = [&] {
      call();
      return true;
    };
    for (auto e = error_of(attempt); e; e = error_of(attempt))
      if (!e->is_retryable() || e->outcome_is_unknown()) throw error{*e};
  }

  steps steps_;
  std::mt19937 random_;
  std::string id_;
  ledger& book_;
  duration lease_{};
  std::int64_t attempts_ = 0;
  std::vector<choice> chosen_;
  std::vector<choice> granted_;
};

class contending_batches : public on_each_server {
 protected:
  /// Until that many requests for locks were made, and all has happened that is to happen meanwhile.
  void contend(
      int requests, const std::function<bool()>& has_all_happened = [] { return true; }) {
    connect().close();
    std::atomic<int> so_far{0};
    const auto generation = [&] { return static_cast<std::size_t>(so_far) / 100'000 % generations; };
    test_thread in_the_way{[&](const std::stop_token& stop) { lock_rows(stop, generation); }};
    test_thread sweeper{[&](const std::stop_token& stop) { sweep(stop); }};
    std::vector<test_thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        contender one{db().url(), i, book_};
        while (so_far < requests || !has_all_happened()) so_far += one.go_round(generation());
      });
    all.clear();
    const auto end = [](test_thread& thread) {
      thread.request_stop();
      thread.join();
    };
    end(in_the_way);
    end(sweeper);
  }

  void expect_order() {
    EXPECT_EQ(book_.double_grants(), 0);
    EXPECT_EQ(book_.tokens_out_of_order(), 0);
    EXPECT_GT(book_.grants(), 0);
    EXPECT_GT(locked_, 0) << "nobody was in the way";
  }

  ledger book_{names_at_once * generations};
  std::atomic<std::int64_t> locked_{0};
  std::atomic<std::int64_t> swept_{0};

 private:
  template <class Generation>
  void lock_rows(const std::stop_token& stop, Generation generation) {
    server_database& from = db();
    for (std::size_t i = 0; !stop.stop_requested(); ++i) {
      const auto name = "name/" + std::to_string(generation() * names_at_once + i % names_at_once);
      const auto in_the_way = from.row_locked(name);
      ++locked_;
      let_pass(3ms);
    }
  }
  void sweep(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      swept_ += db().sweep();
      let_pass(20ms);
    }
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(contending_batches);

TEST_P(contending_batches, have_one_holder_a_name_and_tokens_in_order) {
  contend(10'000);
  expect_order();
}

TEST_P(contending_batches, have_them_for_a_long_time_and_while_rows_are_swept) {
  contend(300'000, [&] { return swept_ > 0; });
  expect_order();
}

}  // namespace
}  // namespace rowlock::test
