#include <algorithm>

#include "coordinator/data/data_set.h"

namespace pareto::data {

Expected<> check_same_classes(const DataSet& one, const DataSet& other) {
  const std::vector<std::string>& ours = one.class_names();
  const std::vector<std::string>& theirs = other.class_names();
  if (ours.empty() || theirs.empty() || ours == theirs) return {};
  const auto [at, there] = std::ranges::mismatch(ours, theirs);
  const auto name = [](auto place, auto end) {
    return place == end ? std::string("missing") : "\"" + *place + "\"";
  };
  return fail(
      ErrorCode::kInvalidArgument,
      "class {} is {} in {} and {} in {}: give both the same folders, or a classes.txt with "
      "the same lines",
      at - ours.begin(), name(at, ours.end()), one.title(), name(there, theirs.end()),
      other.title());
}

}  // namespace pareto::data
