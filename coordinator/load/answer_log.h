// The log of a stream's answers: what a program that takes over goes on from.
//
//   primary ──a line an answer──▶ log ◀──reads, then appends──  standby, or the same command again
//
// The file is only ever appended to, each line by one write. A program that takes over appends a
// line that begins the next term: its place in the file decides which answers count. A program
// that appends sees the lines of others in between, so one that was replaced finds out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/load/history.h"
#include "core/base/error.h"

namespace pareto::load {

/// Most bytes of a log: a longer one is neither read nor written.
inline constexpr std::uint64_t kLongestLog = std::uint64_t{1} << 32;

/// The state of a log.
struct LogState {
  std::optional<TermLine> term;                  ///< the last that began; no value: the log is new
  std::map<std::uint64_t, HistoryLine> answers;  ///< by number, without those that are void
  bool ended = false;                            ///< all requests have their answers
  std::uint64_t bytes = 0;
};

/// Reads a log. A file that is not there says nothing. Fails: kInvalidArgument (a pipe or
/// a device); kCorrupt, naming the line; kPermission; kExhausted (over 4 GiB).
Expected<LogState> read_answer_log(const std::filesystem::path& path);

/// One term in the log: answers are appended until the stream ends or another program takes over.
///
/// Threads: append() and end() from one, the rest from the owner. A thread of its own brings lines
/// to the disk, five times a second, and looks for those who took over.
class AnswerLog {
 public:
  /// Begins a term in a log, which is made if there is none. `exclusive`: no other process of this
  /// machine has it open so. `on_end` is called once by another thread, if another program took
  /// over or the log cannot be written. `longest`: bytes that the log may have. Fails: kPermission
  /// (the term is over already, or the file refuses), kUnavailable (another process has it),
  /// kExhausted (it is too long), and as files do.
  static Expected<std::unique_ptr<AnswerLog>> begin(const std::filesystem::path& path,
                                                    const TermLine& term, bool exclusive,
                                                    std::function<void()> on_end,
                                                    std::uint64_t longest = kLongestLog);
  ~AnswerLog();
  AnswerLog(const AnswerLog&) = delete;
  AnswerLog& operator=(const AnswerLog&) = delete;

  /// Returns what the log said when the term began.
  const LogState& before() const;
  /// Appends a line, a JSON object, with the term. Fails: kPermission (the term is over: the line
  /// is void), kExhausted (the disk is full, or the log too long) and as files do; every later one
  /// then.
  Expected<> append(const std::string& line);
  /// Says that every request has its answer. Fails: as append().
  Expected<> end();
  /// Returns why no line can be appended any more; no value if one can. Any thread.
  std::optional<Error> problem() const;

 private:
  struct Impl;
  explicit AnswerLog(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::load
