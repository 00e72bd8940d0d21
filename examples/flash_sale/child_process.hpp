#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "file_descriptor.hpp"

namespace flash_sale {

/// Another process of this very program, its standard input and output connected to here. Whoever destroys this object
/// ends it.
class child_process {
 public:
  /// Starts the program with one argument.
  explicit child_process(const char* argument);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&&) = delete;
  ~child_process();

  /// What the child reads. Nothing happens where it has died: its output ends then.
  void write(std::string_view text) noexcept;
  /// Readable when it has written something or has ended.
  int output() const noexcept { return output_.get(); }
  /// Adds what it has written; false at the end. Waits if there is nothing.
  bool read(std::string& into) const;

  /// Stops it where it is (SIGSTOP), and waits until it stands still. Throws where it cannot, or ended.
  void pause();
  /// Lets it go on (SIGCONT).
  void resume() const noexcept;

  /// Tells it to end, even if it is paused.
  void stop() const noexcept;
  /// Waits for its end and says it in words ("exit status 1", "signal 9 (Killed)").
  std::string wait();

 private:
  pid_t id_ = -1;
  file_descriptor input_;
  file_descriptor output_;
};

}  // namespace flash_sale
