// A sweep whose truth is known: predictions of every plan, rounds as they are asked for, and what
// plans truly take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "coordinator/statistics/front_race.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::test {

using statistics::LogFigures;
using statistics::RacePlan;
using statistics::Random;

/// Two devices, every cut, under some networks: what plans are predicted to take and what they do.
class SimulatedSweep {
 public:
  /// `noise`: what a round differs by from the next, of a logarithm.
  SimulatedSweep(std::uint64_t seed, double noise) : random_(seed), noise_(noise) {
    std::vector<double> work{0};
    std::vector<double> bytes;
    for (int i = 0; i <= kCuts; ++i) work.push_back(work.back() + 0.02 + cube(random_.uniform()));
    for (double& before : work) before /= work.back();
    for (std::size_t i = 0; i < work.size(); ++i) {
      bytes.push_back(std::exp(13.9 - 3 * work[i] + 0.4 * normal()));
    }
    const double bias = 0.06 * normal();
    const double phase = 6 * random_.uniform();
    const double rates[kGroups] = {1e9, 12.5e6, 3e6};
    for (int group = 0; group < kGroups; ++group) {
      for (std::size_t i = 0; i < work.size(); ++i) {
        const double first = 0.05 * work[i];
        const double second = 0.06 * (1 - work[i]);
        const bool alone = i == 0 || i + 1 == work.size();
        const double link = alone ? 0 : bytes[i] / rates[group] + 5e-4;
        RacePlan plan;
        plan.group = group;
        plan.features = {2 * work[i], std::log(bytes[i]) / 3, alone ? 0.0 : 1.0};
        plan.predicted = {
            {std::log(first + second + link + 0.001), -std::log(std::max({first, second, link}))}};
        const double smooth = 0.05 * std::sin(4 * work[i] + phase + 0.5 * group);
        LogFigures truth = *plan.predicted;
        truth.latency += bias + smooth + error();
        truth.throughput -= bias + smooth + error();
        plans.push_back(plan);
        truths.push_back(truth);
      }
    }
  }

  /// One round of each, in one pass that the machine's drift changes.
  void measure(const std::vector<std::size_t>& chosen, int pass) {
    const double drift = 0.02 * normal();
    for (const std::size_t i : chosen) {
      const double spike = random_.uniform() < 0.04 ? std::abs(0.1 * normal()) : 0;
      const LogFigures figures{truths[i].latency + drift + spike + noise_ * normal(),
                               truths[i].throughput - drift - spike + noise_ * normal()};
      plans[i].rounds.push_back({pass, figures, {0.004, 0.004}});
    }
  }

  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random_.uniform());
  }

  static constexpr int kCuts = 100;
  static constexpr int kGroups = 3;
  std::vector<RacePlan> plans;
  std::vector<LogFigures> truths;

 private:
  static double cube(double x) { return x * x * x; }
  /// Returns the error of one plan's prediction, beyond what varies smoothly.
  double error() { return (random_.uniform() < 0.01 ? 0.08 : 0.008) * normal(); }

  Random random_;
  const double noise_;
};

/// Returns whether somebody of its group truly beats it by more than the tolerance.
inline bool truly_beaten(const SimulatedSweep& sweep, std::size_t plan) {
  const double tolerance = std::log1p(results::kFrontTolerance);
  const LogFigures& it = sweep.truths[plan];
  for (std::size_t i = 0; i < sweep.plans.size(); ++i) {
    const LogFigures& other = sweep.truths[i];
    if (sweep.plans[i].group != sweep.plans[plan].group) continue;
    if (other.latency > it.latency || other.throughput < it.throughput) continue;
    if (other.latency + tolerance < it.latency || other.throughput > it.throughput + tolerance) {
      return true;
    }
  }
  return false;
}

/// Returns what a group's plans truly reach, against the worst of its plans.
template <typename Counts>
double hypervolume(const SimulatedSweep& sweep, int group, Counts counts) {
  std::vector<std::pair<double, double>> points;
  double slowest = 0;
  double least = 1e9;
  for (std::size_t i = 0; i < sweep.plans.size(); ++i) {
    if (sweep.plans[i].group != group) continue;
    const double latency = std::exp(sweep.truths[i].latency);
    const double throughput = std::exp(sweep.truths[i].throughput);
    slowest = std::max(slowest, latency);
    least = std::min(least, throughput);
    if (counts(i)) points.emplace_back(latency, throughput);
  }
  std::ranges::sort(points);
  double volume = 0;
  for (const auto& [latency, throughput] : points) {
    volume += (slowest - latency) * std::max(0.0, throughput - least);
    least = std::max(least, throughput);
  }
  return volume;
}

}  // namespace pareto::test
