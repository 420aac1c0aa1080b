// How long the exact front over all ideals of a real model takes: from its graph to the front.
#include <algorithm>
#include <random>

#include "core/base/cpu_time.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/search/graph_ideals.h"
#include "partitioner/planning/search/ideal_costs.h"
#include "partitioner/planning/search/strategies.h"
#include "tests/bench/benches.h"
#include "tests/support/random_costs.h"

namespace pareto::bench {
namespace {

using model::Graph;
using planning::CostInputs;
using search::GraphIdeals;

constexpr int kIdealsModels = 4;
constexpr int kIdealsRounds = 3;

/// Returns a device that takes for each operator what its FLOPs and the bytes it makes say, off by
/// up to a third.
plan::DeviceProfile made_up_profile(const Graph& graph, std::mt19937_64& random) {
  std::uniform_real_distribution<> unit(0, 1);
  const double slowness = std::exp(1.5 * unit(random));
  plan::DeviceProfile profile;
  profile.operators.reserve(graph.operators.size());
  Nanoseconds whole{};
  for (const model::Operator& op : graph.operators) {
    double time = op.flops_per_sample / 40 + 2000;
    for (const std::int64_t output : op.outputs) {
      const auto& spec = graph.values[static_cast<std::size_t>(output)].spec;
      time += static_cast<double>(spec.size_bytes(1).value_or(0)) / 4;
    }
    profile.operators.emplace_back(
        std::llround(time * slowness * (2.0 / 3 + unit(random) * 2 / 3)));
    whole += profile.operators.back();
  }
  profile.overhead = Nanoseconds(50'000 + static_cast<int>(50'000 * unit(random)));
  profile.shards = {{0, static_cast<std::int64_t>(profile.operators.size()), whole, whole, 0}};
  return profile;
}

/// Returns the costs; links are those of test::model_like_costs.
Expected<CostInputs> costs_of(const Graph& graph, const GraphIdeals& ideals, int devices,
                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  CostInputs inputs = test::model_like_costs(devices, 1, seed);
  inputs.boundary_bytes = ideals.ideals.boundary_bytes;
  inputs.legal.assign(ideals.operators.size(), true);
  inputs.ends = ideals.ideals.ends;
  for (planning::DeviceCosts& device : inputs.devices) {
    PARETO_ASSIGN(device, search::ideal_costs(made_up_profile(graph, random), ideals));
    device.weight_bytes = search::ideal_weight_bytes(graph, ideals);
  }
  return inputs;
}

}  // namespace

Expected<std::vector<Row>> search_time_of_ideals(const std::string& name, const std::string& model,
                                                 int devices, std::chrono::milliseconds most) {
  PARETO_ASSIGN(const model::Model opened, model::zoo::open_model(model, {}));
  const Graph& graph = opened.graph();
  Nanoseconds worst{};
  std::size_t points = 0;
  std::size_t sets = 0;
  for (int seed = 1; seed <= kIdealsModels; ++seed) {
    Nanoseconds shortest = Nanoseconds::max();
    std::size_t found = 0;
    for (int round = 0; round < kIdealsRounds; ++round) {
      const Nanoseconds start = thread_cpu_time();
      PARETO_ASSIGN(const GraphIdeals ideals, search::find_graph_ideals(graph, 1));
      PARETO_ASSIGN(const CostInputs inputs,
                    costs_of(graph, ideals, devices, static_cast<std::uint64_t>(seed)));
      PARETO_ASSIGN(const auto front, search::exact_search()->search(inputs, {}));
      shortest = std::min(shortest, thread_cpu_time() - start);
      found = front.size();
      sets = ideals.operators.size();
    }
    if (shortest > worst) {
      worst = shortest;
      points = found;
    }
  }
  return std::vector<Row>{
      {name, to_milliseconds(worst) / static_cast<double>(most.count()), 1.0, false,
       fmt::format(
           "{:.0f} ms / {} ms for {} ideals of {} groups, {} operators; the worst of {} sets "
           "of devices; {} points on its front",
           to_milliseconds(worst), most.count(), sets, graph.groups.size(), graph.operators.size(),
           kIdealsModels, points)}};
}

}  // namespace pareto::bench
