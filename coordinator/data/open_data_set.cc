#include "coordinator/data/open_data_set.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace pareto::data {

std::string_view to_string(Part part) { return part == Part::kTrain ? "train" : "test"; }

Expected<Part> parse_part(std::string_view text) {
  for (const Part part : {Part::kTrain, Part::kTest}) {
    if (text == to_string(part)) return part;
  }
  return fail(ErrorCode::kInvalidArgument, "{} is no part of a data set; there are train and test",
              text);
}

Expected<std::unique_ptr<DataSet>> open_data_set(const std::string& spec,
                                                 const DataSetOptions& options) {
  const std::size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? std::string() : spec.substr(colon + 1);
  const auto kinds = builtin_data_sets();
  std::error_code absent;
  // A folder's name may have a colon, or be that of a kind.
  if (!std::filesystem::exists(spec, absent)) {
    std::vector<std::string> forms;
    std::vector<std::string> names;
    for (const DataSetKind& kind : kinds) {
      if (!kind.name.empty() && kind.name == name) return kind.open(rest, options);
      forms.emplace_back(kind.form);
      names.emplace_back(kind.name);
    }
    if (colon != std::string::npos || spec.empty()) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" is no data set{}; there are {}", spec,
                  did_you_mean(name, names), join(forms));
    }
  }
  return kinds.front().open(spec, options);
}

std::string with_absolute_path(const std::string& spec) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const std::size_t colon = spec.find(':');
  if (!spec.empty() && !fs::exists(spec, failed)) {
    for (const DataSetKind& kind : builtin_data_sets()) {
      if (kind.name.empty() || kind.name != spec.substr(0, colon)) continue;
      if (!kind.is_of_files || colon == std::string::npos || colon + 1 == spec.size()) return spec;
      return spec.substr(0, colon + 1) + fs::absolute(spec.substr(colon + 1), failed).string();
    }
  }
  return spec.empty() ? spec : fs::absolute(spec, failed).string();
}

}  // namespace pareto::data
