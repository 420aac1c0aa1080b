// One of those that take turns when modes are measured.
#pragma once

#include <functional>
#include <vector>

#include "coordinator/modes/mode_bench.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::modes {

struct Contestant {
  ModeFigures figures;
  std::function<Expected<>()> run;  ///< one turn
  /// Runs before each turn, untimed. What it leaves in memory counts as held. Empty: nothing.
  std::function<Expected<>()> before{};
  std::vector<Nanoseconds> times{};

  Expected<> prepare() const { return before ? before() : Expected<>(); }
};

}  // namespace pareto::modes
