#pragma once

namespace bench {

/// What this program is with this argument alone: one of the processes of a case that has several.
inline constexpr const char* worker_argument = "--worker";

/// Does what it reads on standard input (see worker_process.hpp) until that ends, and answers on standard output. Dies
/// with the process that started it. The exit status.
int work();

}  // namespace bench
