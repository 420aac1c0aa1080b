// Cuts that plans may make in a model. Translates between plans and the positions that searches
// use.
//
//   profiles + probes ──inputs──▶ CostInputs ──search──▶ Placement ──plan_of──▶ Plan
//                                            ◀──placement_of── Plan
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/inputs/cost_model.h"
#include "partitioner/planning/search/graph_ideals.h"

namespace pareto::planning {

enum class Cuts {
  kOrder,   ///< cuts at chosen split points, in the model's order
  kIdeals,  ///< anywhere, branches in any order
  kAuto,    ///< anywhere if the graph has not too many ideals, else in order
};

/// The space of cuts. Two exist: the split points of the model's order, and the ideals of its
/// graph.
///
/// Threads: one owner. The model outlives it.
class CutSpace {
 public:
  virtual ~CutSpace() = default;

  /// Returns whether branches may be cut in any order.
  virtual bool anywhere() const = 0;
  /// Returns what plans are predicted and searched from. Fails: kInvalidArgument (no such links, a
  /// profile that does not cover the model).
  Expected<CostInputs> inputs(const std::vector<ProbedTransport>& transports,
                              const ProbedCodecs& codecs = {}) const {
    return inputs_of(devices_, transports, codecs);
  }
  /// Returns the same of other profiles of the devices, by other settings. Fails: as inputs().
  virtual Expected<CostInputs> inputs_of(const std::vector<DeviceFacts>& devices,
                                         const std::vector<ProbedTransport>& transports,
                                         const ProbedCodecs& codecs) const = 0;
  /// Returns a placement among those inputs as a plan. Window 0 leaves the plan's window open.
  plan::Plan plan_of(const Placement& placement, const CostInputs& inputs, int window = 0) const;
  /// Returns the stages of a plan as a placement. Fails: kNotFound (a device or a cut that is not
  /// here).
  virtual Expected<Placement> placement_of(const plan::Plan& plan) const = 0;

  /// Returns the devices that plans may use, as inputs number them.
  const std::vector<DeviceFacts>& devices() const { return devices_; }

 protected:
  /// `blank`: what all plans have in common, such as model, batch and engine.
  CutSpace(std::vector<DeviceFacts> devices, plan::Plan blank)
      : devices_(std::move(devices)), blank_(std::move(blank)) {}
  std::int64_t batch() const { return blank_.batch; }

 private:
  /// Writes the stages of a placement into a plan.
  virtual void place(const Placement& placement, plan::Plan& plan) const = 0;

  std::vector<DeviceFacts> devices_;
  plan::Plan blank_;
};

/// The choice of where plans may be cut, before it is known by which devices.
struct CutChoice {
  std::optional<search::GraphIdeals> ideals;  ///< no value means the model's order
  std::string why_in_order;  ///< why kAuto came to the model's order; empty: it did not
};
/// Chooses the space. Up to `most` ideals are not too many. Fails: kExhausted (kIdeals, and there
/// are too many).
Expected<CutChoice> choose_cuts(const model::Model& model, std::int64_t batch, Cuts cuts,
                                std::size_t most = 100'000);

/// Returns the space of those ideals, or of the split points if there are none.
std::unique_ptr<CutSpace> make_cut_space(const model::Model& model, CutChoice choice,
                                         SplitChoice splits, std::vector<DeviceFacts> devices,
                                         plan::Plan blank);

}  // namespace pareto::planning
