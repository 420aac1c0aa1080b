#include "client/experiment/front_race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "client/experiment/statistics.h"

namespace pareto::client {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
/// A plan that is worse than another in both figures by so many standard deviations of the difference is out.
constexpr double kSurely = 3.5;
/// Of a group, the nearest to the front: those beyond have no chance, or there are too many equals for anything to be decided.
constexpr std::size_t kMostContenders = 500;
/// Of the logarithm of a figure of which nothing is predicted.
constexpr double kUnknown = 1.5;

/// Of a round to come, as the variance of a logarithm.
constexpr double kRoundVariance = 0.015 * 0.015;

/// Nothing is known better.
constexpr double kLeastVariance = 1e-9;

/// What the ends of a front dominate alone is this wide or high.
constexpr double kEdge = 0.1;
/// Of what the front would lose, as the side of a square, beside p (1 - p).
constexpr double kAreaWeight = 5;
constexpr int kDrawDegrees = 6;
constexpr double kCorrelation = 0.5;

/// Box and Muller 1958; half of it.
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

/// What a group's plans take where nothing is known of one of them.
std::map<int, double> typical_figures(std::span<const RacePlan> plans, double LogFigures::*figure) {
  std::map<int, std::vector<double>> known;
  for (const RacePlan& plan : plans) {
    if (plan.predicted) known[plan.group].push_back((*plan.predicted).*figure);
    for (const RaceRound& round : plan.rounds) known[plan.group].push_back(round.figures.*figure);
  }
  std::map<int, double> typical;
  for (const auto& [group, figures] : known) typical[group] = median(figures);
  return typical;
}

std::vector<PriorFigure> priors_of(std::span<const RacePlan> plans, double LogFigures::*figure) {
  std::map<int, double> typical = typical_figures(plans, figure);
  std::vector<PriorFigure> priors;
  for (const RacePlan& plan : plans) {
    priors.push_back({plan.group, plan.features,
                      plan.predicted ? (*plan.predicted).*figure : typical[plan.group],
                      plan.predicted ? 0 : kUnknown});
  }
  return priors;
}

std::vector<PassObservation> observations_of(std::span<const RacePlan> plans,
                                             double LogFigures::*figure) {
  std::vector<PassObservation> observations;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const RaceRound& round : plans[i].rounds) {
      observations.push_back(
          {i, plans[i].group, round.pass, round.figures.*figure, round.errors.*figure});
    }
  }
  return observations;
}

/// Those that nobody of them beats, by what is known of them.
std::vector<std::size_t> front_of_means(std::vector<std::size_t> plans,
                                        const std::vector<PlanStanding>& standings) {
  std::ranges::sort(plans, {}, [&](std::size_t i) {
    return std::pair(standings[i].latency.logarithm, -standings[i].throughput.logarithm);
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : plans) {
    if (front.empty() ||
        standings[i].throughput.logarithm > standings[front.back()].throughput.logarithm) {
      front.push_back(i);
    }
  }
  return front;
}

/// By how many standard deviations somebody of the front is surely better in both figures.
double beaten_by_deviations(const PlanStanding& plan, const std::vector<std::size_t>& front,
                            const std::vector<PlanStanding>& standings) {
  double most = 0;
  for (const std::size_t j : front) {
    const PlanStanding& other = standings[j];
    const double slower = (plan.latency.logarithm - other.latency.logarithm) /
                          std::hypot(plan.latency.deviation, other.latency.deviation);
    const double less = (other.throughput.logarithm - plan.throughput.logarithm) /
                        std::hypot(plan.throughput.deviation, other.throughput.deviation);
    most = std::max(most, std::min(slower, less));
  }
  return most;
}

std::vector<std::size_t> contenders_of(const std::vector<std::size_t>& group,
                                       const std::vector<PlanStanding>& standings) {
  const std::vector<std::size_t> front = front_of_means(group, standings);
  std::vector<std::pair<double, std::size_t>> chances;
  for (const std::size_t i : group) {
    const double beaten = beaten_by_deviations(standings[i], front, standings);
    if (beaten < kSurely) chances.emplace_back(beaten, i);
  }
  std::ranges::sort(chances);
  if (chances.size() > kMostContenders) chances.resize(kMostContenders);
  std::vector<std::size_t> contenders;
  for (const auto& [beaten, i] : chances) contenders.push_back(i);
  return contenders;
}

/// Draws of both figures of some plans together, from Student's t with kDrawDegrees degrees of freedom: how far rounds and predictions
/// scatter is itself known from a few of them. What makes a plan slow makes it less productive, so errors of the two are correlated.
class Draws {
 public:
  Draws(JointFigures latency, JointFigures throughput)
      : latency_(std::move(latency)), throughput_(std::move(throughput)) {
    factorize(latency_.covariance);
    factorize(throughput_.covariance);
  }

  struct Drawn {
    std::vector<double> latency;
    std::vector<double> throughput;
  };
  Drawn next(Random& random) const {
    double squares = 0;
    for (int i = 0; i < kDrawDegrees; ++i) squares += std::pow(normal(random), 2);
    const double scale = std::sqrt(kDrawDegrees / std::max(squares, 1e-3));
    std::vector<double> slow(latency_.means.size());
    std::vector<double> unproductive(slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
      slow[i] = scale * normal(random);
      unproductive[i] = -kCorrelation * slow[i] +
                        std::sqrt(1 - kCorrelation * kCorrelation) * scale * normal(random);
    }
    return {moved(latency_, slow), moved(throughput_, unproductive)};
  }

 private:
  static std::vector<double> moved(const JointFigures& figures, std::span<const double> by) {
    std::vector<double> result = figures.means;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto row = figures.covariance.row(i).first(i + 1);
      result[i] += std::inner_product(row.begin(), row.end(), by.begin(), 0.0);
    }
    return result;
  }

  JointFigures latency_;
  JointFigures throughput_;
};

/// For each plan one that beats it, or kNobody.
std::vector<std::size_t> beaters(const std::vector<double>& latency,
                                 const std::vector<double>& throughput) {
  static const double kTolerance = std::log1p(kFrontTolerance);
  std::vector<std::size_t> order(latency.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return latency[i]; });
  const auto better = [&](std::size_t best, std::size_t i) {
    return best == kNobody || throughput[i] > throughput[best] ? i : best;
  };
  std::vector<std::size_t> result(latency.size(), kNobody);
  std::size_t faster = 0;  // of the order, those that are faster by more than the tolerance …
  std::size_t best_faster = kNobody;
  std::size_t best = kNobody;  // … and those that are no slower
  for (const std::size_t i : order) {
    while (latency[order[faster]] + kTolerance < latency[i]) {
      best_faster = better(best_faster, order[faster++]);
    }
    if (best_faster != kNobody && throughput[best_faster] >= throughput[i]) {
      result[i] = best_faster;
    } else if (best != kNobody && throughput[best] > throughput[i] + kTolerance) {
      result[i] = best;
    }
    best = better(best, i);
  }
  return result;
}

/// Adds to each plan what the front would lose without it: the area, of logarithms, that it alone dominates.
void add_areas(const Draws::Drawn& drawn, std::vector<double>& areas) {
  std::vector<std::size_t> order(areas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return drawn.latency[i]; });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    if (front.empty() || drawn.throughput[i] > drawn.throughput[front.back()]) front.push_back(i);
  }
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double width =
        i + 1 < front.size() ? drawn.latency[front[i + 1]] - drawn.latency[front[i]] : kEdge;
    const double height =
        i > 0 ? drawn.throughput[front[i]] - drawn.throughput[front[i - 1]] : kEdge;
    areas[front[i]] += width * height;
  }
}

int rounds_of(const RacePlan& plan) { return static_cast<int>(plan.rounds.size()); }

bool is_decided(const RacePlan& plan, double p_front, const RaceRules& rules) {
  if (plan.failed) return true;
  if (!plan.predicted && plan.rounds.empty()) return false;
  if (p_front < rules.undecided) return true;
  return p_front > 1 - rules.undecided && rounds_of(plan) >= rules.least_rounds;
}

/// What may still be on the front of one group, in the order of these plans.
struct Contest {
  std::vector<std::size_t> plans;
  Matrix latency;               ///< covariances
  Matrix throughput;            ///< likewise
  std::vector<double> weights;  ///< how much depends on knowing each of them better
  std::vector<bool> undecided;
};

Contest contest_of(const std::vector<std::size_t>& contenders, const ResidualModel& latency,
                   const ResidualModel& throughput, std::span<const RacePlan> plans,
                   const RaceRules& rules, std::vector<PlanStanding>& standings) {
  JointFigures latencies = latency.joint(contenders);
  JointFigures throughputs = throughput.joint(contenders);
  Contest contest{contenders, latencies.covariance, throughputs.covariance, {}, {}};
  const Draws draws(std::move(latencies), std::move(throughputs));
  const std::size_t count = contenders.size();
  std::vector<int> unbeaten(count, 0);
  std::vector<double> areas(count, 0.0);
  std::vector<std::map<std::size_t, int>> beaten_by(count);
  Random random(rules.seed);
  for (int draw = 0; draw < rules.draws; ++draw) {
    const Draws::Drawn drawn = draws.next(random);
    add_areas(drawn, areas);
    const std::vector<std::size_t> by = beaters(drawn.latency, drawn.throughput);
    for (std::size_t i = 0; i < count; ++i) {
      if (by[i] == kNobody) {
        ++unbeaten[i];
      } else {
        ++beaten_by[i][by[i]];
      }
    }
  }
  contest.weights.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    PlanStanding& standing = standings[contenders[i]];
    const double p = static_cast<double>(unbeaten[i]) / rules.draws;
    standing.p_front = p;
    contest.undecided.push_back(!is_decided(plans[contenders[i]], p, rules));
    const double weight =
        p * (1 - p) + kAreaWeight * std::sqrt(areas[i] / rules.draws) * (p < 1 ? 1.0 : 0.0);
    contest.weights[i] += weight;
    for (const auto& [by, times] : beaten_by[i]) {
      contest.weights[by] += weight * times / std::max(rules.draws - unbeaten[i], 1);
    }
  }
  return contest;
}

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
    if (taken[i] || rounds_of(plan) >= rules.most_rounds) continue;
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

std::vector<std::size_t> choose_pass(std::vector<Contest>& contests,
                                     std::span<const RacePlan> plans, const RaceRules& rules) {
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

/// Whether a round of any of these could still decide something.
bool is_open(const Contest& contest, std::span<const RacePlan> plans, const RaceRules& rules) {
  for (std::size_t i = 0; i < contest.plans.size(); ++i) {
    if (contest.undecided[i] && rounds_of(plans[contest.plans[i]]) < rules.most_rounds) return true;
  }
  return false;
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

/// Adds to a pass what a group still lacks of its first look.
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

}  // namespace

RaceState judge_race(std::span<const RacePlan> plans, const RaceRules& rules) {
  RaceState state;
  std::vector<PlanStanding>& standings = state.standings;
  standings.resize(plans.size());
  const std::vector<PriorFigure> latency_priors = priors_of(plans, &LogFigures::latency);
  const std::vector<PriorFigure> throughput_priors = priors_of(plans, &LogFigures::throughput);
  const ResidualModel latency(latency_priors,
                              estimate_plans(observations_of(plans, &LogFigures::latency)));
  const ResidualModel throughput(throughput_priors,
                                 estimate_plans(observations_of(plans, &LogFigures::throughput)));
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    standings[i].latency = latency.figure(i);
    standings[i].throughput = throughput.figure(i);
    if (!plans[i].failed) groups[plans[i].group].push_back(i);
  }
  std::vector<Contest> open;
  for (const auto& [group, members] : groups) {
    Contest contest =
        contest_of(contenders_of(members, standings), latency, throughput, plans, rules, standings);
    if (is_open(contest, plans, rules)) open.push_back(std::move(contest));
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    standings[i].decided = is_decided(plans[i], standings[i].p_front, rules);
  }
  state.next_pass = choose_pass(open, plans, rules);
  for (const auto& [group, members] : groups) {
    add_first_look(members, plans, standings, rules, state.next_pass);
  }
  return state;
}

}  // namespace pareto::client
