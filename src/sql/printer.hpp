#pragma once

#include <rowlock/export.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/loader.hpp"
#include "sql/passage.hpp"
#include "sql/sheet.hpp"

/// A sheet for people to read: its comments, and each statement as it is sent.
namespace rowlock::inline v1::sheets {

/// All that is sent for one sheet.
struct sent_texts {
  sheet of_client;
  enlisted_texts of_caller;
};

/// A statement that is sent so, as it is printed; empty: this server is not sent it.
using layout = std::function<std::string(std::string sent, const entry& of, std::string_view key)>;

/// Of the sheet with this text, in its order. `head`: comments about all of it.
ROWLOCK_EXPORT std::vector<passage> passages_of(
    std::string_view head, std::string_view text, const sent_texts& sent,
    const layout& how = [](const std::string& statement, const entry& /*of*/, std::string_view /*key*/) {
      return statement;
    });

std::vector<passage> sqlite_passages(std::string_view prefix);
std::vector<passage> postgresql_passages(std::string_view prefix, const choices& with);
/// `server`: MySQL or MariaDB, for which `how` chooses.
std::vector<passage> mysql_passages(std::string_view server, std::string_view prefix, const layout& how);

}  // namespace rowlock::inline v1::sheets
