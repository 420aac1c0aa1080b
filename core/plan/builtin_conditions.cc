#include "core/plan/builtin_conditions.h"

#include <algorithm>

#include "core/base/text.h"

namespace pareto::plan {
namespace {

const BuiltinCondition* find(std::string_view name) {
  const auto& all = builtin_conditions();
  const auto found = std::ranges::find(all, name, &BuiltinCondition::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const BuiltinCondition& one : builtin_conditions()) all.push_back(one.name);
  return all;
}

}  // namespace

bool is_builtin_condition(std::string_view name) { return find(name) != nullptr; }

Expected<Condition> open_condition(const std::string& name_or_file,
                                   const std::filesystem::path& folder) {
  if (const BuiltinCondition* const builtin = find(name_or_file)) {
    return parse_condition(std::string(builtin->text), builtin->name);
  }
  auto read = read_condition(folder / name_or_file);
  const bool looks_like_name = name_or_file.find_first_of("./") == std::string::npos;
  if (read || read.error().code != ErrorCode::kNotFound) return read;
  if (!looks_like_name) {
    const std::string name = std::filesystem::path(name_or_file).stem().string();
    if (find(name) == nullptr) return read;
    return fail(ErrorCode::kNotFound, "no such file: {}; \"{}\" alone is a network of this program",
                (folder / name_or_file).string(), name);
  }
  return fail(ErrorCode::kNotFound,
              "no network is called \"{}\"{}, and there is no such file; there are {}, or name a "
              "file (configs/network/wifi.yaml)",
              name_or_file, did_you_mean(name_or_file, names()), join(names()));
}

}  // namespace pareto::plan
