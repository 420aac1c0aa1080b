// A bench of made-up trials on two devices that live in the test.
#pragma once

#include <optional>

#include "coordinator/sweep/trial_bench.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"

namespace pareto::sweep {

/// Trials 0 to 2 cut the model between a and b; 3 is all on a, 4 all on b.
class TrialBenchTest : public SweepRunnerTest {
 protected:
  TrialBenchTest()
      : clock_of_passes_(machine_, run_.passes, std::nullopt),
        bench_({workload_, *cluster_, test::sharing(transport_), {}}, options_, run_,
               clock_of_passes_) {}

  static constexpr UnitBudget kLittle{.slice = {}, .latency_requests = 8};

  SteadyClock machine_;
  PassClock clock_of_passes_;
  TrialBench bench_;
};

}  // namespace pareto::sweep
