// Chains of cuts, each of which holds the one before it, and the plans that cut there.
//
//   Cuts (partitioner/planning/frontiers) ──CutChains──▶ chains of stages - 1 cuts
//     ──plan_of_cuts──▶ Plans
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::sweep {

/// Returns whether a cut lies behind another one: it holds all of it, and more.
bool lies_behind(const model::Cut& cut, const model::Cut& other);

/// A list of cuts, whose chains are counted or listed.
///
/// Threads: one owner.
class CutChains {
 public:
  /// `cuts`: smaller sets first, each once.
  explicit CutChains(std::vector<model::Cut> cuts) : cuts_(std::move(cuts)) {}

  std::size_t size() const { return cuts_.size(); }
  /// Returns the number of chains of `count` cuts. It is exact below 2^53.
  double number_of(std::size_t count);
  /// Returns every chain of `count` cuts, in order.
  std::vector<std::vector<model::Cut>> of(std::size_t count);

 private:
  void find_behind();
  void extend(std::size_t next, std::size_t count, std::vector<std::size_t>& chain,
              std::vector<std::vector<model::Cut>>& chains) const;

  std::vector<model::Cut> cuts_;
  std::vector<std::vector<std::size_t>> behind_;  ///< those behind each cut, if found
};

/// Returns a plan that cuts the model at those cuts, each of which holds the one before it. Its
/// stages run on devices[0], devices[1], …
/// Fails: kInvalidArgument (a cut that does not hold the one before it, too few devices).
Expected<plan::Plan> plan_of_cuts(const model::Model& model, const std::vector<model::Cut>& cuts,
                                  const std::vector<std::string>& devices, std::int64_t batch,
                                  const SweepOptions& options);

}  // namespace pareto::sweep
