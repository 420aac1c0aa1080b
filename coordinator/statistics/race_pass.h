// Chooses the plans of a judged race (front_race.h) to measure next: those for which one more round
// decides most.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coordinator/statistics/cholesky.h"
#include "coordinator/statistics/front_race.h"

namespace pareto::statistics {

/// The plans that may still be on the front of one group, in the order of these plans.
struct Contest {
  std::vector<std::size_t> plans;
  Matrix latency;               ///< covariances
  Matrix throughput;            ///< likewise
  std::vector<double> weights;  ///< how much depends on knowing each of them better
  std::vector<bool> undecided;
  double latency_round = 0;     ///< variance of one round's
  double throughput_round = 0;  ///< likewise
};

/// Returns whether a round of any of these could still decide something.
bool is_open(const Contest& contest, std::span<const RacePlan> plans, const RaceRules& rules);

/// Returns the plans of a group that are sure to be on the front, but have too few rounds to say
/// so. They tell nothing new, but are what people will run.
std::vector<std::size_t> unconfirmed(const std::vector<std::size_t>& group,
                                     std::span<const RacePlan> plans,
                                     const std::vector<PlanStanding>& standings,
                                     const RaceRules& rules);

/// Returns the plans of a group that were measured once, to be measured again so that it is known
/// how much rounds differ.
std::vector<std::size_t> second_look(const std::vector<std::size_t>& group,
                                     std::span<const RacePlan> plans,
                                     const std::vector<PlanStanding>& standings,
                                     const RaceRules& rules);

/// Returns the plans of a group to measure although predictions put them far behind the front: the
/// least like those that were measured. None before the first look is taken. `guided`: whether
/// predictions guide; if not, at least one of all that were not measured, pass after pass.
std::vector<std::size_t> far_look(const std::vector<std::size_t>& group,
                                  std::span<const RacePlan> plans, const RaceRules& rules,
                                  bool guided);

/// Adds plans of open contests to a pass, one round each, as many as RaceRules allow. Each is
/// chosen as if those before it had been measured.
void choose_pass(std::vector<Contest> contests, std::span<const RacePlan> plans,
                 const RaceRules& rules, std::vector<std::size_t>& pass);

/// Adds to a pass what a group still lacks of its first look.
void add_first_look(const std::vector<std::size_t>& group, std::span<const RacePlan> plans,
                    const std::vector<PlanStanding>& standings, const RaceRules& rules,
                    std::vector<std::size_t>& pass);

}  // namespace pareto::statistics
