// A bench: a figure with the bar it is held against, always a ratio (or a count) within one run. A
// plug: one function in one file, one line a row name in builtin_benches.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::bench {

/// One line of the table.
struct Row {
  std::string name;  ///< "unsplit/mobilenetv2"
  double ratio = 0;
  std::optional<double> bar;  ///< no value means that it is only reported
  bool at_least = false;      ///< the bar is a floor, else a ceiling
  std::string detail;         ///< "9.5 ms / 24.4 ms, 1 thread": what the ratio was made from
  bool holds() const { return !bar || (at_least ? ratio >= *bar : ratio <= *bar); }
};

struct Bench {
  std::string group;  ///< "runtime", "pipeline"
  std::string name;   ///< name of its row, or the part before the last '/' if it has several
  std::function<Expected<std::vector<Row>>()> run;
  bool on_request = false;  ///< runs only if its group or its name is given
};

/// Returns the benches that this machine can run, in the order they are printed.
std::vector<Bench> builtin_benches();

}  // namespace pareto::bench
