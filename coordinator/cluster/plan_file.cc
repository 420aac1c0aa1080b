#include "coordinator/cluster/plan_file.h"

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/named_cuts.h"
#include "partitioner/model/graph/split_points.h"
#include "runtime/schedules/check_schedule.h"
#include "runtime/shard_runner.h"

namespace pareto::cluster {
namespace {

namespace fs = std::filesystem;

/// A plan is a page; what is longer is something else.
constexpr std::uintmax_t kMostBytes = 16 << 20;

/// Returns what tells a plan from others, as a part of a file's name.
std::string file_name_of(const plan::Plan& plan) {
  constexpr std::size_t kLongest = 100;
  std::string name =
      plan.splits.empty() ? "all-on-" + join(plan.device_names(), "+") : join(plan.splits, "+");
  name.resize(std::min(name.size(), kLongest));
  std::ranges::replace(name, '/', '_');
  return name;
}

/// Lists the plans of a folder, by name.
Expected<std::vector<fs::path>> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) {
    return tl::unexpected(error_from_errno(error.value(), "reading the folder " + folder.string()));
  }
  std::ranges::sort(files);
  return files;
}

Expected<std::vector<fs::path>> files_of(const std::string& path) {
  if (std::error_code ignored; !fs::is_directory(path, ignored)) {
    return std::vector<fs::path>{path};
  }
  PARETO_ASSIGN(std::vector<fs::path> files, files_in(path));
  if (!files.empty()) return files;
  return fail(ErrorCode::kInvalidArgument, "{}: the folder holds no plan (*.json)", path);
}

fs::path folder_of(const fs::path& file) {
  return fs::absolute(file).lexically_normal().parent_path();
}

Expected<> check_devices(const plan::Plan& plan, const Cluster& cluster) {
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const auto found = with_context(cluster.find(plan.stages[i].device), "stage {}", i);
    if (found) continue;
    std::vector<std::string> there;
    for (std::size_t device = 0; device < cluster.size(); ++device) {
      there.push_back(cluster.device(device).config().name);
    }
    return fail(found.error().code,
                "{}; there are {}: name one of them in the plan, or others by --devices",
                found.error().message, join(there));
  }
  return {};
}

/// Checks a cut that no position of the model's order is.
Expected<> check_cut_of_sets(const plan::Plan& plan, std::size_t split,
                             const plan::OperatorRanges& before, const model::Model& model) {
  PARETO_TRY(with_context(model::check_cut(model.graph(), before),
                          "no cut after stage {} (operators {})", split, to_string(before)));
  const std::string name = model::cut_name(before);
  if (plan.splits[split] == name) return {};
  // It may have a name by modules, too.
  if (model::is_name_of_set(plan.splits[split])) {
    PARETO_ASSIGN(const model::Cut named,
                  model::find_cut(model.graph(), model.split_points(), plan.splits[split]));
    if (named.before == before) return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "stages 0 to {} run operators {}: that cut is called \"{}\", not \"{}\"", split,
              to_string(before), name, plan.splits[split]);
}

Expected<> check_cuts(const plan::Plan& plan, const model::Model& model) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  if (plan.stages.back().end != operators) {
    return fail(ErrorCode::kInvalidArgument, "its stages end at operator {}, the model {} at {}",
                plan.stages.back().end, model.name(), operators);
  }
  for (std::size_t i = 0; i < plan.splits.size(); ++i) {
    const plan::OperatorRanges before = plan.operators_of(i + 1).before;
    if (before.size() > 1 || before.front().begin > 0) {
      PARETO_TRY(check_cut_of_sets(plan, i, before, model));
      continue;
    }
    PARETO_ASSIGN(const std::vector<std::size_t> points,
                  model::select_split_points(model, plan.splits[i]));
    if (points.size() != 1) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" is {} split points, not one", plan.splits[i],
                  points.size());
    }
    const model::SplitPoint& point = model.split_points()[points.front()];
    if (point.position != plan.stages[i].end) {
      return fail(ErrorCode::kInvalidArgument,
                  "stage {} ends at operator {}, but \"{}\" lies at {}", i, plan.stages[i].end,
                  plan.splits[i], point.position);
    }
  }
  return {};
}

/// Checks the names in settings. `at`: the place of their keys, "stages[1].settings.".
Expected<> check_settings(const plan::StageSettings& settings, const std::string& at) {
  const std::vector<std::string>& engines = runtime::engine_names();
  if (settings.engine != "auto" && std::ranges::find(engines, settings.engine) == engines.end()) {
    return fail(ErrorCode::kNotFound, "{}engine: no engine \"{}\"{}; there are auto, {}", at,
                settings.engine, did_you_mean(settings.engine, engines), join(engines));
  }
  PARETO_TRY(with_context(runtime::parse_precision(settings.precision), "{}precision", at));
  return with_context(schedules::check_schedule(settings.schedule), "{}schedule", at);
}

Expected<> check_names(const plan::Plan& plan) {
  for (std::size_t link = 0; link < plan.links(); ++link) {
    PARETO_ASSIGN(const auto mix, parse_transport_mix(plan.transport_of(link)));
    if (mix.size() != 1) {
      return fail(ErrorCode::kInvalidArgument,
                  "transport \"{}\": a mix stands in a plan as \"transports\", one a link",
                  plan.transport_of(link));
    }
  }
  for (const std::string& codec : plan.codecs) PARETO_TRY(check_codec_name(codec));
  PARETO_TRY(check_settings(plan.settings, ""));
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (!plan.stages[i].settings) continue;
    PARETO_TRY(check_settings(*plan.stages[i].settings, fmt::format("stages[{}].settings.", i)));
  }
  return {};
}

Expected<> check(const plan::Plan& plan, const model::Model& model, const Cluster& cluster) {
  // A model from a file is called by the file's name, a plan may have the path.
  if (plan.model != model.name() && fs::path(plan.model).stem() != model.name()) {
    return fail(ErrorCode::kInvalidArgument,
                "it is a plan of the model {}, not of {}: name its model by --model, and plans of "
                "one model at a time",
                plan.model, model.name());
  }
  PARETO_TRY(check_names(plan));
  PARETO_TRY(check_cuts(plan, model));
  return check_devices(plan, cluster);
}

}  // namespace

Expected<NamedPlan> read_plan_file(const fs::path& path) {
  std::error_code unknown;
  const std::uintmax_t bytes = fs::file_size(path, unknown);
  if (!unknown && bytes > kMostBytes) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} are more than a plan has", path.string(),
                format_bytes(bytes));
  }
  PARETO_ASSIGN(const std::string text, read_file(path));
  PARETO_ASSIGN(plan::PlanFile file,
                with_context(plan::plan_file_from_json(text), "{}", path.string()));
  return NamedPlan{path.stem().string(), std::move(file.plan), std::move(file.source)};
}

plan::ModelSource source_of(const NamedPlan& named) {
  return named.source.value_or(plan::ModelSource{.model = named.plan.model});
}

Expected<std::vector<NamedPlan>> read_plan_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    PARETO_ASSIGN(const std::vector<fs::path> some, files_of(path));
    files.insert(files.end(), some.begin(), some.end());
  }
  std::vector<NamedPlan> plans;
  for (const fs::path& file : files) {
    PARETO_ASSIGN(NamedPlan named, read_plan_file(file));
    plans.push_back(std::move(named));
  }
  // Files of every front begin with 1-.
  std::map<std::string, std::set<fs::path>> folders;
  for (std::size_t i = 0; i < files.size(); ++i) {
    folders[plans[i].name].insert(folder_of(files[i]));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (folders[plans[i].name].size() > 1) {
      plans[i].name = folder_of(files[i]).filename().string() + "/" + plans[i].name;
    }
    if (!names.insert(plans[i].name).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: another plan is called \"{}\" too: call the file or its folder otherwise",
                  files[i].string(), plans[i].name);
    }
  }
  return plans;
}

Expected<> make_plan_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return tl::unexpected(error_from_errno(error.value(), "making the folder " + folder.string()));
  }
  PARETO_ASSIGN(const std::vector<fs::path> files, files_in(folder));
  if (files.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "{}: the folder holds plans already ({}): name another one, or take them away",
              folder.string(), files.front().filename().string());
}

Expected<> write_plan_files(const fs::path& folder, const std::vector<plan::PlanFile>& plans) {
  const std::size_t digits = std::to_string(plans.size()).size();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::string name =
        fmt::format("{:0{}}-{}.json", i + 1, digits, file_name_of(plans[i].plan));
    PARETO_TRY(write_file_atomically(folder / name, to_json(plans[i]) + "\n"));
  }
  return {};
}

std::vector<std::string> device_names(const std::vector<NamedPlan>& plans) {
  std::set<std::string> names;
  for (const NamedPlan& named : plans) {
    for (const plan::StagePlan& stage : named.plan.stages) names.insert(stage.device);
  }
  return {names.begin(), names.end()};
}

std::size_t devices_named(const std::vector<NamedPlan>& plans) {
  return device_names(plans).size();
}

Expected<> check_plan(const NamedPlan& named, const model::Model& model, const Cluster& cluster) {
  return with_context(check(named.plan, model, cluster), "plan {}", named.name);
}

}  // namespace pareto::cluster
