#include "coordinator/statistics/race_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coordinator/statistics/feature_distance.h"

namespace pareto::statistics {
namespace {

/// The least variance: nothing is known better.
constexpr double kLeastVariance = 1e-9;

/// Returns what one more round of a plan tells of all: the variance that it takes from each, as a
/// share of that one's standard deviation, weighted.
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

/// Reduces the covariance to what is left of it after that round.
void take_away(Matrix& covariance, std::size_t plan, double noise) {
  const std::vector<double> row(covariance.row(plan).begin(), covariance.row(plan).end());
  const double divisor = row[plan] + noise;
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t j = 0; j < row.size(); ++j) covariance(i, j) -= row[i] * row[j] / divisor;
  }
}

/// The gap from which on predictions put a plan far behind the front: a quarter.
constexpr double kFarBehind = 0.22;
/// A far look is at no more than one of this number of plans.
constexpr std::size_t kFarLookShare = 10;
/// Plans that predictions put further behind than this, eight times, are no far look: the errors
/// that matter are smaller, and such plans take long to measure.
constexpr double kHopeless = 2.1;

std::size_t first_look_of(const std::vector<std::size_t>& group, const RaceRules& rules) {
  return std::min(rules.first_look, group.size() / 2);
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
    const double tells =
        due ? std::numeric_limits<double>::infinity()
            : told_by(contest.latency, contest.weights, i, contest.latency_round) +
                  told_by(contest.throughput, contest.weights, i, contest.throughput_round);
    if (tells > best.tells) best = {tells, i};
  }
  return best;
}

/// Returns how much better a plan would have to be in both figures for no other to beat it: the
/// additive epsilon indicator (Zitzler et al. 2003), of logarithms. `figures(plan)`: its two.
template <typename Figures>
double gap_behind(std::size_t plan, const std::vector<std::size_t>& group, Figures figures) {
  const LogFigures its = figures(plan);
  double gap = 0;
  for (const std::size_t i : group) {
    const LogFigures other = figures(i);
    gap = std::max(gap, std::min(its.latency - other.latency, other.throughput - its.throughput));
  }
  return gap;
}

double gap_to_front(std::size_t plan, const std::vector<std::size_t>& group,
                    const std::vector<PlanStanding>& standings) {
  return gap_behind(plan, group, [&](std::size_t i) {
    return LogFigures{standings[i].latency.logarithm, standings[i].throughput.logarithm};
  });
}

/// Returns the gap by predictions alone; 0 for a plan that has none.
double predicted_gap(std::size_t plan, const std::vector<std::size_t>& group,
                     std::span<const RacePlan> plans) {
  if (!plans[plan].predicted) return 0;
  return gap_behind(plan, group, [&](std::size_t i) {
    return plans[i].predicted.value_or(*plans[plan].predicted);
  });
}

}  // namespace

bool is_open(const Contest& contest, std::span<const RacePlan> plans, const RaceRules& rules) {
  for (std::size_t i = 0; i < contest.plans.size(); ++i) {
    const RacePlan& plan = plans[contest.plans[i]];
    if (contest.undecided[i] && std::ssize(plan.rounds) < rules.most_rounds) return true;
  }
  return false;
}

std::vector<std::size_t> unconfirmed(const std::vector<std::size_t>& group,
                                     std::span<const RacePlan> plans,
                                     const std::vector<PlanStanding>& standings,
                                     const RaceRules& rules) {
  std::vector<std::size_t> chosen;
  for (const std::size_t plan : group) {
    if (standings[plan].p_front > 1 - rules.undecided &&
        std::ssize(plans[plan].rounds) < rules.least_rounds) {
      chosen.push_back(plan);
    }
  }
  return chosen;
}

std::vector<std::size_t> second_look(const std::vector<std::size_t>& group,
                                     std::span<const RacePlan> plans,
                                     const std::vector<PlanStanding>& standings,
                                     const RaceRules& rules) {
  std::vector<std::pair<double, std::size_t>> seen_once;
  std::size_t wanted = rules.second_look;
  for (const std::size_t plan : group) {
    if (plans[plan].rounds.size() == 1)
      seen_once.emplace_back(gap_to_front(plan, group, standings), plan);
    if (plans[plan].rounds.size() > 1 && wanted > 0) --wanted;
  }
  std::ranges::sort(seen_once);
  if (seen_once.size() > wanted) seen_once.resize(wanted);
  std::vector<std::size_t> chosen;
  for (const auto& [gap, plan] : seen_once) chosen.push_back(plan);
  return chosen;
}

std::vector<std::size_t> far_look(const std::vector<std::size_t>& group,
                                  std::span<const RacePlan> plans, const RaceRules& rules,
                                  bool guided) {
  std::vector<std::size_t> seen;
  std::vector<std::size_t> unseen;
  std::size_t wanted = std::min(rules.far_look, group.size() / kFarLookShare);
  for (const std::size_t plan : group) {
    const double gap = predicted_gap(plan, group, plans);
    const bool is_far = gap > kFarBehind && gap < kHopeless;
    if (plans[plan].rounds.empty()) {
      if (is_far || !guided) unseen.push_back(plan);
      continue;
    }
    seen.push_back(plan);
    if (is_far && wanted > 0) --wanted;
  }
  if (seen.size() < first_look_of(group, rules)) return {};
  if (!guided) wanted = std::max<std::size_t>(wanted, 1);
  const auto from_seen = [&](std::size_t plan) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t other : seen) {
      least = std::min(least, distance(plans[plan].features, plans[other].features));
    }
    return least;
  };
  std::vector<std::size_t> chosen;
  while (chosen.size() < wanted && !unseen.empty()) {
    const auto farthest = std::ranges::max_element(unseen, {}, from_seen);
    chosen.push_back(*farthest);
    seen.push_back(*farthest);
    unseen.erase(farthest);
  }
  return chosen;
}

void choose_pass(std::vector<Contest> contests, std::span<const RacePlan> plans,
                 const RaceRules& rules, std::vector<std::size_t>& pass) {
  std::vector<std::vector<bool>> taken;
  for (Contest& contest : contests) {
    std::vector<bool>& of_group = taken.emplace_back(contest.plans.size(), false);
    for (std::size_t i = 0; i < contest.plans.size(); ++i) {
      if (std::ranges::count(pass, contest.plans[i]) == 0) continue;
      of_group[i] = true;
      take_away(contest.latency, i, contest.latency_round);
      take_away(contest.throughput, i, contest.throughput_round);
    }
  }
  std::vector<Candidate> best;
  for (std::size_t group = 0; group < contests.size(); ++group) {
    best.push_back(best_of(contests[group], plans, rules, taken[group]));
  }
  while (pass.size() < rules.widest_pass) {
    const auto most = std::ranges::max_element(best, {}, &Candidate::tells);
    if (most == best.end() || most->tells < 0) break;
    const auto group = static_cast<std::size_t>(most - best.begin());
    Contest& contest = contests[group];
    pass.push_back(contest.plans[most->place]);
    taken[group][most->place] = true;
    take_away(contest.latency, most->place, contest.latency_round);
    take_away(contest.throughput, most->place, contest.throughput_round);
    best[group] = best_of(contest, plans, rules, taken[group]);
  }
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
  const std::size_t wanted = first_look_of(group, rules);
  std::size_t seen = group.size() - unseen.size();
  for (const auto& [gap, plan] : unseen) {
    if (seen++ >= wanted || pass.size() >= rules.widest_pass) return;
    pass.push_back(plan);
  }
}

}  // namespace pareto::statistics
