// Any bytes as a plan file, or as what says how its model is opened: refused, or written and read
// again as it was.
#include <cstdint>
#include <cstdlib>

#include "core/plan/plan.h"
#include "tests/fuzz/text.h"

namespace pareto::plan {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  if (const auto file = plan_file_from_json(text)) {
    const auto again = plan_file_from_json(to_json(*file));
    if (!again || again->plan != file->plan || again->source != file->source) std::abort();
    const Plan& plan = file->plan;
    for (std::size_t link = 0; link < plan.links(); ++link) {
      (void)plan.ends_of(link);
      (void)plan.transport_of(link);
    }
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
      (void)plan.operators_of(stage);
      if (plan.settings_of(stage).threads > kMostThreads) std::abort();
    }
    (void)plan.threads_text();
    if (plan.messages() < 1) std::abort();
  }
  if (const auto source = model_source_from_json(text)) {
    if (model_source_from_json(to_json(*source)) != *source) std::abort();
  }
  return 0;
}

}  // namespace pareto::plan
