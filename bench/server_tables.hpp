#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// Makes a subject whose tables begin with the prefix that `make` is given. They are made here, fresh, and dropped when
/// the subject is gone.
std::unique_ptr<subject> in_own_tables(const server& at,
                                       const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make);

}  // namespace bench
