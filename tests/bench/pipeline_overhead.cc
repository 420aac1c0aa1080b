#include <algorithm>
#include <cstdlib>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {
namespace {

constexpr double kBoundaryBytes = 150e3;
constexpr auto kStreamedEach = std::chrono::seconds(4);

double bytes_at(const model::Model& model, const model::SplitPoint& point) {
  return static_cast<double>(model::boundary_bytes(model.graph(), point.position, 1).value_or(0));
}

}  // namespace

Expected<std::vector<Row>> pipeline_overhead(const std::string& name, const std::string& model,
                                             const std::string& transport, double bar) {
  PARETO_ASSIGN(const auto pipelines, Pipelines::start(model, transport));
  const auto& cut = pipelines->model();
  const auto* point = best_split_point(
      cut, [&](const auto& p) { return std::abs(bytes_at(cut, p) - kBoundaryBytes); });
  if (point == nullptr) return fail(ErrorCode::kInternal, "no split point of one tensor");
  PARETO_ASSIGN(const auto deployment, pipelines->deploy({point->position}));
  PARETO_ASSIGN(const auto result, pipelines->load(*deployment, 1, kStreamedEach));
  std::vector<double> latency;
  std::vector<double> rest;
  for (const auto& sample : result.samples) {
    Nanoseconds compute{};
    for (const auto& stage : sample.timeline) compute += stage.compute;
    latency.push_back(to_milliseconds(sample.latency()));
    rest.push_back(to_milliseconds(sample.latency() - compute));
  }
  return std::vector<Row>{
      {name, statistics::median(rest), bar, false,
       fmt::format(
           "ms of {:.2f} ms that are no compute, {:.0f} KB at {}, {}, window 1, medians of {}",
           statistics::median(latency), bytes_at(cut, *point) / 1e3, point->name, transport,
           latency.size())}};
}

}  // namespace pareto::bench
