#include "partitioner/planning/objective/objective.h"

#include <algorithm>
#include <cassert>

#include "core/base/text.h"

namespace pareto::planning {

std::vector<const Objective*> all_objectives() {
  std::vector<const Objective*> all;
  for (const Objective& objective : builtin_objectives()) all.push_back(&objective);
  return all;
}

const std::vector<const Objective*>& searched_objectives() {
  static const std::vector<const Objective*> kSearched = [] {
    std::vector<const Objective*> all = all_objectives();
    std::erase_if(all, [](const Objective* one) { return !one->searched; });
    assert(all.size() <= kMostSearched);
    return all;
  }();
  return kSearched;
}

std::size_t searched_place(const Objective& objective) {
  const auto& all = searched_objectives();
  return static_cast<std::size_t>(std::ranges::find(all, &objective) - all.begin());
}

Expected<std::vector<const Objective*>> find_objectives(
    const std::vector<std::string>& names, const std::vector<const Objective*>& among) {
  std::vector<std::string> known;
  for (const Objective* const one : among) known.emplace_back(one->name);
  std::vector<const Objective*> found;
  for (const std::string& name : names) {
    const auto row = std::ranges::find(among, name, &Objective::name);
    if (row == among.end()) {
      return fail(ErrorCode::kInvalidArgument, "no objective is named \"{}\"; there are {}{}", name,
                  join(known), did_you_mean(name, known));
    }
    if (std::ranges::find(found, *row) != found.end()) {
      return fail(ErrorCode::kInvalidArgument, "objective \"{}\" is named twice", name);
    }
    found.push_back(*row);
  }
  return found;
}

const std::vector<const Objective*>& latency_and_throughput() {
  static const std::vector<const Objective*> kTwo =
      find_objectives({"latency", "throughput"}, all_objectives()).value();
  return kTwo;
}

double shown_value(const Objective& objective, std::int64_t value, std::int64_t batch) {
  const double whole = static_cast<double>(value) * objective.searched->unit;
  return objective.searched->of_request ? whole / static_cast<double>(batch) : whole;
}

}  // namespace pareto::planning
