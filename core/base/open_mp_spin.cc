#include "core/base/open_mp_spin.h"

#include <cstdlib>
#include <initializer_list>

namespace pareto {

bool shorten_open_mp_spin() {
  // Each turn is one pause of the processor: 15 to 50 nanoseconds.
  constexpr const char* kTurns = "3000";
  for (const char* const name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}) {
    if (std::getenv(name) != nullptr) return false;
  }
  return ::setenv("GOMP_SPINCOUNT", kTurns, 0) == 0;
}

}  // namespace pareto
