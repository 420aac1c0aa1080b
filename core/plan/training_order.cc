#include "core/plan/training_order.h"

#include <algorithm>

#include "core/base/text.h"

namespace pareto::plan {

const std::vector<std::string>& training_orders() {
  static const std::vector<std::string> kAll{kOneForwardOneBackward, kFillDrain};
  return kAll;
}

Expected<> check_training_order(std::string_view order) {
  if (std::ranges::find(training_orders(), order) != training_orders().end()) return {};
  return fail(ErrorCode::kInvalidArgument, "no order of passes \"{}\", only {}", order,
              join(training_orders()));
}

std::vector<TrainingPass> training_passes(std::string_view order, std::uint32_t stage,
                                          std::uint32_t stages, std::uint32_t micro_batches) {
  // Forward passes that a stage is ahead of its backward passes.
  const std::uint32_t ahead =
      order == kFillDrain ? micro_batches : std::min(stages - stage, micro_batches);
  std::vector<TrainingPass> passes;
  for (std::uint32_t forward = 0; forward < micro_batches; ++forward) {
    if (forward >= ahead) passes.push_back({true, forward - ahead});
    passes.push_back({false, forward});
  }
  for (std::uint32_t backward = micro_batches - ahead; backward < micro_batches; ++backward) {
    passes.push_back({true, backward});
  }
  return passes;
}

}  // namespace pareto::plan
