#include "coordinator/sweep/cut_chains.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pareto::sweep {

bool lies_behind(const model::Cut& cut, const model::Cut& other) {
  return cut.before != other.before && model::holds_all(cut.before, other.before);
}

void CutChains::find_behind() {
  if (!behind_.empty()) return;
  behind_.resize(cuts_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    for (std::size_t j = i + 1; j < cuts_.size(); ++j) {
      if (lies_behind(cuts_[j], cuts_[i])) behind_[i].push_back(j);
    }
  }
}

double CutChains::number_of(std::size_t count) {
  if (count == 0) return 1;
  if (count > 1) find_behind();
  std::vector<double> from(cuts_.size(), 1);
  for (std::size_t length = 1; length < count; ++length) {
    std::vector<double> longer(cuts_.size(), 0);
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      for (const std::size_t next : behind_[i]) longer[i] += from[next];
    }
    from = std::move(longer);
  }
  return std::accumulate(from.begin(), from.end(), 0.0);
}

std::vector<std::vector<model::Cut>> CutChains::of(std::size_t count) {
  if (count > 1) find_behind();
  std::vector<std::vector<model::Cut>> chains;
  std::vector<std::size_t> chain;
  for (std::size_t i = 0; i < cuts_.size(); ++i) extend(i, count, chain, chains);
  return chains;
}

void CutChains::extend(std::size_t next, std::size_t count, std::vector<std::size_t>& chain,
                       std::vector<std::vector<model::Cut>>& chains) const {
  chain.push_back(next);
  if (chain.size() == count) {
    std::vector<model::Cut>& cuts = chains.emplace_back();
    for (const std::size_t i : chain) cuts.push_back(cuts_[i]);
  } else {
    for (const std::size_t behind : behind_[next]) extend(behind, count, chain, chains);
  }
  chain.pop_back();
}

Expected<plan::Plan> plan_of_cuts(const model::Model& model, const std::vector<model::Cut>& cuts,
                                  const std::vector<std::string>& devices, std::int64_t batch,
                                  const SweepOptions& options) {
  if (devices.size() < cuts.size() + 1) {
    return fail(ErrorCode::kInvalidArgument, "{} stages need as many devices; there are {}",
                cuts.size() + 1, devices.size());
  }
  plan::Plan plan;
  plan.model = model.name();
  plan.batch = batch;
  plan.window = options.window;
  plan.settings = options.settings;
  const auto add_stage = [&](const plan::OperatorRanges& before,
                             const plan::OperatorRanges& after) {
    std::vector<std::int64_t> own = operators_in(after);
    std::erase_if(own, [&](std::int64_t op) { return plan::holds(before, op); });
    plan::StagePlan stage{devices[plan.stages.size()], plan::count_of(before),
                          plan::count_of(after)};
    plan::OperatorRanges ranges = plan::ranges_of(own);
    if (ranges != plan::OperatorRanges{{stage.begin, stage.end}}) {
      stage.operators = std::move(ranges);
    }
    plan.stages.push_back(std::move(stage));
  };
  plan::OperatorRanges before;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (i > 0 && !lies_behind(cuts[i], cuts[i - 1])) {
      return fail(ErrorCode::kInvalidArgument, "{} does not lie behind {}", cuts[i].name,
                  cuts[i - 1].name);
    }
    plan.splits.push_back(cuts[i].name);
    add_stage(before, cuts[i].before);
    before = cuts[i].before;
  }
  add_stage(before, {{0, static_cast<std::int64_t>(model.graph().operators.size())}});
  return plan;
}

}  // namespace pareto::sweep
