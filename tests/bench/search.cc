#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "core/base/cpu_time.h"
#include "partitioner/planning/search/search_strategy.h"
#include "partitioner/planning/search/strategies.h"
#include "tests/bench/benches.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::bench {
namespace {

using planning::CostInputs;
using search::FrontPoint;
using search::SearchOptions;
using search::SearchStrategy;

constexpr int kInstances = 100'000;
constexpr int kMostDevices = 4;
constexpr int kLeastPositions = 10;
constexpr int kMostPositions = 30;
constexpr int kModels = 8;
constexpr int kRounds = 3;

/// Every fourth with a third objective, every fourth with a shared medium, half of those with
/// devices that have one alone.
struct Instance {
  CostInputs inputs;
  SearchOptions options;
};

Instance random_instance(int number, std::mt19937_64& random) {
  const auto& searched = planning::searched_objectives();
  test::RandomCosts costs =
      test::random_options(random, kMostDevices, kMostPositions, kLeastPositions);
  Instance instance;
  if (number % 4 == 1) {
    instance.options.also = {searched[static_cast<std::size_t>(number) / 4 % searched.size()]};
  }
  if (number % 4 == 2) costs.media = 1;
  if (number % 8 == 2) costs.cards = 0.5;
  const bool of_codecs =
      !instance.options.also.empty() && instance.options.also[0]->searched->of_hop != nullptr;
  if (number % 16 == 3 || of_codecs) {
    costs.codecs = 0.5;
    costs.devices = std::min(costs.devices, 3);
  }
  instance.inputs = test::random_costs(costs, random);
  return instance;
}

struct Timed {
  Nanoseconds shortest = Nanoseconds::max();
  std::size_t points = 0;
};

/// Times a search by the processor: a search is one thread that waits for nothing, and what else
/// the machine does is not its affair.
Expected<Timed> time_search(const CostInputs& inputs, const SearchOptions& options) {
  Timed timed;
  for (int round = 0; round < kRounds; ++round) {
    const Nanoseconds start = thread_cpu_time();
    PARETO_ASSIGN(const std::vector<FrontPoint> front,
                  search::exact_search()->search(inputs, options));
    timed.shortest = std::min(timed.shortest, thread_cpu_time() - start);
    timed.points = front.size();
  }
  return timed;
}

/// Limits memory: each device has room for that share of the model's weights.
void limit_memory(double room, CostInputs& inputs) {
  for (planning::DeviceCosts& device : inputs.devices) {
    const auto all = static_cast<double>(device.weight_bytes.back());
    device.memory_limit_bytes = static_cast<std::int64_t>(room * all);
  }
}

/// Every two devices have a medium, of which a message from one to another takes half as much as of
/// the first.
void pair_up(CostInputs& inputs) {
  const int devices = inputs.coordinator();
  inputs.media = devices / 2;
  for (int from = 0; from <= devices; ++from) {
    for (int to = 0; to <= devices; ++to) {
      planning::LinkCosts& link =
          inputs.links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
      for (const int end : {from, to}) {
        if (end == devices || (!link.media.empty() && link.media[0].medium == end / 2)) continue;
        link.media.push_back({end / 2, link.media.empty() ? 1 : 0.5});
      }
    }
  }
}

/// Returns the worst time over several made-up models that `change` has altered.
Expected<Timed> worst_time(int positions, int devices, const SearchOptions& options,
                           const std::function<void(CostInputs&)>& change = {}) {
  Timed worst{Nanoseconds(0), 0};
  for (int seed = 1; seed <= kModels; ++seed) {
    CostInputs inputs =
        test::model_like_costs(devices, positions, static_cast<std::uint64_t>(seed));
    if (change) change(inputs);
    PARETO_ASSIGN(const Timed timed, time_search(inputs, options));
    if (timed.shortest > worst.shortest) worst = timed;
  }
  return worst;
}

}  // namespace

Expected<std::vector<Row>> search_mismatches(const std::string& name) {
  std::mt19937_64 random(1);
  int mismatches = 0;
  std::size_t points = 0;
  std::array<int, kMostDevices + 1> by_devices{};
  int with_third = 0;
  int with_limits = 0;
  for (int i = 0; i < kInstances; ++i) {
    const Instance instance = random_instance(i, random);
    PARETO_ASSIGN(const std::vector<FrontPoint> expected,
                  search::exhaustive_search()->search(instance.inputs, instance.options));
    points += expected.size();
    ++by_devices[instance.inputs.devices.size()];
    with_third += instance.options.also.empty() ? 0 : 1;
    with_limits += std::ranges::any_of(instance.inputs.devices, [](const auto& device) {
      return device.memory_limit_bytes < INT64_MAX;
    });
    for (const SearchStrategy* const strategy : search::builtin_searches()) {
      if (strategy == search::exhaustive_search()) continue;
      PARETO_ASSIGN(const std::vector<FrontPoint> front,
                    strategy->search(instance.inputs, instance.options));
      if (!test::difference(front, expected).empty() ||
          !test::flaw(front, instance.inputs, instance.options).empty()) {
        ++mismatches;
      }
    }
  }
  return std::vector<Row>{
      {name, static_cast<double>(mismatches), 0.0, false,
       fmt::format(
           "{} random instances of {} to {} operators, {} on 2, {} on 3, {} on 4 devices; {} "
           "with a third objective, {} with memory limits; {} points",
           kInstances, kLeastPositions, kMostPositions, by_devices[2], by_devices[3], by_devices[4],
           with_third, with_limits, points)}};
}

Expected<std::vector<Row>> search_time(const std::string& name, int positions, int devices,
                                       std::chrono::milliseconds most, double room) {
  PARETO_ASSIGN(const Timed worst, worst_time(positions, devices, {}, [=](CostInputs& inputs) {
                  if (room < 1) limit_memory(room, inputs);
                }));
  const double took = to_milliseconds(worst.shortest);
  return std::vector<Row>{
      {name, took / static_cast<double>(most.count()), 1.0, false,
       fmt::format("{:.2f} ms / {} ms, the worst of {} models; {} points on its front", took,
                   most.count(), kModels, worst.points)}};
}

Expected<std::vector<Row>> search_time_of_three(const std::string& name, int positions,
                                                int devices) {
  SearchOptions options;
  options.also = {&test::objective("energy")};
  PARETO_ASSIGN(const Timed worst, worst_time(positions, devices, options));
  return std::vector<Row>{
      {name, to_milliseconds(worst.shortest), std::nullopt, false,
       fmt::format("the worst of {} models; {} points on its front", kModels, worst.points)}};
}

Expected<std::vector<Row>> search_time_of_media(const std::string& name, int positions,
                                                int devices) {
  PARETO_ASSIGN(const Timed worst, worst_time(positions, devices, {}, pair_up));
  return std::vector<Row>{
      {name, to_milliseconds(worst.shortest), std::nullopt, false,
       fmt::format("the worst of {} models; {} points on its front", kModels, worst.points)}};
}

}  // namespace pareto::bench
