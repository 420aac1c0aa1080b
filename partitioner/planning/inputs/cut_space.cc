#include "partitioner/planning/inputs/cut_space.h"

#include <utility>

#include "partitioner/planning/inputs/ideal_plans.h"

namespace pareto::planning {
namespace {

class OrderSpace final : public CutSpace {
 public:
  OrderSpace(const model::Model& model, SplitChoice splits, std::vector<DeviceFacts> devices,
             plan::Plan blank)
      : CutSpace(std::move(devices), std::move(blank)), model_(model), splits_(std::move(splits)) {}

  bool anywhere() const override { return false; }
  Expected<CostInputs> inputs_of(const std::vector<DeviceFacts>& devices,
                                 const std::vector<ProbedTransport>& transports,
                                 const ProbedCodecs& codecs) const override {
    return make_cost_inputs(model_, splits_, batch(), devices, transports, codecs);
  }
  Expected<Placement> placement_of(const plan::Plan& plan) const override {
    return planning::placement_of(plan, model_, splits_, devices());
  }

 private:
  void place(const Placement& placement, plan::Plan& plan) const override {
    planning::place(model_, splits_, devices(), placement, plan);
  }

  const model::Model& model_;
  const SplitChoice splits_;
};

class IdealSpace final : public CutSpace {
 public:
  IdealSpace(const model::Model& model, search::GraphIdeals ideals,
             std::vector<DeviceFacts> devices, plan::Plan blank)
      : CutSpace(std::move(devices), std::move(blank)), model_(model), ideals_(std::move(ideals)) {}

  bool anywhere() const override { return true; }
  Expected<CostInputs> inputs_of(const std::vector<DeviceFacts>& devices,
                                 const std::vector<ProbedTransport>& transports,
                                 const ProbedCodecs& codecs) const override {
    return make_ideal_cost_inputs(model_, ideals_, batch(), devices, transports, codecs);
  }
  Expected<Placement> placement_of(const plan::Plan& plan) const override {
    return placement_among(plan, ideals_, devices());
  }

 private:
  void place(const Placement& placement, plan::Plan& plan) const override {
    place_ideals(model_, ideals_, devices(), placement, plan);
  }

  const model::Model& model_;
  const search::GraphIdeals ideals_;
};

}  // namespace

plan::Plan CutSpace::plan_of(const Placement& placement, const CostInputs& inputs,
                             int window) const {
  plan::Plan plan = blank_;
  plan.window = window;
  place(placement, plan);
  choose_links(inputs, placement, plan);
  return plan;
}

Expected<CutChoice> choose_cuts(const model::Model& model, std::int64_t batch, Cuts cuts,
                                std::size_t most) {
  CutChoice choice;
  if (cuts == Cuts::kOrder) return choice;
  auto found = with_context(search::find_graph_ideals(model.graph(), batch, most),
                            "cutting {} at every ideal", model.name());
  if (found) {
    choice.ideals = *std::move(found);
  } else if (cuts == Cuts::kAuto && found.error().code == ErrorCode::kExhausted) {
    choice.why_in_order = std::move(found).error().message;
  } else {
    return tl::unexpected(std::move(found).error());
  }
  return choice;
}

std::unique_ptr<CutSpace> make_cut_space(const model::Model& model, CutChoice choice,
                                         SplitChoice splits, std::vector<DeviceFacts> devices,
                                         plan::Plan blank) {
  if (choice.ideals) {
    return std::make_unique<IdealSpace>(model, *std::move(choice.ideals), std::move(devices),
                                        std::move(blank));
  }
  return std::make_unique<OrderSpace>(model, std::move(splits), std::move(devices),
                                      std::move(blank));
}

}  // namespace pareto::planning
