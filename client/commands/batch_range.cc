#include "client/commands/batch_range.h"

#include <vector>

#include "client/flags/number_flags.h"
#include "core/base/text.h"

namespace pareto::client::commands {

Expected<std::optional<BatchRange>> parse_batch_range(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::vector<std::string> ends = split_list(text, ':');
  BatchRange range;
  if (ends.size() == 2) {
    PARETO_ASSIGN(range.least, parse_number<std::int64_t>(ends[0], "--batch-range"));
    PARETO_ASSIGN(range.most, parse_number<std::int64_t>(ends[1], "--batch-range"));
  }
  if (ends.size() != 2 || range.least > range.most) {
    return fail(ErrorCode::kInvalidArgument,
                "--batch-range {}: the smallest and the largest batch are needed, as 1:64", text);
  }
  return range;
}

}  // namespace pareto::client::commands
