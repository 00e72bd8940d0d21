#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock sql. The exit status.
int print_sql(const options& given);

}  // namespace rowlock::command
