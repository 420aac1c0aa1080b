#include "client/flags/sweep_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/command.h"
#include "client/flags/inputs.h"
#include "client/flags/known_names.h"
#include "client/flags/latency_flag.h"
#include "client/flags/network_flag.h"
#include "client/flags/number_flags.h"
#include "client/flags/pipeline_flags.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "coordinator/statistics/objective_figures.h"
#include "coordinator/sweep/accuracy_check.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/builtin_conditions.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client {
namespace {

// A sweep of more is adaptive unless told otherwise.
constexpr std::size_t kManyTrials = 60;

Expected<> at_least_one(const char* flag, int number) {
  if (number >= 1) return {};
  return fail(ErrorCode::kInvalidArgument, "{} {}: at least 1 is needed", flag, number);
}

/// Returns whether --network names a file, and not a network that has a name.
bool is_path(const std::string& network) {
  return is_condition_file(network) && !plan::is_builtin_condition(network);
}

}  // namespace

void SweepFlags::add_to(CLI::App& app) {
  what_.model.add_to(app, /*required=*/false);
  what_.devices.add_to(app, DeviceNeed::kMeasures);
  add_network_to(app);
  add_plans_to(app);
  pipeline_.add_to(app);
  runner_.add_to(app, "of lists every plan is measured by each combination");
  add_measuring_to(app);
  accuracy_.add_to(app);
  // A plan file says all of these itself.
  for (const char* flag : {"--splits", "--frontier", "--trainable", "--stages", "--transport",
                           "--codec", "--micro-batch", "--window", "--batch", "--engine",
                           "--precision", "--max-error", "--threads", "--schedule"}) {
    app.get_option("--plans")->excludes(app.get_option(flag));
  }
}

void SweepFlags::add_network_to(CLI::App& app) {
  const Heading heading(app, "Devices");
  set_value(
      app.add_option(
          "--network", networks_,
          "conditions of the network, by name (lte, wifi …) or by file (lte.yaml); none leaves it "
          "as it is. "
          "Between daemons on this machine they are emulated, which needs root; devices change "
          "their own network (netem_interface, allow_netem) (default: none, or the test bed's)"),
      "LIST", network_names({"none"}));
}

void SweepFlags::add_plans_to(CLI::App& app) {
  const Heading heading(app, "Plans");
  cuts_.add_to(app, what_.options.splits, "try");
  set_value(app.add_option("--stages", stages_,
                           "numbers of devices that a plan spans; auto: from 2 to all of them. "
                           "Plans on one device are always measured; 1: no others"),
            "LIST", {"auto"})
      ->capture_default_str();
  set_value(app.add_option("--batch", batches_, "batch sizes (default: 1, or that of --input)"),
            "LIST");
  set_value(app.add_option(
                "--plans", plans_,
                "plan files (plan --save-front) or folders of them, measured as they are in place "
                "of --splits and --stages. Files of one name are told apart by their folders: "
                "\"n20/1-all-on-pi\""),
            "LIST");
}

void SweepFlags::add_measuring_to(CLI::App& app) {
  const Heading heading(app, "Measuring");
  auto* adaptive = app.add_flag(
      "--adaptive", adaptive_,
      "predict every plan, and measure those that may be on the front until each is decided or "
      "the budget is spent (default for more than 60 plans, or with --budget)");
  auto* exhaustive = app.add_flag("--exhaustive", exhaustive_, "measure every plan in every round")
                         ->excludes(adaptive);
  set_value(app.add_option("--budget", budget_,
                           "measuring time of an adaptive sweep, as 90s, 5m or 1h (default: 5m)"),
            "DURATION")
      ->excludes(exhaustive);
  app.add_flag(
      "--predict", what_.options.predict,
      "predict every plan before it is measured, and say how far that was off; an adaptive "
      "sweep always does");
  set_value(app.add_option("--rounds", what_.options.rounds,
                           "number of rounds, each of which measures every plan once. An adaptive "
                           "sweep gives a plan as many as it needs, up to this number or 10"),
            "N")
      ->capture_default_str();
  set_value(app.add_option("--requests", what_.options.requests,
                           "largest number of requests that are measured for a plan and round; "
                           "fewer if they are slow"),
            "N")
      ->capture_default_str();
  set_value(
      app.add_option("--seed", what_.options.seed, "seed of the order of plans and the inputs"),
      "N")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  app.add_flag("--train", what_.options.train,
               "measure steps of training in place of requests: the latency is that of a step over "
               "the batch, in its micro-batches. Such a sweep is exhaustive");
  set_value(app.add_option("--loss", what_.options.loss,
                           "loss that --train trains by: " + join(model::zoo::loss_names()) +
                               ", or a TorchScript file"),
            "NAME|FILE.pt")
      ->capture_default_str();
  timeout_.add_to(app);
  set_value(app.add_option("--max-latency", max_latency_,
                           "latency that a plan should stay within, as 50ms: the front names the "
                           "most productive such plan, and the page draws a line (default: none)"),
            "DURATION");
  objectives_.add_to(app);
}

Expected<> SweepFlags::read() {
  sweep::SweepOptions& options = what_.options;
  PARETO_TRY(read_plans());
  PARETO_ASSIGN(options.more_settings, runner_.settings());
  options.settings = std::move(options.more_settings.front());
  options.more_settings.erase(options.more_settings.begin());
  PARETO_ASSIGN(options.transports, parse_transports(pipeline_.transport));
  PARETO_ASSIGN(options.codecs, parse_codecs(pipeline_.codec));
  PARETO_TRY(check_codec_error(pipeline_.codec_error));
  options.codec_error = pipeline_.codec_error;
  options.no_checksum = pipeline_.no_checksum;
  PARETO_ASSIGN(options.batches, parse_named_batches(batches_));
  PARETO_ASSIGN(options.micro_batches, parse_micro_batches(pipeline_.micro_batch));
  PARETO_ASSIGN(options.window, parse_window(pipeline_.window));
  PARETO_TRY(at_least_one("--requests", options.requests));
  PARETO_TRY(at_least_one("--rounds", options.rounds));
  PARETO_ASSIGN(options.stages, parse_stages(stages_));
  PARETO_TRY(read_networks());
  if (budget_) PARETO_TRY(read_budget());
  if (options.train && (adaptive_ || budget_)) {
    return fail(ErrorCode::kInvalidArgument,
                "--train measures every plan: leave out --adaptive and --budget; --predict says "
                "how far predicted steps were off");
  }
  PARETO_TRY(read_max_latency());
  PARETO_ASSIGN(what_.objectives, objectives_.read());
  PARETO_ASSIGN(options.accuracy, accuracy_.read());
  if (options.accuracy.data.empty() && std::ranges::count(what_.objectives, "accuracy") > 0) {
    return fail(ErrorCode::kInvalidArgument,
                "--objectives: accuracy is measured on labelled samples: name them with --dataset");
  }
  if (options.train && !options.accuracy.data.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--dataset with --train: the weights change with every step that is measured, so "
                "accuracy would be of the number of steps, and not of the plan. Leave --dataset "
                "out; paretoctl train --validate shows what a plan with codecs or bf16 learns");
  }
  PARETO_TRY(read_timeout());
  PARETO_ASSIGN(what_.testbed_content, what_.devices.testbed_content());
  return {};
}

Expected<> SweepFlags::take(const KeptFlags& kept) {
  const DeviceFlags devices = what_.devices;
  const std::string report = what_.report;
  what_ = kept;
  if (!report.empty()) what_.report = report;
  // It may be why trials failed.
  if (timeout_.timeout) PARETO_TRY(read_timeout());
  if (budget_) {
    if (!kept.options.adaptive) {
      return fail(
          ErrorCode::kInvalidArgument,
          "--budget {} with --resume: the run measures every plan in every round, however long "
          "that takes: leave --budget out",
          *budget_);
    }
    PARETO_TRY(read_budget());
  }
  // The same ones may be somewhere else by now.
  if (devices.are_shared()) what_.devices = devices;
  what_.devices.use = devices.use;
  PARETO_ASSIGN(what_.testbed_content, what_.devices.testbed_content());
  return {};
}

Expected<> SweepFlags::read_budget() {
  PARETO_ASSIGN(what_.options.budget_s, parse_budget(*budget_));
  return {};
}

Expected<> SweepFlags::keep_figures(const cluster::Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DeviceConfig& device = cluster.device(i).config();
    if (!device.figures.empty()) what_.figures[device.name] = device.figures;
  }
  if (what_.objectives.empty()) return {};
  PARETO_ASSIGN(const auto objectives, statistics::objectives_of_front(what_.objectives));
  for (const planning::Objective* const objective : objectives) {
    if (!objective->needs || std::ranges::any_of(what_.figures, [&](const auto& device) {
          return device.second.contains(objective->needs->key);
        })) {
      continue;
    }
    return fail(ErrorCode::kInvalidArgument,
                "--objectives: no device has a figure for {}: say \"{}\" next to each in the "
                "inventory",
                objective->name, objective->needs->example);
  }
  return {};
}

Expected<> SweepFlags::read_max_latency() {
  if (max_latency_.empty()) return {};
  PARETO_ASSIGN(what_.max_latency_ms, parse_max_latency(max_latency_));
  return {};
}

bool SweepFlags::is_adaptive(std::size_t trials) const {
  if (what_.options.train) return false;
  return adaptive_ || budget_ || (!exhaustive_ && trials > kManyTrials);
}

Expected<model::Model> SweepFlags::open_model(Context& context) {
  sweep::SweepOptions& options = what_.options;
  std::vector<std::int64_t> named = options.batches;
  for (const cluster::NamedPlan& one : options.plans) named.push_back(one.plan.batch);
  PARETO_ASSIGN(model::Model model, what_.model.open(context, named));
  PARETO_ASSIGN(named, batches_for(context, model, named));
  if (options.batches.empty()) options.batches = {named.front()};
  for (const cluster::NamedPlan& one : options.plans) PARETO_TRY(check_cut(model, one.plan));
  if (!options.accuracy.data.empty()) {
    // Before minutes of measuring.
    PARETO_TRY(with_context(sweep::AccuracyCheck::open(model, options.accuracy), "--dataset"));
  }
  plan::Plan cut;
  cut.settings = options.settings;
  for (const std::int64_t batch : options.batches) {
    for (const std::int64_t micro_batch : options.micro_batches) {
      cut.batch = batch;
      cut.micro_batch = micro_batch;
      PARETO_TRY(check_cut(model, cut));
    }
  }
  return model;
}

Expected<cluster::Cluster> SweepFlags::connect(const Context& context) const {
  PARETO_ASSIGN(cluster::Cluster cluster,
                what_.devices.connect(context, local_devices(), what_.conditions,
                                      {.names = cluster::device_names(what_.options.plans)}));
  PARETO_TRY(check_offered(cluster, what_.options.conditions));
  // What is sent before the first trial need not cross a slow network.
  PARETO_TRY(cluster::put_to_rest(cluster.network()));
  return cluster;
}

Expected<> SweepFlags::read_plans() {
  if (!plans_.empty()) {
    std::vector<cluster::NamedPlan>& plans = what_.options.plans;
    PARETO_ASSIGN(plans, with_context(cluster::read_plan_files(split_list(plans_)), "--plans"));
    if (plans.empty()) return fail(ErrorCode::kInvalidArgument, "--plans names none");
    what_.model.complete(cluster::source_of(plans.front()));
  }
  if (!what_.model.model.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "--model is missing (or --plans FILE, --resume RUN)");
}

Expected<> SweepFlags::read_networks() {
  PARETO_ASSIGN(networks_, networks_of(networks_, what_.devices));
  PARETO_ASSIGN(what_.conditions, read_conditions(networks_));
  what_.options.conditions.clear();
  for (const std::string& file : split_list(networks_)) {
    what_.options.conditions.push_back(is_path(file) ? absolute_path(file) : file);
  }
  return {};
}

Expected<> SweepFlags::read_timeout() {
  PARETO_ASSIGN(const auto timeout, timeout_.read());
  what_.options.timeout_ms = timeout.count();
  return {};
}

int SweepFlags::local_devices() const {
  const sweep::SweepOptions& options = what_.options;
  if (!options.plans.empty()) {
    return std::max(kLocalDevices, static_cast<int>(cluster::devices_named(options.plans)));
  }
  return options.stages.empty() ? kLocalDevices : std::ranges::max(options.stages);
}

std::vector<int> every_number_of_stages(std::size_t devices, std::size_t points) {
  std::vector<int> numbers;
  const std::size_t most = std::min(devices, points + 1);
  for (std::size_t number = 2; number <= most; ++number) {
    numbers.push_back(static_cast<int>(number));
  }
  return numbers.empty() ? std::vector<int>{1} : numbers;
}

}  // namespace pareto::client
