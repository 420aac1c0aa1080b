#include "client/flags/runner_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "client/flags/known_names.h"
#include "client/flags/number_flags.h"
#include "client/flags/schedule_flag.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "runtime/shard_runner.h"

namespace pareto::client {
namespace {

constexpr const char* kPrecisionHelp =
    "number format of the computation: fp32, or bf16 if that is faster on a stage's device and "
    "within --max-error";
constexpr const char* kMaxErrorHelp =
    "largest error of a stage in bf16, against plain fp32 and relative to the largest output; a "
    "stage that is further off computes in fp32. An engine named by --engine is not checked";
constexpr const char* kThreadsHelp =
    "number of threads that a device uses for one request; 0: as each is set (threads in "
    "paretod.yaml)";

void add_precision(CLI::App& app, std::string& precision) {
  const Heading heading(app, "Computing");
  set_value(app.add_option("--precision", precision, kPrecisionHelp), "NAME", {"fp32", "bf16"})
      ->capture_default_str()
      ->check(check_one_value);
}

void add_max_error(CLI::App& app, std::string& max_error) {
  const Heading heading(app, "Computing");
  set_value(app.add_option("--max-error", max_error, kMaxErrorHelp), "PERCENT")
      ->capture_default_str();
}

}  // namespace

void add_engine(CLI::App& app, std::string& engine) {
  const Heading heading(app, "Computing");
  set_value(app.add_option("--engine", engine,
                           "engine that runs a shard: " + join(runtime::engine_names()) +
                               "; auto: the fastest on each device"),
            "NAME", engine_choices())
      ->capture_default_str();
}

void RunnerFlags::add_to(CLI::App& app) {
  add_engine(app, engine);
  add_precision(app, precision);
  const Heading heading(app, "Computing");
  set_value(app.add_option("--threads", threads, kThreadsHelp), "N")
      ->capture_default_str()
      ->check(check_one_value);
  add_max_error(app, max_error);
  add_schedule(app, schedule);
  app.get_option("--schedule")->check(check_one_value);
}

Expected<double> parse_max_error(const std::string& text) {
  if (text == kDefaultMaxErrorText) return 0.0;
  const bool percent = text.ends_with('%');
  const char* const end = text.data() + text.size() - (percent ? 1 : 0);
  double number = 0;
  const auto [at, status] = std::from_chars(text.data(), end, number);
  if (percent) number /= 100;
  if (status != std::errc() || at != end || !(number > 0 && number <= 1)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "--max-error {}: a share of the largest output is needed, above 0 and at most 1, as "
        "in 5% or 0.05",
        text);
  }
  return number;
}

Expected<plan::StageSettings> RunnerFlags::settings() const {
  const auto& names = runtime::engine_names();
  if (engine != "auto" && std::find(names.begin(), names.end(), engine) == names.end()) {
    return fail(ErrorCode::kInvalidArgument, "--engine {}: no such engine{}; there are auto, {}",
                engine, did_you_mean(engine, names), join(names));
  }
  if (threads < 0 || threads > plan::kMostThreads) {
    return fail(ErrorCode::kInvalidArgument, "--threads {}: 0 to {} are possible", threads,
                plan::kMostThreads);
  }
  PARETO_TRY(with_context(runtime::parse_precision(precision), "--precision"));
  PARETO_ASSIGN(const double share, parse_max_error(max_error));
  PARETO_ASSIGN(const std::string read, read_schedule(schedule));
  return plan::StageSettings{engine, precision, threads, share, read};
}

void RunnerLists::add_to(CLI::App& app, const std::string& use) {
  add_engine(app, engine);
  add_precision(app, precision);
  const Heading heading(app, "Computing");
  set_value(app.add_option("--threads", threads, kThreadsHelp + ("; " + use)), "LIST")
      ->capture_default_str();
  add_max_error(app, max_error);
  add_schedule(app, schedules, "LIST", "; " + use);
}

Expected<std::vector<plan::StageSettings>> RunnerLists::settings() const {
  const SettingLists lists{
      .threads = threads, .precisions = precision, .max_error = max_error, .schedules = schedules};
  PARETO_ASSIGN(const std::vector<control::ShardSettings> all, lists.read(engine));
  return std::vector<plan::StageSettings>(all.begin(), all.end());
}

void SettingLists::add_to(CLI::App& app) {
  const Heading heading(app, "Computing");
  const auto add = [&app](const char* flag, std::string& list, const std::string& help) {
    set_value(app.add_option(flag, list, help + "; of lists every combination is profiled"), "LIST")
        ->capture_default_str();
  };
  add("--batch", batches, "samples of a request");
  add("--threads", threads, kThreadsHelp);
  add("--precision", precisions, kPrecisionHelp);
  add_max_error(app, max_error);
  add_schedule(app, schedules, "LIST", "; of lists every combination is profiled");
}

Expected<std::vector<control::ShardSettings>> SettingLists::read(const std::string& engine) const {
  PARETO_ASSIGN(const std::vector<std::int64_t> each_batch, parse_batches(batches));
  std::vector<control::ShardSettings> all;
  for (const std::int64_t batch : each_batch) {
    for (const std::string& count : split_list(threads)) {
      PARETO_ASSIGN(const int number, parse_number(count, "--threads", 0));
      for (const std::string& precision : split_list(precisions)) {
        for (const std::string& schedule : split_list(schedules)) {
          const RunnerFlags flags{engine, precision, number, max_error, schedule};
          PARETO_ASSIGN(plan::StageSettings one, flags.settings());
          const control::ShardSettings settings{std::move(one), batch};
          if (std::ranges::find(all, settings) == all.end()) all.push_back(settings);
        }
      }
    }
  }
  if (!all.empty()) return all;
  const auto empty = [](const std::string& list) { return split_list(list).empty(); };
  return fail(ErrorCode::kInvalidArgument, "{} names none",
              empty(threads)      ? "--threads"
              : empty(precisions) ? "--precision"
                                  : "--schedule");
}

std::string check_one_value(const std::string& text) {
  if (text.find(',') == std::string::npos) return {};
  return text + ": one value is taken here; paretoctl profile takes several";
}

}  // namespace pareto::client
