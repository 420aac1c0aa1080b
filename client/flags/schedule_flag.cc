#include "client/flags/schedule_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/schedule_json.h"
#include "core/plan/stage_settings.h"
#include "runtime/schedules/check_schedule.h"
#include "runtime/schedules/program.h"

namespace pareto::client {
namespace {

bool is_file(const std::string& text) {
  constexpr std::array<std::string_view, 3> kEndings{".yaml", ".yml", ".json"};
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return text.ends_with(ending); });
}

/// Reads a program. Its file is at most as large as a daemon takes one.
Expected<std::string> program_of_file(const std::string& path) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes > plan::kMostScheduleBytes) {
    return fail(ErrorCode::kInvalidArgument, "{} are more than the {} of a program",
                format_bytes(bytes), format_bytes(plan::kMostScheduleBytes));
  }
  PARETO_ASSIGN(const std::string content, read_file(path));
  PARETO_ASSIGN(const schedules::Program program,
                schedules::program_from_yaml(content, std::filesystem::path(path).filename()));
  return plan::canonical_schedule(schedules::to_json(program));
}

}  // namespace

void add_schedule(CLI::App& app, std::string& schedule, const std::string& value,
                  const std::string& more) {
  const Heading heading(app, "Computing");
  set_value(app.add_option("--schedule", schedule,
                           "way in which a device's threads share a shard: " +
                               join(schedules::schedule_choices()) +
                               "; or the file of a program of your own (.yaml, .json). auto: the "
                               "fastest on each device" +
                               more),
            value, schedules::schedule_choices())
      ->capture_default_str();
}

Expected<std::string> read_program(const std::string& path, const std::string& flag) {
  return with_context(program_of_file(path), "{} {}", flag, path);
}

Expected<std::string> read_schedule(const std::string& text, const std::string& flag) {
  if (is_file(text)) return read_program(text, flag);
  PARETO_TRY(with_context(schedules::check_schedule(text), "{} {}", flag, text));
  return text;
}

}  // namespace pareto::client
