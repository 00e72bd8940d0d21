#pragma once

namespace bench {

/// In which this program is a process whose memory is measured.
inline constexpr const char* memory_role = "memory";

/// Reads on standard input what it is about, and answers on standard output. The exit status.
int measure_memory_of_this_process();

}  // namespace bench
