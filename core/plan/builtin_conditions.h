// The conditions of configs/network, built in, so that people can name them: --network wifi,
// `network: wifi`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/condition.h"

namespace pareto::plan {

struct BuiltinCondition {
  std::string name;       ///< "wifi"
  std::string_view text;  ///< text as in configs/network/wifi.yaml
};

/// Returns them in the order of their names.
const std::vector<BuiltinCondition>& builtin_conditions();

bool is_builtin_condition(std::string_view name);

/// Reads a condition by its name ("wifi"), otherwise from a file, which is looked for in `folder`.
/// Fails: kNotFound with the nearest names, and whatever read_condition returns.
Expected<Condition> open_condition(const std::string& name_or_file,
                                   const std::filesystem::path& folder = {});

}  // namespace pareto::plan
