#include "client/flags/number_flags.h"

#include <algorithm>

#include "core/base/text.h"

namespace pareto::client {

Expected<std::vector<int>> parse_stages(const std::string& text) {
  std::vector<int> numbers;
  if (text == "auto") return numbers;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const int number, parse_number<int>(part, "--stages"));
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  }
  if (numbers.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--stages names no number; auto: as many as devices");
  }
  return numbers;
}

Expected<std::vector<std::int64_t>> parse_batches(const std::string& text) {
  std::vector<std::int64_t> batches;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const auto batch, parse_number<std::int64_t>(part, "--batch"));
    if (std::find(batches.begin(), batches.end(), batch) == batches.end()) batches.push_back(batch);
  }
  if (batches.empty()) return fail(ErrorCode::kInvalidArgument, "--batch names no batch size");
  return batches;
}

Expected<std::vector<std::int64_t>> parse_named_batches(const std::string& text) {
  if (text.empty()) return std::vector<std::int64_t>{};
  return parse_batches(text);
}

}  // namespace pareto::client
