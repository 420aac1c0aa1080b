// Checks the log of a stream, as `deploy --json` writes it: one line a request.
//
//   {"number":0,"request":"a.npy","latency_ms":12.1,"output":["results/a.npy"]}
//   {"number":1,"request":"b.npy","error":"…"}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::load {

struct HistoryLine {
  std::uint64_t number = 0;  ///< the request's, from 0
  std::string request;
  std::optional<std::string> error;  ///< no value: it was answered
  bool sent = true;                  ///< false: it failed without having been sent
  std::vector<std::string> outputs;  ///< files of its result
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
  std::vector<bool> seen_;  ///< whether a line of each number came
  std::optional<std::uint64_t> largest_;
  HistoryVerdict verdict_;
};

}  // namespace pareto::load
