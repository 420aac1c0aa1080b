#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "coordinator/results/store.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/file.h"
#include "tests/bench/benches.h"
#include "tests/support/interval_coverage.h"
#include "tests/support/process.h"

namespace pareto::bench {
namespace {

constexpr int kIntervalRounds = 30;
constexpr int kCases = 200;
constexpr double kIntervalBar = 0.9;
constexpr std::size_t kSubsets[] = {1, 2, 3, 6};

/// Keeps the first core busy while it lives, as somebody else's process would.
std::jthread busy_loop() {
  return std::jthread([](const std::stop_token& stop) {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    ::sched_setaffinity(0, sizeof(first), &first);
    volatile std::uint64_t turns = 0;
    while (!stop.stop_requested()) turns = turns + 1;
  });
}

Expected<std::vector<results::TrialRecord>> record_rounds() {
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("pareto-intervals"));
  const auto store_path = folder.path() / "results.db";
  const std::jthread busy = busy_loop();
  const auto done =
      test::run({"paretoctl", "sweep", "--model", "squeezenet1_0", "--input-shape", "3x64x64",
                 "--splits", "percent:25,percent:50,percent:75", "--transport", "tcp",
                 "--exhaustive", "--rounds", std::to_string(kIntervalRounds), "--requests", "8",
                 "--store", store_path.string(), "--report", "none"});
  if (done.exit_code != 0) return fail(ErrorCode::kInternal, "sweeping: {}", done.errors);
  PARETO_ASSIGN(const auto store, results::ResultStore::open_existing(store_path));
  PARETO_ASSIGN(results::RunRecord run, store->load_run("last"));
  return std::move(run.trials);
}

/// `alike`: all plans have as many rounds; else the others have four or more, as in an adaptive
/// sweep.
test::Coverage coverage_of(const std::vector<results::TrialRecord>& recorded, std::size_t rounds,
                           bool alike) {
  test::Coverage coverage;
  statistics::Random random(20'260'131);
  for (int i = 0; i < kCases; ++i) {
    const std::size_t plan = random.below(recorded.size());
    const std::vector<std::size_t> order = random.permutation(kIntervalRounds);
    count_case(recorded, plan, order, rounds, alike ? rounds : std::max<std::size_t>(rounds, 4),
               coverage);
  }
  return coverage;
}

}  // namespace

Expected<std::vector<Row>> interval_coverage(const std::string& name) {
  PARETO_ASSIGN(const auto recorded, record_rounds());
  std::vector<Row> rows;
  for (const bool alike : {true, false}) {
    for (const std::size_t rounds : kSubsets) {
      const test::Coverage coverage = coverage_of(recorded, rounds, alike);
      const auto row = [&](const char* figure, int held, const std::vector<double>& widths) {
        rows.push_back({fmt::format("{}/{}{}/{}", name, rounds, alike ? "" : "of4", figure),
                        static_cast<double>(held) / coverage.cases, kIntervalBar, true,
                        fmt::format("{} of {} hold the median of {} rounds, +- {:.0f} % in the "
                                    "median",
                                    held, coverage.cases, kIntervalRounds,
                                    100 * std::expm1(statistics::median(widths)))});
      };
      row("latency", coverage.latency, coverage.latency_widths);
      row("throughput", coverage.throughput, coverage.throughput_widths);
    }
  }
  return rows;
}

}  // namespace pareto::bench
