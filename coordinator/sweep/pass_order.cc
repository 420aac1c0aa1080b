#include "coordinator/sweep/pass_order.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "coordinator/statistics/statistics.h"

namespace pareto::sweep {
namespace {

struct Condition {
  std::size_t number = 0;  ///< in a random order too
  std::size_t trials = 0;  ///< that have their places
};

struct Place {
  std::size_t turn = 0;
  std::size_t condition = 0;
  std::size_t trial = 0;
};

}  // namespace

std::vector<std::size_t> order_of(const Pass& pass, const std::vector<results::TrialRecord>& trials,
                                  std::uint64_t seed, bool in_turns) {
  statistics::Random random(seed * 1'000'003 + static_cast<std::uint64_t>(pass.round));
  const std::size_t in_turn = in_turns ? kTrialsInTurn : pass.trials.size();
  std::map<std::string, Condition> conditions;
  std::vector<Place> places;
  for (const std::size_t index : random.permutation(pass.trials.size())) {
    const std::size_t trial = pass.trials[index];
    Condition& condition =
        conditions.try_emplace(trials[trial].condition, Condition{conditions.size()}).first->second;
    places.push_back({condition.trials++ / in_turn, condition.number, trial});
  }
  std::ranges::stable_sort(
      places, {}, [](const Place& place) { return std::pair(place.turn, place.condition); });
  std::vector<std::size_t> order;
  for (const Place& place : places) order.push_back(place.trial);
  return order;
}

}  // namespace pareto::sweep
