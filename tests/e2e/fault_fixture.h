// What tests of faults share: a plan over several devices, a stream of requests that does not end,
// and the check of its log.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "tests/e2e/fixture.h"
#include "tests/support/fault_figures.h"
#include "tests/support/text_count.h"

namespace pareto::test {

/// A fifo that gets names of files, over and over, until this ends. Threads: one of its own.
class EndlessRequests {
 public:
  /// `pace`: time from one name to the next one; 0: as fast as they are taken.
  EndlessRequests(const std::string& fifo, std::vector<std::string> names, Nanoseconds pace = {});
  /// No more names come: the reader sees the end.
  void end();
  ~EndlessRequests() { end(); }

 private:
  int fifo_;
  std::jthread writer_;
};

/// The sums of what histories say, for a row. Threads: one owner.
class Histories {
 public:
  void add(const nlohmann::json& verdict);
  void add_to(FaultRow& row) const;

 private:
  std::map<std::string, std::size_t> counts_;
};

class FaultTest : public EndToEnd {
 protected:
  static constexpr int kRequests = 4;

  FaultTest();

  /// Starts a daemon of that name, or starts it again where it was, and remembers its address.
  Daemon& start(const std::string& name);
  /// Returns the started daemons as flags: --devices and their inventory.
  std::vector<std::string> devices() const;
  /// Returns a daemon that was started.
  Daemon& daemon(const std::string& name) const;

  /// Saves a plan as plan.json whose stages are on those devices, and what it makes of each of the
  /// requests as right.jsonl.
  void make_plan(const std::vector<std::string>& where, const std::string& split,
                 const std::string& transport);
  /// Returns a stream through plan.json in a shell, with its log in `log` and its results in the
  /// folder `results`. Its requests come from the fifo `names`.
  std::vector<std::string> stream(const std::vector<std::string>& where,
                                  const std::string& flags) const;
  std::unique_ptr<EndlessRequests> requests(Nanoseconds pace = {});
  /// Waits until that many more lines are in the stream's log than there are now.
  testing::AssertionResult more_answers(std::size_t count);
  /// Checks the stream's log: no request lost, answered twice, out of order, or with other outputs
  /// than right.jsonl has. Returns the verdict.
  nlohmann::json check_history() const;

  static std::vector<std::string> with_model(std::vector<std::string> arguments);
  std::vector<std::string> files() const;

 private:
  std::vector<std::pair<std::string, std::string>> addresses_;
  std::vector<std::pair<std::string, std::unique_ptr<Daemon>>> daemons_;
  std::optional<TextCount> lines_;  ///< lines of the stream's log
};

}  // namespace pareto::test
