// Services of the operating system for main(): waiting for signals, cores, the end of the parent,
// the ready line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::daemon {

/// Blocks TERM, INT and HUP in this thread and in all it starts, so that wait_signal() takes them.
/// PIPE is ignored: a peer that is gone is an error of a call. Call it before any thread starts.
/// Libraries that start threads when they are loaded must block these signals too (main.cc).
void prepare_signals();
/// Lets TERM, INT and HUP end the process, though main.cc blocks them. A peer that is gone is an
/// error of a call.
void prepare_to_ask();
/// Waits for TERM, INT or HUP and returns it; none when `limit` has passed, where there is one.
std::optional<int> wait_signal(std::optional<Nanoseconds> limit);

/// Raises the number of descriptors that this process may have open to the highest that it may set.
void raise_descriptor_limit();

/// Checks that `count` threads can run next to those that do. gRPC ends the process, and says
/// nothing, if it gets none. Fails: kExhausted.
Expected<> check_threads(int count);

/// Ends the process, with that exit code, when a second TERM or INT arrives or `patience` has
/// passed: a drain must not hang.
///
/// Threads: one owner; watches on a thread of its own until destroyed.
class Impatience {
 public:
  Impatience(Nanoseconds patience, int exit_code);
  ~Impatience();
  Impatience(const Impatience&) = delete;
  Impatience& operator=(const Impatience&) = delete;

 private:
  std::jthread watching_;
};

/// Pins all threads that there are, and those that they will start. Fails: kInvalidArgument (a core
/// that this machine does not have, or may not be used).
Expected<> pin_to_cores(const std::vector<int>& cores);

/// Lets TERM arrive when the parent ends. Fails: kUnavailable (it has ended already).
Expected<> end_with_parent();

/// Writes line and newline and closes the descriptor (0 to 2 become /dev/null instead, so that
/// nothing else is opened in their place). Fails: kInvalidArgument (no such descriptor),
/// kUnavailable (nobody reads it any more).
Expected<> tell_ready(int fd, const std::string& line);

}  // namespace pareto::daemon
