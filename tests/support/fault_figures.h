// Figures of what a test of a fault saw: the rows of tests/e2e/FAULTS.md.
//
//   TEST_F(KillFaults, AStageMidStream) {
//     FaultRow row{.fault = "a stage is killed (SIGKILL) mid-stream",
//                  .expected = "detected ≤ 150 ms, back ≤ 5 s; 0 lost",
//                  .cycles = cycles(3, 1000)};
//     for (std::size_t i = 0; i < row.cycles; ++i) …
//     row.add("detected", detected);  // median and longest
//     row.add("lost", lost);
//     record(row);
//   }
//
// The name of such a suite ends in "Faults", and its program has the label `faults`: then
// `./dev test-faults` runs it in its long form and writes the row.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::test {

struct FaultFigure {
  std::string name;  ///< name: "lost", "detected, median"
  double value = 0;
  std::string unit;  ///< unit: "ms"; empty: a number of things
};

/// One row of the matrix. Texts stand in a table of Markdown.
struct FaultRow {
  std::string fault;     ///< the fault, as users would say it
  std::string expected;  ///< what is expected, with its bounds
  std::size_t cycles = 1;
  std::vector<FaultFigure> figures{};

  /// Adds a number of things.
  void add(std::string name, std::integral auto count) {
    figures.push_back({std::move(name), static_cast<double>(count), ""});
  }
  void add(std::string name, double value, std::string unit) {
    figures.push_back({std::move(name), value, std::move(unit)});
  }
  /// Adds the median and the longest of the times, in milliseconds; nothing if there are none.
  void add(const std::string& name, std::vector<Nanoseconds> times);
};

/// Returns whether faults are tried as often as before a release: PARETO_LONG_FAULTS=1 is set.
bool long_faults();

/// Returns how often to try a fault: `brief` in `./dev test`, `full` if long_faults().
std::size_t cycles(std::size_t brief, std::size_t full);

/// Records the row of the test that runs, and whether the test held so far. It is written as
/// SUITE.TEST.json into the folder that PARETO_FAULT_FIGURES names; nothing is written if that is
/// not set. Call it once, at the test's end. A figure that is no finite number fails the test.
void record(const FaultRow& row);

}  // namespace pareto::test
