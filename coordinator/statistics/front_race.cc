#include "coordinator/statistics/front_race.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "coordinator/results/prediction_guide.h"
#include "coordinator/statistics/front_draws.h"
#include "coordinator/statistics/front_of.h"
#include "coordinator/statistics/race_pass.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::statistics {
namespace {

/// The number of standard deviations of the difference by which a plan is worse than another in
/// both figures before it is out.
constexpr double kSurely = 3.5;
/// The most plans of a group, the nearest to the front, that contend: those beyond have no chance,
/// or there are too many equals for anything to be decided.
constexpr std::size_t kMostContenders = 500;
/// The standard deviation of the logarithm of a figure that has no prediction.
constexpr double kUnknown = 1.5;

/// The weight of what the front would lose, as the side of a square, next to p (1 - p).
constexpr double kAreaWeight = 5;

/// One of a plan's two figures, wherever it stands.
struct Figure {
  double LogFigures::*logarithm;
  double planning::ComputeShare::*compute_share;
};
constexpr Figure kLatency{&LogFigures::latency, &planning::ComputeShare::latency};
constexpr Figure kThroughput{&LogFigures::throughput, &planning::ComputeShare::throughput};

/// Returns what a group's plans typically take, for plans of which nothing is known.
std::map<int, double> typical_figures(std::span<const RacePlan> plans, const Figure& figure) {
  std::map<int, std::vector<double>> known;
  for (const RacePlan& plan : plans) {
    if (plan.predicted) known[plan.group].push_back((*plan.predicted).*figure.logarithm);
    for (const RaceRound& round : plan.rounds)
      known[plan.group].push_back(round.figures.*figure.logarithm);
  }
  std::map<int, double> typical;
  for (const auto& [group, figures] : known) typical[group] = median(figures);
  return typical;
}

std::vector<PriorFigure> priors_of(std::span<const RacePlan> plans, const Figure& figure) {
  std::map<int, double> typical = typical_figures(plans, figure);
  std::vector<PriorFigure> priors;
  for (const RacePlan& plan : plans) {
    priors.push_back({plan.group, plan.features,
                      plan.predicted ? (*plan.predicted).*figure.logarithm : typical[plan.group],
                      plan.predicted ? 0 : kUnknown, plan.compute_share.*figure.compute_share,
                      typical[plan.group]});
  }
  return priors;
}

std::vector<PassObservation> observations_of(std::span<const RacePlan> plans,
                                             const Figure& figure) {
  std::vector<PassObservation> observations;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const RaceRound& round : plans[i].rounds) {
      observations.push_back({i, plans[i].group, round.pass, round.figures.*figure.logarithm,
                              round.errors.*figure.logarithm, round.loading});
    }
  }
  return observations;
}

/// Returns the plans that no other of them beats, by what is known of them.
std::vector<std::size_t> front_of_means(std::vector<std::size_t> plans,
                                        const std::vector<PlanStanding>& standings) {
  std::ranges::sort(plans, {}, [&](std::size_t i) {
    return std::pair(standings[i].latency.logarithm, -standings[i].throughput.logarithm);
  });
  return front_of(plans, [&](std::size_t i) { return standings[i].throughput.logarithm; });
}

/// Returns the number of standard deviations by which a plan of the front is surely better in both
/// figures.
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

bool is_decided(const RacePlan& plan, double p_front, const RaceRules& rules) {
  if (plan.failed) return true;
  if (!plan.predicted && plan.rounds.empty()) return false;
  if (p_front < rules.undecided) return true;
  return p_front > 1 - rules.undecided && std::ssize(plan.rounds) >= rules.least_rounds;
}

/// Raises P(front) of unmeasured plans that would be decided, and that together would hold more of
/// the front than the rules leave out: the likeliest of them.
void leave_open(const std::vector<std::size_t>& contenders, std::span<const RacePlan> plans,
                const RaceRules& rules, std::vector<PlanStanding>& standings) {
  double front = 0;
  std::vector<std::size_t> unlikely;
  for (const std::size_t i : contenders) {
    front += standings[i].p_front;
    if (plans[i].rounds.empty() && standings[i].p_front < rules.undecided) unlikely.push_back(i);
  }
  std::ranges::sort(unlikely, {}, [&](std::size_t i) { return standings[i].p_front; });
  double left_out = 0;
  for (const std::size_t i : unlikely) {
    left_out += standings[i].p_front;
    if (left_out > rules.left_out * front)
      standings[i].p_front = std::max(standings[i].p_front, kLeftOpen);
  }
}

/// Raises P(front) of all unmeasured plans of a group whose predictions rule out nothing.
void leave_all_open(const std::vector<std::size_t>& group, std::span<const RacePlan> plans,
                    std::vector<PlanStanding>& standings) {
  for (const std::size_t i : group) {
    if (plans[i].rounds.empty()) standings[i].p_front = std::max(standings[i].p_front, kLeftOpen);
  }
}

Contest contest_of(const std::vector<std::size_t>& contenders, const ResidualModel& latency,
                   const ResidualModel& throughput, std::span<const RacePlan> plans,
                   const RaceRules& rules, std::vector<PlanStanding>& standings) {
  JointFigures latencies = latency.joint(contenders);
  JointFigures throughputs = throughput.joint(contenders);
  Contest contest{contenders, latencies.covariance, throughputs.covariance, {}, {}};
  const std::vector<DrawnPlan> drawn =
      draw_fronts(std::move(latencies), std::move(throughputs), rules.draws, rules.seed);
  contest.weights.assign(contenders.size(), 0.0);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const double p = static_cast<double>(drawn[i].unbeaten) / rules.draws;
    standings[contenders[i]].p_front = p;
    const double weight =
        p * (1 - p) + kAreaWeight * std::sqrt(drawn[i].area / rules.draws) * (p < 1 ? 1.0 : 0.0);
    contest.weights[i] += weight;
    for (const auto& [by, times] : drawn[i].beaten_by) {
      contest.weights[by] += weight * times / std::max(rules.draws - drawn[i].unbeaten, 1);
    }
  }
  leave_open(contenders, plans, rules, standings);
  for (const std::size_t i : contenders) {
    contest.undecided.push_back(!is_decided(plans[i], standings[i].p_front, rules));
  }
  return contest;
}

/// Judges the predictions of each group by the rounds alone. What a race believes of a plan is made
/// of its prediction too: by that, predictions would prove themselves.
std::map<int, results::PredictionGuide> guides_of(
    const std::map<int, std::vector<std::size_t>>& groups, std::span<const RacePlan> plans,
    const std::vector<PlanStanding>& standings) {
  std::vector<results::PredictedGroup> judged;
  for (const auto& [number, members] : groups) {
    results::PredictedGroup& group = judged.emplace_back();
    for (const std::size_t i : members) {
      const auto& predicted = plans[i].predicted;
      const auto& seen = standings[i].seen;
      group.doubted = group.doubted || plans[i].doubted;
      if (!predicted || !seen) continue;
      group.latency.push_back({std::exp(predicted->latency), std::exp(seen->latency)});
      group.throughput.push_back({std::exp(predicted->throughput), std::exp(seen->throughput)});
    }
  }
  const std::vector<results::PredictionGuide> guides = results::prediction_guides(judged);
  std::map<int, results::PredictionGuide> by_group;
  for (const auto& [number, members] : groups) {
    by_group.emplace(number, guides[by_group.size()]);
  }
  return by_group;
}

/// Sets what was seen of each plan that has rounds.
void set_seen(std::span<const PlanEstimate> estimates, double LogFigures::*figure,
              std::vector<PlanStanding>& standings) {
  for (const PlanEstimate& estimate : estimates) {
    std::optional<LogFigures>& seen = standings[estimate.plan].seen;
    if (!seen) seen.emplace();
    (*seen).*figure = estimate.logarithm;
  }
}

bool is_reachable(const std::vector<std::size_t>& group, std::span<const RacePlan> plans) {
  return std::ranges::none_of(group, [&](std::size_t i) { return plans[i].unreachable; });
}

/// Adds plans to a pass, each once.
void add_all(const std::vector<std::size_t>& plans, std::vector<std::size_t>& pass) {
  for (const std::size_t plan : plans) {
    if (std::ranges::count(pass, plan) == 0) pass.push_back(plan);
  }
}

}  // namespace

RaceState judge_race(std::span<const RacePlan> plans, const RaceRules& rules) {
  RaceState state;
  std::vector<PlanStanding>& standings = state.standings;
  standings.resize(plans.size());
  const std::vector<PriorFigure> latency_priors = priors_of(plans, kLatency);
  const std::vector<PriorFigure> throughput_priors = priors_of(plans, kThroughput);
  PassEstimates latencies = estimate_plans(observations_of(plans, kLatency));
  PassEstimates throughputs = estimate_plans(observations_of(plans, kThroughput));
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].failed) groups[plans[i].group].push_back(i);
  }
  set_seen(latencies.plans, &LogFigures::latency, standings);
  set_seen(throughputs.plans, &LogFigures::throughput, standings);
  const std::map<int, results::PredictionGuide> guides = guides_of(groups, plans, standings);
  const ResidualModel latency(latency_priors, std::move(latencies.plans));
  const ResidualModel throughput(throughput_priors, std::move(throughputs.plans));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    standings[i].latency = latency.figure(i);
    standings[i].throughput = throughput.figure(i);
  }
  std::vector<Contest> open;
  for (const auto& [group, members] : groups) {
    Contest contest =
        contest_of(contenders_of(members, standings), latency, throughput, plans, rules, standings);
    if (!guides.at(group).guides) leave_all_open(members, plans, standings);
    if (!is_reachable(members, plans) || !is_open(contest, plans, rules)) continue;
    contest.latency_round = latencies.round_variance(group);
    contest.throughput_round = throughputs.round_variance(group);
    for (const auto look : {unconfirmed, second_look}) {
      add_all(look(members, plans, standings, rules), state.next_pass);
    }
    open.push_back(std::move(contest));
  }
  for (const auto& [group, members] : groups) {
    if (!is_reachable(members, plans)) continue;
    add_all(far_look(members, plans, rules, guides.at(group).guides), state.next_pass);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    standings[i].decided = is_decided(plans[i], standings[i].p_front, rules);
  }
  state.next_pass.resize(std::min(state.next_pass.size(), rules.widest_pass));
  choose_pass(std::move(open), plans, rules, state.next_pass);
  for (const auto& [group, members] : groups) {
    if (!is_reachable(members, plans)) continue;
    add_first_look(members, plans, standings, rules, state.next_pass);
  }
  return state;
}

}  // namespace pareto::statistics
