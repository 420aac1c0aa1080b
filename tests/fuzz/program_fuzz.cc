// Any bytes as a user's schedule: refused, or written and read again as it was. Then it is refused
// for a small network, or becomes a timetable that passes its check.
#include <cstdint>
#include <cstdlib>

#include "runtime/schedules/program.h"
#include "runtime/schedules/schedule.h"
#include "tests/fuzz/text.h"

namespace pareto::schedules {
namespace {

/// A stem, two branches and what joins them.
ScheduleRequest request_of(const Program& program) {
  return {.graph = {{{.kind = "aten::conv2d", .scope = "stem.0", .cost = 9, .output_bytes = 100},
                     {.kind = "aten::relu", .scope = "stem.1", .cost = 1, .after = {0}},
                     {.kind = "aten::conv2d", .scope = "block.a", .cost = 5, .after = {1}},
                     {.kind = "aten::avg_pool2d", .scope = "block", .cost = 2, .after = {1}},
                     {.kind = "aten::conv2d", .scope = "block.b", .cost = 0, .after = {3}},
                     {.kind = "aten::cat", .scope = "block", .cost = 1, .after = {2, 4}}}},
          .workers = 2,
          .batch = 16,
          .may_split = true,
          .program = to_json(program),
          .partial = true};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  for (const auto& program : {program_from_yaml(text, "fuzz.yaml"), program_from_json(text)}) {
    if (!program) continue;
    const auto again = program_from_json(to_json(*program));
    if (!again || *again != *program) std::abort();
    const ScheduleRequest request = request_of(*program);
    const auto timetable = make_program(request);
    if (timetable && !check(*timetable, request.graph)) std::abort();
  }
  return 0;
}

}  // namespace pareto::schedules
