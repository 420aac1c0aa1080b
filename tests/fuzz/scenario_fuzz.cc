// Any bytes as a scenario to simulate, or as a trace of arrivals: refused, or one that passes its
// check.
#include <cstdint>
#include <cstdlib>

#include "partitioner/planning/simulation/scenario_file.h"
#include "tests/fuzz/text.h"

namespace pareto::simulation {
namespace {

class NothingMeasured final : public MeasuredPipelines {
 public:
  Expected<PipelineClass> find(const std::string&, const std::string&) override {
    return fail(ErrorCode::kNotFound, "nothing was measured");
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  NothingMeasured measured;
  if (const auto scenario = parse_scenario(text, "fuzz.yaml", std::nullopt, measured)) {
    if (!check(*scenario)) std::abort();
  }
  if (const auto gaps = parse_arrival_trace(text, "fuzz.trace")) {
    for (const auto gap : *gaps) {
      if (gap.count() < 0) std::abort();
    }
  }
  (void)parse_request_rate(text);
  return 0;
}

}  // namespace pareto::simulation
