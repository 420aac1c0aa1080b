#include "tests/support/simulated_rounds.h"

#include <cmath>

namespace pareto::test {

SimulatedRun::SimulatedRun(const Disturbance& disturbance, int rounds, std::uint64_t seed)
    : disturbance_(disturbance), random_(seed) {
  for (int i = 0; i < rounds; ++i) drift_.push_back(std::exp(disturbance.drift * random_.normal()));
}

results::TrialRecord SimulatedRun::measure(const std::string& id, double latency_ms,
                                           double samples_per_s) {
  results::TrialRecord trial;
  trial.id = id;
  for (std::size_t i = 0; i < drift_.size(); ++i) {
    results::TrialRound& round = trial.rounds.emplace_back();
    round.round = static_cast<int>(i);
    const double factor = drift_[i] * std::exp(disturbance_.unit * random_.normal());
    round.latency_ms = samples(latency_ms, factor, disturbance_.requests);
    round.intervals_s = samples(1 / samples_per_s, factor, disturbance_.completions);
  }
  return trial;
}

std::vector<double> SimulatedRun::samples(double typical, double round_factor, int count) {
  const double rho = disturbance_.correlation;
  std::vector<double> drawn;
  double deviation = random_.normal();
  for (int i = 0; i < count; ++i) {
    const bool outlier = random_.uniform() < disturbance_.outliers;
    drawn.push_back(typical * round_factor * std::exp(disturbance_.noise * deviation) *
                    (outlier ? disturbance_.outlier_factor : 1));
    deviation = rho * deviation + std::sqrt(1 - rho * rho) * random_.normal();
  }
  return drawn;
}

}  // namespace pareto::test
