// Checks the log of a stream, as `deploy --json` and `deploy --log` write it: one line a request.
//
//   {"term":1,"lease":"deploy-5f0c…","plan":"9ab3…","by":"lab on desk","program":"77…"}
//   {"number":0,"request":"a.npy","latency_ms":12.1,"output":["results/a.npy"],"term":1}
//   {"number":1,"request":"b.npy","error":"…","term":1}
//
// A log of `--log` has terms: a line that names one of its own begins it, and each answer says in
// which it was given. Lines of a term that is over are void: they come from a program that has been
// replaced and does not know it yet. So is a line that a crash cut short before a term began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::load {

/// The beginning of a term.
struct TermLine {
  std::uint64_t term = 0;  ///< from 1
  std::string lease;       ///< name of what one program at a time does
  std::string plan;        ///< digest of the plan
  std::string by;          ///< who began it
  std::string program;     ///< a random word of that program
};

struct HistoryLine {
  std::uint64_t number = 0;  ///< the request's, from 0
  std::string request;
  std::optional<std::string> error;  ///< no value: it was answered
  bool sent = true;                  ///< false: it failed without having been sent
  std::vector<std::string> outputs;  ///< files of its result
  std::uint64_t term = 0;            ///< in which it was answered; 0: the log has none
  std::optional<TermLine> begins{};  ///< the line begins a term, and is no request's
  bool ends = false;                 ///< the line says that all requests have their answers
};

/// The longest line of a log, in bytes.
inline constexpr std::size_t kLongestLogLine = std::size_t{1} << 20;

/// Reads the lines of a log, in order. Threads: one owner.
class HistoryReader {
 public:
  /// `name`: that of the log, for errors.
  explicit HistoryReader(std::string name) : name_(std::move(name)) {}
  /// Takes the next line. Returns no value if it says nothing: it is empty, void, or cut short.
  /// Fails: kCorrupt, naming log and line.
  Expected<std::optional<HistoryLine>> take(std::string_view line);
  std::uint64_t void_lines() const { return void_lines_; }
  std::uint64_t cut_lines() const { return cut_ ? cut_lines_ + 1 : cut_lines_; }
  /// Returns the last term that began; 0: none has.
  std::uint64_t term() const { return term_; }
  /// Returns how many terms began.
  std::uint64_t terms() const { return terms_; }
  /// Returns whether the last line that counts says that the stream has ended.
  bool ended() const { return ended_; }
  /// Ends the log. Fails: kCorrupt (no line of it is one of a log).
  Expected<> finish() const;

 private:
  const std::string name_;
  std::size_t number_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t terms_ = 0;
  bool ended_ = false;
  bool any_ = false;  ///< a line of a log has come
  std::uint64_t void_lines_ = 0;
  std::uint64_t cut_lines_ = 0;
  std::optional<Error> cut_;  ///< why the line before is none
};

/// Reads one line. Fails: kCorrupt, with what is wrong.
Expected<HistoryLine> parse_history_line(std::string_view line);

struct HistoryVerdict {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;           ///< with a reason
  std::uint64_t not_sent = 0;         ///< with a reason too
  std::uint64_t lost = 0;             ///< numbers without a line, below the largest
  std::uint64_t duplicated = 0;       ///< further lines of a number
  std::uint64_t reordered = 0;        ///< lines behind one of a larger number
  std::uint64_t compared = 0;         ///< answers whose output was compared
  std::uint64_t wrong = 0;            ///< of these, those that differ
  std::vector<std::string> findings;  ///< the first of them, in sentences

  /// Returns whether every request was answered once, in order, with the right output, or failed
  /// with a reason.
  bool holds() const { return lost + duplicated + reordered + wrong == 0; }
};

/// A check of one log against right outputs, line by line.
///
/// Threads: one owner.
class HistoryCheck {
 public:
  /// The most sentences that are kept.
  static constexpr std::size_t kMostFindings = 20;

  /// Takes the outputs of a request as those that are right.
  void expect(const HistoryLine& right);
  /// Takes the next line of the log. Compares its outputs, byte by byte, with those that are right.
  void add(const HistoryLine& line);
  /// Ends the log: numbers that are missing are lost.
  HistoryVerdict finish();

 private:
  void find(std::string sentence);
  void compare(const HistoryLine& line);

  std::map<std::string, std::vector<std::string>> right_;
  std::vector<bool> seen_;  ///< true for each number that a line came of
  std::optional<std::uint64_t> largest_;
  HistoryVerdict verdict_;
};

}  // namespace pareto::load
