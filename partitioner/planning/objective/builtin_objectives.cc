// To add an objective: one row here, and a case in its test.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// Returns a figure of a device, or 0.
std::int64_t figure_of(const DeviceFigures& device, std::string_view key) {
  const auto found = device.find(key);
  return found == device.end() ? 0 : found->second;
}

/// Sums over the stages; NaN if there are none, or one lacks the figure.
template <typename OfStage>
double sum_over(const Measurement& m, std::string_view key, OfStage of_stage) {
  double sum = m.stages.empty() ? kNotKnown : 0;
  for (const StageMeasurement& stage : m.stages) {
    const auto found = stage.figures.find(key);
    sum += found == stage.figures.end() ? kNotKnown
                                        : of_stage(stage, static_cast<double>(found->second));
  }
  return sum;
}

/// Returns the part of a request's sum that one sample has. If replicas take turns, a request
/// passes one of them.
double of_sample(const Measurement& m, double sum) {
  const double turn = m.replicated ? static_cast<double>(m.stages.size()) : 1;
  return sum / turn / static_cast<double>(m.batch);
}

double peak_memory(const Measurement& m) {
  std::uint64_t most = 0;
  for (const StageMeasurement& stage : m.stages) most = std::max(most, stage.memory_bytes);
  return most > 0 ? static_cast<double>(most) : kNotKnown;
}

double energy_mj(const Measurement& m) {
  constexpr double kMillijoules = 1e-3;  // in one mW × ms
  return of_sample(m, sum_over(m, "power", [](const StageMeasurement& stage, double milliwatts) {
                     return milliwatts * stage.working_ms * kMillijoules;
                   }));
}

double network_bytes(const Measurement& m) {
  if (m.wire_bytes.empty()) return kNotKnown;
  return of_sample(m, std::accumulate(m.wire_bytes.begin(), m.wire_bytes.end(), 0.0));
}

constexpr double kSecondsAnHour = 3600;
constexpr double kRequests = 1000;

double cost(const Measurement& m) {
  const double millionths =
      sum_over(m, "price_per_hour", [](const StageMeasurement&, double price) { return price; });
  const double requests_per_s = m.throughput_per_s / static_cast<double>(m.batch);
  return millionths * 1e-6 / kSecondsAnHour * kRequests / requests_per_s;
}

/// Returns the cost of 1,000 requests, in 1e-12 of a unit of money. A request costs `millionths` an
/// hour, for latency / window.
std::int64_t cost_at_window(std::int64_t millionths, std::int64_t latency_ns, int window) {
  __extension__ using Wide = __int128;
  const Wide value = Wide{millionths} * latency_ns / (Wide{window} * 3600);
  return static_cast<std::int64_t>(std::min<Wide>(value, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

const std::vector<Objective>& builtin_objectives() {
  using enum Direction;
  static const std::vector<Objective> kObjectives{
      {"latency", "latency, p50", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_p50_ms; }},
      {"latency_p90", "latency, p90", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_p90_ms; }},
      {"latency_p99", "latency, p99", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_p99_ms; }},
      {"latency_mean", "latency, mean", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_mean_ms; }},
      {"throughput", "throughput", "samples/s", kLargerIsBetter,
       [](const Measurement& m) { return m.throughput_per_s; }},
      {"boundary", "bytes between stages", "B", kSmallerIsBetter,
       [](const Measurement& m) {
         return static_cast<double>(m.boundary_bytes) / static_cast<double>(m.batch);
       }},
      {"energy", "modelled energy", "mJ", kSmallerIsBetter, energy_mj,
       SearchedFigure{.rate =
                          [](const DeviceFigures& device) {
                            return StageRate{0, figure_of(device, "power")};
                          },
                      .unit = 1e-9},
       NeededFigure{"power", "power: 5W", "W", 1000}},
      {"memory", "memory of the fullest device", "B", kSmallerIsBetter, peak_memory,
       SearchedFigure{.stages = Combine::kMaximum,
                      .replicas = Combine::kMaximum,
                      .of_stage = [](const StageView& stage) { return stage.memory_bytes; },
                      .of_request = false}},
      {"loss", "loss of codecs", "ppm", kSmallerIsBetter,
       [](const Measurement&) { return kNotKnown; },
       SearchedFigure{.replicas = Combine::kMaximum,
                      .of_hop = [](const HopView& hop) { return hop.loss; },
                      .of_request = false}},
      {"network_bytes", "bytes on all links", "B", kSmallerIsBetter, network_bytes,
       SearchedFigure{.of_hop = [](const HopView& hop) { return hop.wire_bytes; }}},
      {"cost", "cost of 1,000 requests", "money", kSmallerIsBetter, cost,
       SearchedFigure{.replicas = Combine::kSum,
                      .rate =
                          [](const DeviceFigures& device) {
                            return StageRate{figure_of(device, "price_per_hour"), 0};
                          },
                      .at_window = cost_at_window,
                      .unit = 1e-12,
                      .of_request = false},
       NeededFigure{"price_per_hour", "price_per_hour: 0.05", "", 1e6}},
      {"accuracy", "top-1 accuracy", "%", kLargerIsBetter,
       [](const Measurement& m) { return m.accuracy_percent; }},
  };
  return kObjectives;
}

}  // namespace pareto::planning
