// Any bytes as the settings of a stage that trains: refused, or written and read again as they
// were.
#include <cstdint>
#include <cstdlib>

#include "core/plan/training.h"
#include "core/plan/training_order.h"
#include "tests/fuzz/text.h"

namespace pareto::plan {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto settings = training_from_json(fuzz::text_of(data, size));
  if (!settings) return 0;
  const std::string text = training_json(*settings);
  const auto again = training_from_json(text);
  if (!again || training_json(*again) != text) std::abort();
  const auto passes = training_passes(settings->order, settings->stage, settings->stages, 7);
  if (passes.size() != 14) std::abort();
  return 0;
}

}  // namespace pareto::plan
