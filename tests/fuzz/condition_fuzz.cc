// Any bytes as a condition of a link, or as a trace of Mahimahi: refused, or written and read again
// as it was.
#include <cstdint>
#include <cstdlib>

#include "core/plan/condition.h"
#include "core/plan/mahimahi.h"
#include "tests/fuzz/text.h"

namespace pareto::plan {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  if (const auto condition = parse_condition(text, "fuzz.yaml")) {
    const auto again = parse_condition(to_text(*condition), "fuzz.yaml");
    if (!again || *again != *condition) std::abort();
  }
  if (const auto trace = parse_mahimahi(text, "fuzz.trace")) {
    if (trace->rows.empty() || trace->period.count() <= 0) std::abort();
    if (trace->rows.back().at >= trace->period) std::abort();
  }
  return 0;
}

}  // namespace pareto::plan
