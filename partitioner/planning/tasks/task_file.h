// Files of tasks: which models, how many of each, when they come and by when they should be done.
// Format: partitioner/planning/tasks/FORMAT.md.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "partitioner/planning/tasks/task.h"

namespace pareto::tasks {

/// Checks the name of a model that a file says; the error tells what is wrong with it.
using ModelCheck = std::function<Expected<>(const std::string& name)>;

/// Reads a file of tasks. Files that it names are looked for in its folder. Fails: kNotFound,
/// kPermission, kInvalidArgument with file, line and nearest key, all that is wrong together.
Expected<TaskSet> read_tasks(const std::filesystem::path& path, const ModelCheck& check_model);
/// Reads the same from text. `name` stands for the file in errors.
Expected<TaskSet> parse_tasks(const std::string& text, const std::string& name,
                              const std::filesystem::path& folder, const ModelCheck& check_model);

}  // namespace pareto::tasks
