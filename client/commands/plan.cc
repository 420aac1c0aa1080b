#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/leave_soon.h"
#include "client/commands/output_file.h"
#include "client/commands/plan_accuracy.h"
#include "client/commands/plan_objectives.h"
#include "client/commands/plan_training.h"
#include "client/commands/planning.h"
#include "client/commands/show.h"
#include "client/flags/accuracy_flags.h"
#include "client/flags/json_flag.h"
#include "client/flags/known_names.h"
#include "client/flags/latency_flag.h"
#include "client/flags/network_flag.h"
#include "client/report/plan_writer.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/profile/device_constraints.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/planning/outlook/choose.h"
#include "partitioner/planning/outlook/outlook.h"
#include "partitioner/planning/outlook/outlook_scenario.h"
#include "partitioner/planning/search/device_choices.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::client::commands {
namespace {

class PlanCommand final : public Command {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "predict the Pareto front from profiles and probes, without running requests";
  }
  std::string_view examples() const override {
    return "  paretoctl plan --model mobilenetv2\n"
           "  paretoctl plan --model resnet50 --devices inventory.yaml --max-latency 50ms "
           "--prefer throughput --save plan.json\n"
           "  paretoctl plan --model resnet50 --devices inventory.yaml --save-front front\n"
           "  paretoctl sweep --devices inventory.yaml --model resnet50 --plans front --predict\n"
           "  paretoctl plan --model resnet50 --devices inventory.yaml --transport tcp,grpc,shm "
           "--codec all\n"
           "  paretoctl plan --model vgg16 --devices inventory.yaml --codec none,fp16,int8 --also "
           "loss\n"
           "  paretoctl plan --model inceptionv3 --devices inventory.yaml --max-memory "
           "pi-1=256MiB,pi-2=256MiB\n"
           "  paretoctl plan --model inceptionv3 --devices inventory.yaml --threads 1,2 "
           "--schedule sequential,clusters\n"
           "  sudo paretoctl plan --model mobilenetv2 --testbed configs/testbed/two-pi4.yaml "
           "--network none,lte --all\n"
           "  paretoctl run --plan plan.json --devices inventory.yaml\n"
           "  paretoctl plan --model resnet50 --devices inventory.yaml --scenario fleet.yaml\n"
           "  paretoctl simulate fleet.yaml\n"
           "  paretoctl plan --train --model mobilenetv2 --batch 8 --micro-batch 2 --devices "
           "inventory.yaml\n";
  }
  void add_options(CLI::App& app) override {
    flags_.add_to(app);
    splits_named_ = app.get_option("--splits");
    codecs_.add_to(app);
    add_network_to(app);
    add_choice_to(app);
    add_search_to(app);
    accuracy_.add_to(app);
    add_results_to(app);
    training_.add_to(app);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once(kStoppedEarly);
    PARETO_ASSIGN(networks_, networks_of(networks_, flags_.devices));
    if (training_.is_wanted()) return training_.run(context, flags_, {networks_, save_, json_});
    PARETO_TRY(read_options());
    PARETO_TRY(check_outputs());
    PARETO_ASSIGN(const PlanCodecs codecs, codecs_.read());
    PARETO_ASSIGN(const sweep::AccuracyOptions dataset, accuracy_.read());
    PARETO_ASSIGN(const std::vector<cluster::NamedCondition> conditions,
                  read_conditions(networks_));
    PARETO_ASSIGN(const auto session, PlanningSession::open(context, flags_, conditions));
    options_.batch = flags_.batch;
    std::unique_ptr<PlanAccuracy> accuracy;
    if (!dataset.data.empty()) {
      PARETO_ASSIGN(accuracy, PlanAccuracy::open(session->model(), session->cluster(), dataset));
    }
    PARETO_ASSIGN(const profile::DeviceConstraints constraints,
                  profile::read_constraints(session->cluster(), max_memory_, first_, last_));
    for (const planning::Objective* const one : options_.also) {
      PARETO_TRY(check_figures(session->cluster(), *one));
    }
    if (!flags_.by_definition) {
      PARETO_TRY(check_offered(session->cluster(), split_list(networks_)));
    }
    PARETO_TRY(check_combinations(session->cluster().size(), session->settings().size()));
    PARETO_ASSIGN(const std::vector<ProfiledDevices> profiled, session->profile_each(context));
    PARETO_ASSIGN(planning::ProbedCodecs probed, session->probe_codecs(context, codecs));

    report::PlanReport report{session->model().name(),
                              profile::names_in(session->transports()),
                              probed.codecs,
                              flags_.batch,
                              options_.also,
                              prefer_,
                              known_objectives(session->cluster()),
                              options_.pairs,
                              {},
                              report::media_of(session->cluster())};
    planning::SettingsCosts costs;
    for (const std::string& network : split_list(networks_)) {
      const std::string condition = cluster::condition_name(network);
      PARETO_ASSIGN(const auto links, session->probe(context, condition));
      const auto look = [&]() -> Expected<planning::Outlook> {
        const planning::CutSpace& space = session->profiler().space();
        costs = {};
        for (const ProfiledDevices& by : profiled) {
          PARETO_ASSIGN(planning::CostInputs inputs, space.inputs_of(by.devices, links, probed));
          constrain(constraints, by.devices, inputs);
          costs.add(by.settings, std::move(inputs));
        }
        return look_ahead(space, costs, options_, condition);
      };
      const auto look_until_found = [&] {
        auto outlook = look();
        if (!outlook && outlook.error().code == ErrorCode::kExhausted &&
            session->profiler().cut_in_order(outlook.error().message)) {
          outlook = look();
        }
        return outlook;
      };
      auto outlook = look_until_found();
      while (outlook && accuracy) {
        PARETO_ASSIGN(auto judged, accuracy->judge(context, outlook->front, probed));
        if (judged) {
          report.accuracies.push_back(*std::move(judged));
          break;
        }
        outlook = look_until_found();
      }
      if (!outlook) return tl::unexpected(std::move(outlook).error());
      outlook->why_in_order = session->profiler().why_in_order();
      report.outlooks.push_back(*std::move(outlook));
    }
    if (accuracy) {
      report.left_out = accuracy->left_out();
      report.codecs = probed.codecs;
    }
    context.out << (json_ ? report::write_plan_json(report)
                          : report::write_plan_table(report, style_of(context)));
    session->tell_of_doubts(context);
    session->tell_of_others(context);
    if (!save_.empty()) PARETO_TRY(save(report.outlooks.front()));
    if (!save_front_.empty()) PARETO_TRY(save_front(report.outlooks.front()));
    if (!scenario_.empty()) PARETO_TRY(save_scenario(report.outlooks.front(), costs));
    tell_saved(context, report.outlooks.front());
    const bool all_chosen = std::ranges::all_of(
        report.outlooks, [](const planning::Outlook& one) { return one.chosen.has_value(); });
    return all_chosen ? kExitDone : kExitFailed;
  }

 private:
  void add_network_to(CLI::App& app) {
    const Heading heading(app, "Devices");
    set_value(app.add_option("--network", networks_,
                             "conditions of the network, by name (lte, wifi …) or by file, each "
                             "with a front of its own (default: none, or the test bed's)"),
              "LIST", network_names({"none"}));
    app.add_flag("--by-definition", flags_.by_definition,
                 "predict from the definitions of those conditions, and change no network. Delays "
                 "and rates count, jitter and loss do not. Not for test beds of several links, nor "
                 "for one that is up");
  }

  void add_choice_to(CLI::App& app) {
    const Heading heading(app, "Chosen plan");
    std::vector<std::string> preferences{"balanced", "latency", "throughput"};
    for (const std::string& name : searched_objective_names()) preferences.push_back(name);
    set_value(app.add_option("--max-latency", max_latency_,
                             "largest latency with the plan's requests in flight (the column ms "
                             "at W), as 50ms"),
              "DURATION");
    set_value(app.add_option("--min-throughput", options_.limits.samples_per_s,
                             "smallest throughput, in samples/s"),
              "RATE");
    set_value(app.add_option("--max-memory", max_memory_,
                             "memory that stages may take on a device, as pi-1=256MiB,pi-2=1GiB"),
              "LIST");
    set_value(app.add_option("--first", first_, "device that has to run the first stage"), "NAME",
              {"@devices"});
    set_value(app.add_option("--last", last_, "device that has to run the last stage"), "NAME",
              {"@devices"});
    set_value(app.add_option("--prefer", prefer_,
                             "figure that it is best in: balanced, latency, throughput, or what "
                             "--also names"),
              "NAME", preferences)
        ->capture_default_str();
  }

  void add_search_to(CLI::App& app) {
    const Heading heading(app, "Search");
    set_value(app.add_option(
                  "--also", also_,
                  "more objectives to keep small, next to latency and throughput: " + also_help()),
              "LIST", searched_objective_names());
    set_value(app.add_option("--cuts", cuts_,
                             "places of cuts. order: the --splits, in the model's order; ideals: "
                             "anywhere, with branches in any order (--splits are measured); auto: "
                             "ideals, or order if --splits are named or there are too many ideals"),
              "NAME", {"auto", "order", "ideals"})
        ->capture_default_str();
    set_value(app.add_option("--search", search_,
                             "method: exact; or, to compare it, labels or exhaustive (for small "
                             "models)"),
              "NAME", {"exact", "labels", "exhaustive"})
        ->capture_default_str();
    app.add_flag(
        "--all", options_.pairs,
        "show every plan of one and of two devices once, at its best window, and which plan "
        "beats it");
    app.add_flag("--no-replicas", no_replicas_,
                 "leave out plans in which devices take turns with the whole model");
  }

  void add_results_to(CLI::App& app) {
    const Heading heading(app, "Results");
    set_value(
        app.add_option("--save", save_, "file to write the chosen plan to, for run and sweep"),
        "FILE");
    set_value(app.add_option("--save-front", save_front_,
                             "folder to write every plan of the front to, for sweep --plans"),
              "FOLDER");
    set_value(app.add_option("--scenario", scenario_,
                             "YAML file to write the chosen plan and the measured times to, for "
                             "simulate; implies --no-replicas"),
              "FILE");
    add_json(app, json_);
  }

  Expected<> read_options() {
    PARETO_ASSIGN(flags_.options.cuts, read_cuts());
    PARETO_ASSIGN(options_.also, planning::parse_also(also_));
    PARETO_ASSIGN(options_.preference, planning::parse_preference(prefer_, options_.also));
    if (!max_latency_.empty()) {
      PARETO_ASSIGN(options_.limits.latency_ms, parse_max_latency(max_latency_));
    }
    PARETO_ASSIGN(options_.search, search::find_search(search_));
    // Pipelines are what is simulated.
    options_.replicas = !no_replicas_ && scenario_.empty();
    return {};
  }

  Expected<planning::Cuts> read_cuts() const {
    if (cuts_ == "auto")
      return splits_named_->count() > 0 ? planning::Cuts::kOrder : planning::Cuts::kAuto;
    if (cuts_ == "order") return planning::Cuts::kOrder;
    if (cuts_ == "ideals") return planning::Cuts::kIdeals;
    return fail(ErrorCode::kInvalidArgument, "--cuts {}: auto, order or ideals", cuts_);
  }

  /// Checks that the combinations of settings are not too many to search, before minutes of
  /// profiling.
  Expected<> check_combinations(std::size_t devices, std::size_t settings) const {
    const auto all = search::assignments(devices, settings);
    if (all) return {};
    return fail(ErrorCode::kInvalidArgument,
                "--threads {} with --schedule {}: {}, more than the {} that are searched: name "
                "fewer numbers of threads or schedules, or plan on fewer devices (--devices)",
                flags_.runner.threads, flags_.runner.schedules, all.error().message,
                search::kMostAssignments);
  }

  Expected<> check_outputs() const {
    for (const auto& [flag, path] : {std::pair("--save", &save_), {"--scenario", &scenario_}}) {
      PARETO_TRY(check_one_network(flag, *path));
      if (!path->empty()) PARETO_TRY(check_writable(flag, *path));
    }
    PARETO_TRY(check_one_network("--save-front", save_front_));
    return save_front_.empty()
               ? Expected<>()
               : with_context(cluster::make_plan_folder(save_front_), "--save-front");
  }

  Expected<> check_one_network(const char* flag, const std::string& file) const {
    const std::size_t networks = split_list(networks_).size();
    if (file.empty() || networks == 1) return {};
    return fail(ErrorCode::kInvalidArgument, "{} takes one plan: name one --network, not {}", flag,
                networks);
  }

  Expected<> save(const planning::Outlook& outlook) const {
    if (!outlook.chosen) {
      return fail(ErrorCode::kExhausted,
                  "--save {}: nothing was written, since no plan keeps the limits asked for",
                  save_);
    }
    return write_file_atomically(save_,
                                 plan::to_json(file_of(outlook.front[*outlook.chosen])) + "\n");
  }

  Expected<> save_front(const planning::Outlook& outlook) const {
    std::vector<plan::PlanFile> files;
    for (const planning::PlannedPoint& one : outlook.front) files.push_back(file_of(one));
    return cluster::write_plan_files(save_front_, files);
  }
  void tell_saved(Context& context, const planning::Outlook& outlook) const {
    if (!save_.empty()) context.err << "plan: " << save_ << '\n';
    if (!save_front_.empty()) {
      context.err << counted(outlook.front.size(), "plan") << " in " << save_front_ << '\n';
    }
    if (!scenario_.empty()) context.err << "scenario: " << scenario_ << '\n';
    context.err << std::flush;
  }
  plan::PlanFile file_of(const planning::PlannedPoint& one) const {
    return {one.plan, flags_.model.source()};
  }

  /// `costs`: the outlook's.
  Expected<> save_scenario(const planning::Outlook& outlook,
                           const planning::SettingsCosts& costs) const {
    PARETO_ASSIGN(const std::string text,
                  with_context(planning::scenario_text(outlook, costs, options_.batch),
                               "--scenario {}", scenario_));
    return write_file_atomically(scenario_, text);
  }

  PlanningFlags flags_;
  CodecFlags codecs_;
  AccuracyFlags accuracy_;
  PlanTraining training_;
  planning::OutlookOptions options_;
  std::string networks_;
  std::string also_;
  std::string max_latency_;
  std::string max_memory_;
  std::string first_;
  std::string last_;
  std::string cuts_ = "auto";
  const CLI::Option* splits_named_ = nullptr;
  std::string prefer_ = "balanced";
  std::string search_ = "exact";
  bool no_replicas_ = false;
  std::string save_;
  std::string save_front_;
  std::string scenario_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace pareto::client::commands
