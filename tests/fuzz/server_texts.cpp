// Texts that servers send, notifications among them, and texts that are made for them.

#include <array>
#include <vector>

#include "driver/enlisted_transaction.hpp"
#include "driver/mysql/listener.hpp"
#include "driver/mysql/values.hpp"
#include "driver/postgresql/errors.hpp"
#include "driver/postgresql/values.hpp"
#include "driver/sqlite/liveness_files.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"

namespace rowlock::fuzz {

namespace {

// Any client may send one, with any text.
void check_notification(const std::string& payload) {
  engine::local_wait_queue queue;
  const engine::local_wait_queue::waiter waits{queue, "orders/42"};
  expect(queue.hint(payload) == (payload == "orders/42"), "a notification wakes who waits for just that name", payload);
  expect(!queue.take_left(payload), "nobody has left that queue", payload);
}

// It becomes a part of a statement.
void check_owner(const std::string& owner) {
  const auto lock = driver::wake_up_lock(owner);
  if (!lock) return;
  expect(lock->starts_with("rowlock_") && owner.ends_with(lock->substr(8)) && lock->size() == 24,
         "a lock to wake a client is named by the end of its owner", *lock);
  expect(lock->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos, "it needs no quoting",
         *lock);
}

void check_message(std::string message) {
  std::erase(message, '\0');  // a text of libpq's ends there
  const auto state = driver::sqlstate_in(message);
  expect(state.empty() || state.size() == 5, "an SQLSTATE has five characters", state);
  const auto words = driver::plain_words(message);
  expect(words.find('\n') == std::string::npos, "the first sentence is a line", words);
  const auto e = driver::postgresql_error({.message = message, .sqlstate = {}}, "PostgreSQL (db)", "acquiring");
  expect(std::string_view{e.what()}.find(words) != std::string_view::npos, "the error has the server's words",
         e.what());
  if (message.find(secret) != std::string::npos) return;
  const std::string with_url = "could not read postgresql://me:" + std::string{secret} + "@db/x: " + message;
  expect(driver::plain_words(with_url).find(secret) == std::string::npos, "a message shows no password", with_url);
}

using requests = std::vector<driver::request>;

requests some_requests(input& from, std::vector<std::string>& texts) {
  requests out(from.ConsumeIntegralInRange<std::size_t>(1, 4));
  texts.reserve(out.size() * out[0].size());  // no text moves
  for (auto& each : out)
    for (auto& value : each) switch (from.ConsumeIntegralInRange(0, 2)) {
        case 0:
          break;
        case 1:
          value = from.ConsumeIntegral<std::int64_t>();
          break;
        default:
          value = std::string_view{texts.emplace_back(text(from))};
      }
  return out;
}

void check_json(const requests& batch) {
  const auto written = driver::json_of(batch);
  const bool is_text = is_utf8(written);  // as all is that was not refused
  const auto read = nlohmann::json::parse(written, nullptr, false);
  expect(!is_text || !read.is_discarded(), "a batch is JSON", written);
  if (!is_text) return;
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (std::size_t j = 0; j < batch[i].size(); ++j) {
      const auto& value = batch[i][j];
      const auto& seen = read.at(i).at(j);
      if (const auto* words = std::get_if<std::string_view>(&value)) {
        expect(seen == *words, "texts are those of the batch", *words);
      } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
        expect(seen == *number, "numbers are those of the batch");
      } else {
        expect(seen.is_null(), "NULL stays");
      }
    }
}

// As PostgreSQL reads an array of one dimension.
std::vector<std::optional<std::string>> read_array(std::string_view text) {
  std::vector<std::optional<std::string>> out;
  expect(text.starts_with('{') && text.ends_with('}'), "an array has braces", text);
  for (std::size_t at = 1; at < text.size(); ++at) {
    std::string element;
    const bool is_quoted = text[at] == '"';
    if (is_quoted) {
      for (++at; text.at(at) != '"'; ++at) {
        if (text[at] == '\\') ++at;
        element.push_back(text.at(at));
      }
      ++at;
    } else {
      for (; text.at(at) != ',' && text[at] != '}'; ++at) element.push_back(text[at]);
    }
    out.push_back(!is_quoted && element == "NULL" ? std::nullopt : std::optional{element});
  }
  return out;
}

void check_arrays(const requests& batch) {
  for (std::size_t place = 0; place < batch[0].size(); ++place) {
    std::string written;
    driver::write_array(written, batch, place);
    const auto read = read_array(written);
    expect(read.size() == batch.size(), "an array has an element for each request", written);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::string alone;
      const bool is_there = driver::write_scalar(alone, batch[i][place]);
      expect(read[i] == (is_there ? std::optional{alone} : std::nullopt), "elements are those of the batch", written);
    }
  }
}

void check_literal(const std::string& words) {
  const std::array<driver::argument, 2> both{std::string_view{words}, std::int64_t{7}};
  expect(driver::with_literals("SELECT ?1, ?2", both) == "SELECT _utf8mb4 X'" + driver::hex(words) + "', 7",
         "text is written by its bytes", words);
  const auto number = driver::number(driver::cell{words});
  expect(!number || words.starts_with(std::to_string(*number)) || words.find_first_of("0-") == 0,
         "a number is what the text begins with", words);
}

}  // namespace

void feed(input& from) {
  static const driver::liveness_files files{"/nonexistent", "rowlock_"};
  const auto words = text(from);
  check_notification(words);
  check_owner(words);
  check_message(words);
  check_literal(words);
  expect(files.is_alive(words), "who cannot be tested counts as alive", words);
  std::vector<std::string> texts;
  const auto batch = some_requests(from, texts);
  check_json(batch);
  check_arrays(batch);
}

}  // namespace rowlock::fuzz
