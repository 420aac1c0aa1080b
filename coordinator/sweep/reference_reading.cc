#include "coordinator/sweep/reference_reading.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "coordinator/load/load.h"
#include "coordinator/load/micro_batch.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/text.h"

namespace pareto::sweep {
namespace {

constexpr int kRequests = 5;
constexpr int kTurns = 5;
constexpr int kStepsOfATurn = 1'000'000;  // about a millisecond

double p50_of_both(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> both = before;
  both.insert(both.end(), after.begin(), after.end());
  return statistics::median(both);
}

double typical(const std::vector<results::PassRecord>& passes,
               double results::PassRecord::*figure) {
  std::vector<double> figures;
  for (const results::PassRecord& pass : passes) {
    if (pass.*figure > 0) figures.push_back(pass.*figure);
  }
  return figures.size() < kFewestPasses ? 0 : statistics::median(figures);
}

double deviation(double figure, double typical) {
  return figure > 0 && typical > 0 ? std::abs(figure / typical - 1) : 0;
}

}  // namespace

std::vector<double> time_reference_loop() {
  std::vector<double> turns;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    statistics::Random random(1);
    std::uint64_t sum = 0;
    for (int step = 0; step < kStepsOfATurn; ++step) sum += random.next();
    // Without a use of the sum, the compiler would compute nothing.
    [[maybe_unused]] const volatile std::uint64_t kept = sum;
    turns.push_back(to_milliseconds(std::chrono::steady_clock::now() - start));
  }
  return turns;
}

Expected<std::vector<double>> time_reference_plan(cluster::Deployment& deployment,
                                                  const plan::Plan& plan, const Value& request,
                                                  std::chrono::milliseconds timeout) {
  load::Load load(deployment.source(), deployment.sink(), deployment.pipeline());
  load::LoadOptions options;
  options.requests = kRequests + 1;
  options.micro_batches = load::micro_batch_sizes(plan);
  options.request_timeout = timeout;
  PARETO_ASSIGN(const load::LoadResult result, load.run(request, options));
  std::vector<double> latencies;
  // The first request finds cold caches.
  for (std::size_t i = 1; i < result.samples.size(); ++i) {
    latencies.push_back(to_milliseconds(result.samples[i].latency()));
  }
  return latencies;
}

results::PassRecord make_pass(int round, bool repeat, const ReferenceReading& before,
                              const ReferenceReading& after) {
  return {round, p50_of_both(before.plan_ms, after.plan_ms),
          p50_of_both(before.loop_ms, after.loop_ms), repeat};
}

std::vector<int> disturbed_rounds(const std::vector<results::PassRecord>& passes) {
  const double plan_ms = typical(passes, &results::PassRecord::plan_ms);
  const double loop_ms = typical(passes, &results::PassRecord::loop_ms);
  std::set<int> rounds;
  std::set<int> repeated;
  std::vector<std::pair<double, int>> disturbed;
  for (const results::PassRecord& pass : passes) {
    rounds.insert(pass.round);
    if (pass.repeat) repeated.insert(pass.round);
    const double off = std::max(deviation(pass.plan_ms, plan_ms), deviation(pass.loop_ms, loop_ms));
    if (off > kReferenceTolerance) disturbed.emplace_back(off, pass.round);
  }
  std::ranges::sort(disturbed, std::greater<>());
  const std::size_t most = std::max<std::size_t>(1, rounds.size() / 3);
  std::vector<int> again;
  for (const auto& [off, round] : disturbed) {
    if (again.size() + repeated.size() >= most) break;
    if (repeated.contains(round) || std::ranges::count(again, round) > 0) continue;
    again.push_back(round);
  }
  return again;
}

std::string describe_reference(const std::string& plan) {
  return fmt::format(
      "A reference plan, {}, and a fixed loop are timed before and after each pass through the "
      "trials.",
      plan);
}

std::string describe_repeats(const std::vector<results::PassRecord>& passes) {
  std::vector<std::string> again;
  for (const results::PassRecord& pass : passes) {
    if (pass.repeat) again.push_back(std::to_string(pass.round + 1));
  }
  return fmt::format(
      "If one of them is more than {:.0f} % off the median of {} passes or more, the round is "
      "measured again. That happens once a round, and to at most a third of the rounds. Measured "
      "again: {}.",
      kReferenceTolerance * 100, kFewestPasses, again.empty() ? "none" : join(again));
}

}  // namespace pareto::sweep
