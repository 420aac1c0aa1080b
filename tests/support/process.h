// Real programs in tests: started, watched, signalled by their pid, and always ended; and the files
// that they leave.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace pareto::test {

/// Returns all bytes of a file; empty when it cannot be read.
std::string slurp(const std::string& path);

/// Returns how often `text` stands in the whole.
std::size_t count_of(const std::string& text, const std::string& whole);

/// Returns the folder of the programs that are tested: PARETO_PROGRAMS of the environment, as if
/// another build's are, or that of this build.
std::string programs_folder();

/// One child process with its stdout and stderr in files of a folder of its own. Limits are for a
/// processor of its kind: PARETO_TEST_PATIENCE multiplies them.
///
/// Threads: one owner. A child still running when this ends is killed.
class Process {
 public:
  /// argv[0] is a path, or a name in programs_folder(). `environment`: "NAME=value" added to
  /// ours.
  explicit Process(std::vector<std::string> argv, std::vector<std::string> environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for the end; -1 when it did not come in time (the child is then killed), 128 + n for a
  /// signal n.
  int wait(std::chrono::seconds limit = std::chrono::seconds(120));
  /// Waits until stdout or stderr holds `text` that often; false when the child ended or the time
  /// passed without it.
  bool wait_for_output(const std::string& text,
                       std::chrono::seconds limit = std::chrono::seconds(60),
                       std::size_t times = 1);
  std::string output() const;  ///< stdout so far
  std::string errors() const;  ///< stderr so far

 private:
  std::string folder_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

struct Finished {
  int exit_code = -1;
  std::string output;
  std::string errors;
};
/// Runs to the end.
Finished run(std::vector<std::string> argv, std::vector<std::string> environment = {},
             std::chrono::seconds limit = std::chrono::seconds(240));

}  // namespace pareto::test
