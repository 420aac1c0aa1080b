#include "client/experiment/race_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pareto::client {
namespace {

/// Of a round to come, as the variance of a logarithm.
constexpr double kRoundVariance = 0.015 * 0.015;

/// Nothing is known better.
constexpr double kLeastVariance = 1e-9;

/// What one more round of a plan tells of all: the variance that it takes from each, as a share of that one's standard deviation, weighted.
double told_by(const Matrix& covariance, const std::vector<double>& weights, std::size_t plan,
               double noise) {
  double sum = 0;
  const auto row = covariance.row(plan);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double deviation = std::sqrt(std::max(covariance(i, i), kLeastVariance));
    sum += weights[i] * row[i] * row[i] / deviation;
  }
  return sum / (row[plan] + noise);
}

/// What is left of it after that round.
void take_away(Matrix& covariance, std::size_t plan, double noise) {
  const std::vector<double> row(covariance.row(plan).begin(), covariance.row(plan).end());
  const double divisor = row[plan] + noise;
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t j = 0; j < row.size(); ++j) covariance(i, j) -= row[i] * row[j] / divisor;
  }
}

/// One round of one plan, and what it tells.
struct Candidate {
  double tells = -1;
  std::size_t place = 0;
};

Candidate best_of(const Contest& contest, std::span<const RacePlan> plans, const RaceRules& rules,
                  const std::vector<bool>& taken) {
  Candidate best;
  for (std::size_t i = 0; i < contest.plans.size(); ++i) {
    const RacePlan& plan = plans[contest.plans[i]];
    if (taken[i] || std::ssize(plan.rounds) >= rules.most_rounds) continue;
    // A decided one is measured again only where what is undecided hangs on it.
    const bool helps = contest.undecided[i] || !plan.rounds.empty();
    if (!helps) continue;
    const bool due = contest.undecided[i] && !plan.predicted && plan.rounds.empty();
    const double tells = due ? std::numeric_limits<double>::infinity()
                             : told_by(contest.latency, contest.weights, i, kRoundVariance) +
                                   told_by(contest.throughput, contest.weights, i, kRoundVariance);
    if (tells > best.tells) best = {tells, i};
  }
  return best;
}

/// How much better a plan would have to be in both figures for no other to beat it: the additive epsilon indicator (Zitzler et al. 2003), of
/// logarithms.
double gap_to_front(std::size_t plan, const std::vector<std::size_t>& group,
                    const std::vector<PlanStanding>& standings) {
  double gap = 0;
  for (const std::size_t other : group) {
    const double slower = standings[plan].latency.logarithm - standings[other].latency.logarithm;
    const double fewer =
        standings[other].throughput.logarithm - standings[plan].throughput.logarithm;
    gap = std::max(gap, std::min(slower, fewer));
  }
  return gap;
}

}  // namespace

bool is_open(const Contest& contest, std::span<const RacePlan> plans, const RaceRules& rules) {
  for (std::size_t i = 0; i < contest.plans.size(); ++i) {
    const RacePlan& plan = plans[contest.plans[i]];
    if (contest.undecided[i] && std::ssize(plan.rounds) < rules.most_rounds) return true;
  }
  return false;
}

std::vector<std::size_t> choose_pass(std::vector<Contest> contests, std::span<const RacePlan> plans,
                                     const RaceRules& rules) {
  std::vector<std::vector<bool>> taken;
  std::vector<Candidate> best;
  for (const Contest& contest : contests) {
    taken.emplace_back(contest.plans.size(), false);
    best.push_back(best_of(contest, plans, rules, taken.back()));
  }
  std::vector<std::size_t> chosen;
  while (chosen.size() < rules.widest_pass) {
    const auto most = std::ranges::max_element(best, {}, &Candidate::tells);
    if (most == best.end() || most->tells < 0) break;
    const auto group = static_cast<std::size_t>(most - best.begin());
    Contest& contest = contests[group];
    chosen.push_back(contest.plans[most->place]);
    taken[group][most->place] = true;
    take_away(contest.latency, most->place, kRoundVariance);
    take_away(contest.throughput, most->place, kRoundVariance);
    best[group] = best_of(contest, plans, rules, taken[group]);
  }
  return chosen;
}

void add_first_look(const std::vector<std::size_t>& group, std::span<const RacePlan> plans,
                    const std::vector<PlanStanding>& standings, const RaceRules& rules,
                    std::vector<std::size_t>& pass) {
  std::vector<std::pair<double, std::size_t>> unseen;
  for (const std::size_t plan : group) {
    if (!plans[plan].rounds.empty() || std::ranges::count(pass, plan) > 0) continue;
    unseen.emplace_back(gap_to_front(plan, group, standings), plan);
  }
  std::ranges::sort(unseen);
  const std::size_t wanted = std::min(rules.first_look, group.size() / 2);
  std::size_t seen = group.size() - unseen.size();
  for (const auto& [gap, plan] : unseen) {
    if (seen++ >= wanted || pass.size() >= rules.widest_pass) return;
    pass.push_back(plan);
  }
}

}  // namespace pareto::client
