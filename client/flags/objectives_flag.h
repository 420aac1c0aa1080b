// --objectives: what a front is of.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client {

/// The objectives that a front is of: --objectives latency,memory.
struct ObjectivesFlag {
  std::string names;

  void add_to(CLI::App& app);
  /// Returns the names; empty if none were given. Fails: kInvalidArgument (no such objective, one
  /// that stands twice, or fewer than two).
  Expected<std::vector<std::string>> read() const;
};

}  // namespace pareto::client
