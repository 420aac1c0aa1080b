#include <algorithm>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {
namespace {

constexpr int kTwoStageWindow = 4;
constexpr int kTwoStageRounds = 3;
constexpr auto kSlice = std::chrono::seconds(2);
// Where to look for the point that balances two equal stages: shares of the model's FLOPs.
constexpr double kShares[] = {0.35, 0.4, 0.45, 0.5, 0.55, 0.6};

struct Contestant {
  std::string name;
  std::unique_ptr<cluster::Deployment> deployment;
  double best = 0;  ///< samples a second
};

Expected<double> samples_per_second(Pipelines& pipelines, cluster::Deployment& deployment) {
  PARETO_ASSIGN(const auto result, pipelines.load(deployment, kTwoStageWindow, kSlice));
  std::vector<double> completions;
  for (const auto& sample : result.samples) {
    completions.push_back(std::chrono::duration<double>(sample.completed).count());
  }
  const auto intervals = statistics::steady_intervals(completions, kTwoStageWindow);
  return intervals.empty() ? 0 : 1 / statistics::mean(intervals);
}

Expected<std::vector<Contestant>> deploy_all(Pipelines& pipelines) {
  std::vector<Contestant> contestants;
  PARETO_ASSIGN(auto alone, pipelines.deploy({}));
  contestants.push_back({"one daemon", std::move(alone)});
  std::vector<std::int64_t> seen;
  for (const double share : kShares) {
    const auto* point = best_split_point(pipelines.model(), [&](const auto& p) {
      return std::abs(p.flops_before / (p.flops_before + p.flops_after) - share);
    });
    if (point == nullptr) return fail(ErrorCode::kInternal, "no split point of one tensor");
    if (std::find(seen.begin(), seen.end(), point->position) != seen.end()) continue;
    seen.push_back(point->position);
    PARETO_ASSIGN(auto deployment, pipelines.deploy({point->position}));
    contestants.push_back({point->name, std::move(deployment)});
  }
  return contestants;
}

}  // namespace

Expected<std::vector<Row>> two_stage(const std::string& name, const std::string& model,
                                     double bar) {
  PARETO_ASSIGN(const auto pipelines, Pipelines::start(model, "tcp"));
  PARETO_ASSIGN(auto contestants, deploy_all(*pipelines));
  for (int round = 0; round < kTwoStageRounds; ++round) {
    for (Contestant& contestant : contestants) {
      PARETO_ASSIGN(const double rate, samples_per_second(*pipelines, *contestant.deployment));
      contestant.best = std::max(contestant.best, rate);
    }
  }
  const auto best = std::max_element(contestants.begin() + 1, contestants.end(),
                                     [](const auto& a, const auto& b) { return a.best < b.best; });
  return std::vector<Row>{
      {name, best->best / contestants[0].best, bar, true,
       fmt::format("{:.1f}/s at {} / {:.1f}/s, window {}, a core and a thread each, tcp",
                   best->best, best->name, contestants[0].best, kTwoStageWindow)}};
}

}  // namespace pareto::bench
