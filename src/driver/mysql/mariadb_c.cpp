#include <fcntl.h>
#include <mysql.h>
#include <rowlock/error.hpp>

#include <charconv>
#include <new>
#include <utility>

#include "driver/mysql/connector.hpp"
#include "driver/net/without_signals.hpp"

// MariaDB Connector/C. Threads need not announce themselves to it, and it shows its sockets.

namespace rowlock::inline v1::driver {

namespace {

/// Every function that calls the connector has an object of this type.
struct calling {
  calling() {
    static const int prepared = keeping_sigpipe([] { return mysql_library_init(0, nullptr, nullptr); });
    (void)prepared;
  }
  const without_signals guard{};
};

class mariadb_c_failure final : public std::exception {
 public:
  explicit mariadb_c_failure(sql_failure of) : of_{std::move(of)} {}
  const char* what() const noexcept override { return of_.message.c_str(); }
  const sql_failure& of() const noexcept { return of_; }

 private:
  sql_failure of_;
};

[[noreturn]] void raise(unsigned code, const char* sqlstate, const char* message) {
  throw mariadb_c_failure{{.code = static_cast<int>(code), .sqlstate = sqlstate, .message = message}};
}
[[noreturn]] void raise(MYSQL* from) { raise(mysql_errno(from), mysql_sqlstate(from), ::mysql_error(from)); }
// If the server sends an error instead of a row, the connector may attach it to the connection only.
[[noreturn]] void raise(MYSQL_STMT* from) {
  if (mysql_stmt_errno(from) == 0) raise(from->mysql);
  raise(mysql_stmt_errno(from), mysql_stmt_sqlstate(from), mysql_stmt_error(from));
}

template <auto Free>
struct by {
  void operator()(auto* which) const noexcept { Free(which); }
};
using owned_connection = std::unique_ptr<MYSQL, by<mysql_close>>;
using owned_result = std::unique_ptr<MYSQL_RES, by<mysql_free_result>>;
using owned_statement = std::unique_ptr<MYSQL_STMT, by<mysql_stmt_close>>;

bool is_about_integer(enum_field_types type) {
  switch (type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return true;
    default:
      return false;
  }
}

// --- texts -----------------------------------------------------------------------------------------------------------

enum class rows_as : std::uint8_t { text, typed };

cell cell_of(std::string_view value, bool is_integer) {
  if (!is_integer) return std::string{value};
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

// Answers the number of changed rows if the statement returns no rows.
std::uint64_t read_result(MYSQL* from, rows_as kind, std::vector<row>& to) {
  const owned_result found{mysql_store_result(from)};
  if (!found) {
    if (mysql_errno(from) != 0) raise(from);
    return mysql_affected_rows(from);
  }
  const unsigned width = mysql_num_fields(found.get());
  const MYSQL_FIELD* columns = mysql_fetch_fields(found.get());
  while (MYSQL_ROW values = mysql_fetch_row(found.get())) {
    const unsigned long* sizes = mysql_fetch_lengths(found.get());
    row& line = to.emplace_back(width);
    for (unsigned i = 0; i < width; ++i) {
      const bool is_integer = kind == rows_as::typed && is_about_integer(columns[i].type);
      if (values[i] != nullptr) line[i] = cell_of({values[i], sizes[i]}, is_integer);
    }
  }
  return 0;
}

void send(MYSQL* on, const std::string& sql) {
  if (mysql_real_query(on, sql.data(), sql.size()) != 0) raise(on);
}

// --- prepared statements ---------------------------------------------------------------------------------------------

// The connector does not write to it. It takes a null pointer for NULL.
void* readable(const void* data) {
  return const_cast<void*>(data != nullptr ? data : "");  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

MYSQL_BIND bound(const argument& value) {
  MYSQL_BIND out{};
  if (const auto* words = std::get_if<std::string_view>(&value)) {
    out.buffer_type = MYSQL_TYPE_STRING;
    out.buffer = readable(words->data());
    out.buffer_length = words->size();
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    out.buffer_type = MYSQL_TYPE_LONGLONG;
    out.buffer = readable(number);
  } else {
    out.buffer_type = MYSQL_TYPE_NULL;
  }
  return out;
}

/// The connector's place for the value of a column: a number, or the length of a text, which is fetched separately.
struct column {
  bool is_integer;
  std::int64_t number = 0;
  unsigned long length = 0;
  my_bool is_null = 0;

  MYSQL_BIND bound() {
    MYSQL_BIND out{};
    out.buffer_type = is_integer ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
    out.buffer = &number;
    out.buffer_length = is_integer ? sizeof number : 0;
    out.length = &length;
    out.is_null = &is_null;
    return out;
  }
};

class prepared final : public connector_connection::statement {
 public:
  prepared(MYSQL* on, const std::string& sql) : statement_{mysql_stmt_init(on)} {
    if (!statement_) throw std::bad_alloc{};
    if (mysql_stmt_prepare(get(), sql.data(), sql.size()) != 0) raise(get());
  }
  ~prepared() override {
    const calling about_to;
    statement_.reset();
  }
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;

  std::uint64_t execute(std::span<const argument* const> values, std::vector<row>& to) override {
    const calling about_to;
    std::vector<MYSQL_BIND> parameters;
    parameters.reserve(values.size());
    for (const argument* value : values) parameters.push_back(bound(*value));
    if (mysql_stmt_bind_param(get(), parameters.data()) != 0 || mysql_stmt_execute(get()) != 0) raise(get());
    const auto width = mysql_stmt_field_count(get());
    if (width == 0) return mysql_stmt_affected_rows(get());
    if (width != columns_.size()) bind_columns();
    // All rows before one is answered: the server may fail, and undo the statement, after it has sent some.
    if (mysql_stmt_store_result(get()) != 0) raise(get());
    for (int status = 0; (status = mysql_stmt_fetch(get())) != MYSQL_NO_DATA; read_row(to.emplace_back()))
      if (status == 1) raise(get());
    mysql_stmt_free_result(get());
    return 0;
  }

 private:
  MYSQL_STMT* get() const noexcept { return statement_.get(); }

  void bind_columns() {
    const owned_result about{mysql_stmt_result_metadata(get())};
    if (!about) raise(get());
    columns_.clear();
    for (const auto& each : std::span{mysql_fetch_fields(about.get()), mysql_num_fields(about.get())})
      columns_.push_back({.is_integer = is_about_integer(each.type)});
    std::vector<MYSQL_BIND> places;
    for (column& each : columns_) places.push_back(each.bound());
    if (mysql_stmt_bind_result(get(), places.data()) != 0) raise(get());
  }

  void read_row(row& to) {
    to.resize(columns_.size());
    for (unsigned i = 0; i < columns_.size(); ++i) {
      const column& from = columns_[i];
      if (from.is_null != 0) continue;
      if (from.is_integer) {
        to[i] = from.number;
      } else {
        to[i] = text_in(i);
      }
    }
  }

  std::string text_in(unsigned place) {
    std::string out(columns_[place].length, '\0');
    MYSQL_BIND whole{};
    whole.buffer_type = MYSQL_TYPE_STRING;
    whole.buffer = out.data();
    whole.buffer_length = out.size();
    if (mysql_stmt_fetch_column(get(), &whole, place, 0) != 0) raise(get());
    return out;
  }

  owned_statement statement_;
  std::vector<column> columns_;
};

// --- connecting ------------------------------------------------------------------------------------------------------

constexpr unsigned bad_host = 2005;

/// Sets an option. The connector reads the pointer's target at once.
template <class Value>
void set(MYSQL* of, mysql_option option, const Value& value) {
  ::mysql_options(of, option, &value);
}

void set_file(MYSQL* of, mysql_option option, const std::string& name) {
  if (!name.empty()) ::mysql_options(of, option, name.c_str());
}

// Without options, version 3.4 asks for encryption and verifies, and 3.3 does neither. In spite of its name, the first
// option lets the connector continue in plain text with a server that has no encryption. If it has an authority, it
// checks that this authority has signed the server's certificate, and with the second option also the name in it.
void ask_for_encryption(MYSQL* of, const mysql_address& to) {
  set(of, MYSQL_OPT_SSL_ENFORCE, my_bool{to.tries_encryption()});
  set(of, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, my_bool{to.tls == encryption::verify_identity});
  if (!to.tries_encryption()) return;  // each of these asks for encryption, too
  set_file(of, MYSQL_OPT_SSL_CA, to.ca);
  set_file(of, MYSQL_OPT_SSL_CAPATH, to.ca_folder);
  set_file(of, MYSQL_OPT_SSL_CERT, to.certificate);
  set_file(of, MYSQL_OPT_SSL_KEY, to.key);
  set_file(of, MYSQL_OPT_SSL_CIPHER, to.ciphers);
}

owned_connection make_connection(const mysql_address& to, std::chrono::seconds connecting,
                                 std::chrono::seconds reading) {
  owned_connection out{mysql_init(nullptr)};
  if (!out) throw std::bad_alloc{};
  const auto seconds = [](std::chrono::seconds of) { return static_cast<unsigned>(of.count()); };
  set(out.get(), MYSQL_OPT_CONNECT_TIMEOUT, seconds(connecting));
  set(out.get(), MYSQL_OPT_READ_TIMEOUT, seconds(reading));
  set(out.get(), MYSQL_OPT_WRITE_TIMEOUT, seconds(reading));
  // Without this option it takes "localhost" for the name of a socket.
  set(out.get(), MYSQL_OPT_PROTOCOL, to.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET);
  // A new connection would lack the session's settings.
  set(out.get(), MYSQL_OPT_RECONNECT, my_bool{0});
  // The server could ask for any file of this machine.
  set(out.get(), MYSQL_OPT_LOCAL_INFILE, 0U);
  ::mysql_options(out.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  ask_for_encryption(out.get(), to);
  return out;
}

// The connector would read options from a host with a semicolon, and load a library for one with a scheme.
const char* host_of(const mysql_address& to) {
  if (!to.socket.empty()) return nullptr;
  if (to.host.find_first_of(";/=") != std::string::npos) raise(bad_host, "HY000", "this is no name of a host");
  return to.host.c_str();
}

}  // namespace

void execute_text(MYSQL* on, const std::string& sql, std::vector<row>& to) {
  const calling about_to;
  send(on, sql);
  read_result(on, rows_as::text, to);
}

int last_failure(MYSQL* on) noexcept { return static_cast<int>(mysql_errno(on)); }

class connector_connection::implementation {
 public:
  explicit implementation(owned_connection made) : connection_{std::move(made)} {}
  MYSQL* get() const noexcept { return connection_.get(); }

 private:
  owned_connection connection_;
};

connector_connection::connector_connection(const mysql_address& to, std::chrono::seconds connecting,
                                           std::chrono::seconds reading, const std::stop_token& given_up)
    : tls_{to.tries_encryption()} {
  const calling about_to;
  if (given_up.stop_requested()) throw error{errc::cancelled, "stopped while connecting"};
  auto made = make_connection(to, connecting, reading);
  const char* socket = to.socket.empty() ? nullptr : to.socket.c_str();
  if (mysql_real_connect(made.get(), host_of(to), to.user.c_str(), to.password.c_str(), to.database.c_str(), to.port,
                         socket, CLIENT_MULTI_STATEMENTS) == nullptr)
    raise(made.get());
  socket_ = mysql_get_socket(made.get());
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
  implementation_ = std::make_unique<implementation>(std::move(made));
}

void connector_connection::make_static_objects() { const calling about_to; }

connector_connection::~connector_connection() {
  const calling about_to;
  implementation_.reset();
}

void connector_connection::execute(const std::string& sql, std::vector<row>& to) {
  execute_text(implementation_->get(), sql, to);
}

std::uint64_t connector_connection::execute_with_types(const std::string& sql, std::vector<row>& to) {
  const calling about_to;
  send(implementation_->get(), sql);
  return read_result(implementation_->get(), rows_as::typed, to);
}

void connector_connection::execute_together(const std::string& all, std::vector<row>& to, std::size_t& carried_out) {
  const calling about_to;
  MYSQL* const on = implementation_->get();
  send(on, all);
  int status = 0;
  do {
    read_result(on, rows_as::typed, to);
    ++carried_out;
    status = mysql_next_result(on);
    if (status > 0) raise(on);
  } while (status == 0);
}

std::unique_ptr<connector_connection::statement> connector_connection::prepare(const std::string& sql) {
  const calling about_to;
  return std::make_unique<prepared>(implementation_->get(), sql);
}

std::optional<sql_failure> sql_failure_of(const std::exception& e) {
  const auto* found = dynamic_cast<const mariadb_c_failure*>(&e);
  if (found == nullptr) return std::nullopt;
  return found->of();
}

}  // namespace rowlock::inline v1::driver
