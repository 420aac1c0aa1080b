#include "core/plan/operator_ranges.h"

#include <fmt/format.h>

#include <algorithm>

namespace pareto::plan {

std::int64_t count_of(const OperatorRanges& ranges) {
  std::int64_t count = 0;
  for (const OperatorRange& range : ranges) count += range.end - range.begin;
  return count;
}

bool holds(const OperatorRanges& ranges, std::int64_t op) {
  const auto after = std::ranges::upper_bound(ranges, op, {}, &OperatorRange::begin);
  return after != ranges.begin() && op < (after - 1)->end;
}

OperatorRanges ranges_of(const std::vector<std::int64_t>& operators) {
  OperatorRanges ranges;
  for (const std::int64_t op : operators) {
    if (ranges.empty() || ranges.back().end != op) ranges.push_back({op, op});
    ++ranges.back().end;
  }
  return ranges;
}

std::vector<std::int64_t> operators_in(const OperatorRanges& ranges) {
  std::vector<std::int64_t> operators;
  for (const OperatorRange& range : ranges) {
    for (std::int64_t op = range.begin; op < range.end; ++op) operators.push_back(op);
  }
  return operators;
}

OperatorRanges united(OperatorRanges ranges) {
  std::ranges::sort(ranges);
  OperatorRanges all;
  for (const OperatorRange& range : ranges) {
    if (!all.empty() && range.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, range.end);
    } else {
      all.push_back(range);
    }
  }
  return all;
}

std::string to_string(const OperatorRanges& ranges) {
  std::string text;
  for (const OperatorRange& range : ranges) {
    text += fmt::format("{}[{}, {})", text.empty() ? "" : " ", range.begin, range.end);
  }
  return text;
}

OperatorRanges ShardOperators::with_own() const {
  OperatorRanges all = before;
  all.insert(all.end(), own.begin(), own.end());
  return united(std::move(all));
}

ShardOperators ShardOperators::between(std::int64_t begin, std::int64_t end) {
  ShardOperators operators;
  if (begin > 0) operators.before.push_back({0, begin});
  operators.own.push_back({begin, end});
  return operators;
}

}  // namespace pareto::plan
