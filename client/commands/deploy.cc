#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/deploy_control.h"
#include "client/commands/deploy_follow.h"
#include "client/commands/deploy_plans.h"
#include "client/commands/deploy_requests.h"
#include "client/commands/deploy_watch.h"
#include "client/commands/line_reader.h"
#include "client/commands/progress.h"
#include "client/commands/runtime_folder.h"
#include "client/commands/stop_requests.h"
#include "client/commands/validation.h"
#include "client/flags/device_flags.h"
#include "client/flags/inputs.h"
#include "client/flags/log_flags.h"
#include "client/flags/loss_flags.h"
#include "client/flags/metrics_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/pipeline_flags.h"
#include "client/flags/schedule_flag.h"
#include "client/flags/sharing_flags.h"
#include "client/flags/store_flags.h"
#include "client/flags/time_flags.h"
#include "client/program.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/failover/replanner.h"
#include "coordinator/load/lasting_stream.h"
#include "coordinator/profile/profiled_stages.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

namespace fs = std::filesystem;
using model::Model;

class DeployCommand final : public Command {
 public:
  std::string_view name() const override { return "deploy"; }
  std::string_view summary() const override {
    return "bring a plan's pipeline up and stream your own requests through it";
  }
  std::string_view examples() const override {
    return "  ls frames/*.npy | paretoctl deploy --plan plan.json --output results\n"
           "  paretoctl deploy --plan plan.json --devices inventory.yaml photo.npy other.npy\n"
           "  camera | paretoctl deploy --plan plan.json --json   # a name a line, as they come\n"
           "  camera | paretoctl deploy --plan plan.json --retry 10m --metrics 0.0.0.0:7074\n"
           "  camera | paretoctl deploy --plan plan.json --devices inventory.yaml --on-loss "
           "failover\n"
           "  paretoctl resplit --split after:features.7   # meanwhile, in another terminal\n"
           "  camera | paretoctl deploy --plan plan.json --devices inventory.yaml --follow\n"
           "  paretoctl deploy --plan plan.json --devices inventory.yaml --log answers.jsonl "
           "--requests names.txt\n"
           "  paretoctl deploy --plan plan.json --devices inventory.yaml --log answers.jsonl "
           "--requests names.txt --standby\n";
  }
  void add_options(CLI::App& app) override {
    set_value(app.add_option("--plan", plan_file_, "plan to deploy, as run --save-plan writes it"),
              "FILE")
        ->required();
    model_.add_to(app, /*required=*/false);
    devices_.add_to(app);
    add_schedule(app, schedule_, "NAME|FILE", " (default: as the plan says)");
    add_batch_range(app, batch_range_);
    add_stream_to(app);
    sharing_.add_to(app, /*deadlines=*/true);
    store_.add_to(app);
    metrics_.add_to(app);
    app.add_flag("--follow", follow_,
                 "measure the links while requests cross them, and change to another plan when it "
                 "is predicted to be better by 10 % and stays so; devices are to be profiled");
    set_value(app.add_option("--prefer", prefer_,
                             "aim of --follow: throughput, latency, or "
                             "balanced, their ratio"),
              "WHAT", {"throughput", "latency", "balanced"})
        ->needs(app.get_option("--follow"))
        ->capture_default_str();
    set_value(app.add_option("--name", name_,
                             "name by which resplit finds this deployment (default: that of the "
                             "plan's file)"),
              "NAME");
    set_value(app.add_option(
                  "files", files_,
                  "requests: .npy files, whose first dimension is the batch. The inputs of a model "
                  "that takes several are one word, separated by ';'. Without any, each line of "
                  "stdin is a request, until it ends or Ctrl-C"),
              "FILE");
    log_.add_to(app);
  }

  Expected<int> run(Context& context) override {
    const std::atomic<bool>& stop = context.stop.watch();
    // Until requests are taken there is nothing to be finished.
    context.stop.leave_at_once("stopped before it was ready");
    PARETO_TRY(check_codec_error(codec_error_));
    PARETO_ASSIGN(lasting_.stream.request_timeout, timeout_.read());
    PARETO_TRY(sharing_.check());
    PARETO_ASSIGN(lasting_.stream.deadline, sharing_.read_deadline());
    PARETO_TRY(loss_.read(/*own_daemons=*/false));
    PARETO_ASSIGN(const planning::Preference preference, planning::parse_preference(prefer_));
    PARETO_TRY(log_.check(files_));
    PARETO_ASSIGN(const FileDescriptor request_list, log_.open_requests());
    PARETO_ASSIGN(const auto range, parse_batch_range(batch_range_));
    PARETO_ASSIGN(cluster::NamedPlan named, cluster::read_plan_file(plan_file_));
    PARETO_TRY(take_schedule(named.plan));
    model_.complete(cluster::source_of(named));
    PARETO_ASSIGN(const Model model, model_.open(context, {named.plan.batch}));
    PARETO_TRY(check_cut(model, named.plan));
    PARETO_TRY(make_folder());
    const auto count = std::max<std::size_t>(cluster::devices_named({named}), 2);
    devices_.settle(context);
    NeededDevices needed;
    if (!loss_.is_failover() && !follow_) needed.names = cluster::device_names({named});
    PARETO_ASSIGN(StopRequests stops, StopRequests::of(context.stop.descriptor()));
    std::unique_ptr<load::AnswerLog> log;
    PARETO_ASSIGN(cluster::Cluster cluster,
                  connect(context, static_cast<int>(count), needed, named.plan, stops, log));
    if (log_.standby && log == nullptr) {
      context.err << log_.log << ": every request has its answer\n" << std::flush;
      return kExitDone;
    }
    PARETO_TRY(cluster::check_plan(named, model, cluster));
    PARETO_TRY(validate(context, model, cuts_of(named.plan), named.plan.message_batch(), range));
    PARETO_ASSIGN(const plan::Plan plan, cluster::with_transports_named(named.plan, cluster));
    const int input = request_list ? request_list.get() : context.input;
    PARETO_ASSIGN(LineReader lines, LineReader::of(input, stops.descriptor(), log_.growing));
    cluster::ModelWorkload workload(model);
    FileRequests requests(context, model, workload, plan.batch, output_, files_, std::move(lines),
                          stop);
    load::StreamTally tally;
    FileResults results(context, workload, requests, tally, output_, json_);
    if (log != nullptr) {
      requests.leave_out(log->before().answers);
      results.write_to(*log);
    }
    cluster::DeploymentOptions deploying;
    deploying.payload_checksum = !no_checksum_;
    deploying.weight = sharing_.weight;
    deploying.priority = sharing_.priority;
    deploying.deadlines = lasting_.stream.deadline > Nanoseconds(0);
    if (auto known = profiled(context, plan, model, cluster)) {
      deploying.profiled_compute = *std::move(known);
    } else if (!store_.path.empty()) {
      return tl::unexpected(std::move(known).error());
    } else {
      context.err << "what devices were profiled to take is not known: " << known.error().message
                  << '\n';
    }
    lasting_.stop = stops.descriptor();
    PARETO_ASSIGN(const LossPolicy policy, loss_.read(!cluster.local_pids().empty()));
    lasting_.retry = policy.retry;
    std::optional<failover::Replanner> replanner;
    const bool may_change = policy.on_loss == OnLoss::kFailover;
    if (may_change || follow_) {
      PARETO_ASSIGN(replanner, prepare_to_replan(context, plan, model, cluster,
                                                 may_change ? "--on-loss failover" : "--follow"));
    }
    set_stream(plan, may_change, lasting_.stream);
    DeployWatch watch(
        context.err, tally, plan.model,
        describe_plan(plan, lasting_.stream.window) + how_to_ask(context), [&] {
          context.stop.announce("stopping after the requests in flight; again to leave now");
        });
    PARETO_ASSIGN(const auto served, metrics_.serve(context, [&watch] { return watch.collect(); }));
    context.phase = Phase::kRunning;
    DeployPlans plans({.context = context,
                       .model = model,
                       .cluster = cluster,
                       .workload = workload,
                       .watch = watch,
                       .replanner = may_change ? &*replanner : nullptr,
                       .deploying = std::move(deploying),
                       .codec_error = codec_error_,
                       .stream = lasting_.stream,
                       .name = name_.empty() ? named.name : name_},
                      plan);
    const auto streamed = [&] {
      if (!follow_) return stream(context, plans, requests, results, watch);
      DeployFollow follow(context, model, plans, watch, *replanner, preference, results);
      return stream(context, plans, requests, follow, watch);
    }();
    if (!watch.was_open()) return tl::unexpected(streamed.error());
    finish(context, requests, results, tally, streamed);
    PARETO_TRY(end_log(log.get(), requests, tally, streamed.has_value() && !stop));
    const load::StreamTally::Counts counts = tally.counts();
    if (counts.failed + counts.not_sent > 0) return kExitPartial;
    return streamed ? kExitDone : kExitFailed;
  }

 private:
  /// Lets every stage run by the schedule that was named, if one was.
  Expected<> take_schedule(plan::Plan& plan) const {
    if (schedule_.empty()) return {};
    PARETO_ASSIGN(plan.settings.schedule, read_schedule(schedule_));
    for (plan::StagePlan& stage : plan.stages) {
      if (stage.settings) stage.settings->schedule = plan.settings.schedule;
    }
    return {};
  }

  void add_stream_to(CLI::App& app) {
    const Heading heading(app, "Requests and results");
    set_value(
        app.add_option("--codec-error", codec_error_,
                       "largest loss that a codec may cause, if the plan leaves the choice of "
                       "the codec open"),
        "SHARE")
        ->capture_default_str();
    timeout_.add_to(app);
    loss_.add_to(app);
    add_no_checksum(app, no_checksum_);
    set_value(app.add_option("--output", output_,
                             "folder for the results: a .npy file for each tensor, named as its "
                             "request"),
              "FOLDER");
    app.add_flag("--json", json_, "print one JSON object a line for each request on stdout");
  }

  /// Connects to the devices, and begins a term in the log if there is to be one.
  Expected<cluster::Cluster> connect(Context& context, int count, const NeededDevices& needed,
                                     const plan::Plan& plan, const StopRequests& stops,
                                     std::unique_ptr<load::AnswerLog>& log) {
    if (log_.log.empty()) return devices_.connect(context, count, {}, needed);
    const std::string digest = sha256(plan::to_json(plan)).hex();
    PARETO_ASSIGN(LoggedDevices logged, connect_with_log(context, devices_, count, needed, log_,
                                                         digest, [&stops] { stops.request(); }));
    log = std::move(logged.log);
    return std::move(logged.cluster);
  }

  /// Says in the log, if there is one, that all requests have their answers. Fails: as the log did,
  /// or the requests.
  static Expected<> end_log(load::AnswerLog* log, const FileRequests& requests,
                            const load::StreamTally& tally, bool came_to_its_end) {
    if (log != nullptr) {
      if (auto problem = log->problem()) return tl::unexpected(*std::move(problem));
    }
    if (auto problem = requests.problem()) return tl::unexpected(*std::move(problem));
    if (log == nullptr) return {};
    const bool all_taken = came_to_its_end && requests.came_to_end();
    if (!all_taken || tally.counts().not_sent > 0) return {};
    return log->end();
  }

  /// Returns what somebody at a terminal is to type, or nothing.
  std::string how_to_ask(const Context& context) const {
    if (!log_.requests.empty() || !files_.empty() || ::isatty(context.input) == 0) return {};
    return "\ntype .npy files, one request a line; Ctrl-D ends";
  }

  Expected<> make_folder() const {
    if (output_.empty()) return {};
    std::error_code error;
    fs::create_directories(output_, error);
    if (!error) return {};
    return tl::unexpected(error_from_errno(error.value(), "making the folder " + output_));
  }

  /// Returns what each stage takes by its device's profile; nothing where nothing is kept.
  Expected<std::vector<Nanoseconds>> profiled(Context& context, const plan::Plan& plan,
                                              const Model& model,
                                              const cluster::Cluster& cluster) const {
    std::error_code absent;
    if (!fs::exists(store_.file(context), absent)) return std::vector<Nanoseconds>{};
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    return profile::profiled_stages(plan, model, cluster, *store);
  }

  /// Returns what plans again, for that flag. Says which devices it cannot use.
  Expected<failover::Replanner> prepare_to_replan(Context& context, const plan::Plan& plan,
                                                  const Model& model,
                                                  const cluster::Cluster& cluster,
                                                  const char* flag) const {
    PARETO_ASSIGN(const auto store, store_.open_profiles(context, flag));
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    auto made = failover::Replanner::make(
        model, cluster, plan, *store, context.stop.watch(),
        [&](const std::string& link) { progress.show(0, 1, "probing links", "probing " + link); });
    PARETO_ASSIGN(failover::Replanner replanner, with_context(std::move(made), "{}", flag));
    if (!replanner.unknown().empty()) {
      context.err << fmt::format("not profiled, so not used by other plans: {}\n",
                                 join(replanner.unknown()));
    }
    return replanner;
  }

  /// Streams all requests. Others may ask for another plan meanwhile.
  Expected<> stream(Context& context, DeployPlans& plans, FileRequests& requests,
                    load::RequestSink& results, DeployWatch& watch) {
    lasting_.desk = &plans.desk();
    const auto opener = plans.opener();
    const auto control = DeployControl::open(control_file(runtime_folder(), ::getpid()), plans);
    if (!control) {
      context.err << "resplit cannot change it: " << control.error().message << '\n';
    }
    return run_lasting_stream(*opener, lasting_, requests, results, watch);
  }

  /// Accounts for what was not sent, and says how it ended.
  static void finish(Context& context, const FileRequests& requests, FileResults& results,
                     const load::StreamTally& tally, const Expected<>& streamed) {
    const Error stopped{ErrorCode::kClosed, "stopped"};
    std::uint64_t number = requests.taken();
    for (const std::string& file : requests.rest()) {
      load::StreamResult result;
      result.number = number++;
      result.name = file;
      result.outputs = tl::unexpected(streamed ? stopped : streamed.error());
      result.sent = false;
      results.done(std::move(result));
    }
    context.out.flush();
    if (!streamed) context.err << "paretoctl: " << streamed.error().message << '\n';
    context.err << tally.summary() << '\n' << std::flush;
  }

  ModelFlags model_;
  DeviceFlags devices_;
  std::string plan_file_;
  std::string name_;  ///< empty: the plan's
  bool follow_ = false;
  std::string prefer_ = "throughput";
  std::string schedule_;  ///< empty: as the plan says
  std::string batch_range_;
  double codec_error_ = 0;
  TimeoutFlag timeout_;
  SharingFlags sharing_;
  StoreFlags store_;
  LossFlags loss_;
  LogFlags log_;
  bool no_checksum_ = false;
  MetricsFlags metrics_;
  load::LastingOptions lasting_;
  std::string output_;
  std::vector<std::string> files_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_deploy_command() { return std::make_unique<DeployCommand>(); }

}  // namespace pareto::client::commands
