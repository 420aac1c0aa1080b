#include "client/commands/planning.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "client/commands/output_file.h"
#include "client/commands/progress.h"
#include "client/flags/inputs.h"
#include "client/flags/known_names.h"
#include "client/flags/number_flags.h"
#include "client/flags/pipeline_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/splits_flag.h"
#include "client/program.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/network.h"
#include "coordinator/results/disturbances.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/wire/codec.h"
#include "partitioner/planning/inputs/condition_links.h"

namespace pareto::client::commands {
namespace {

constexpr const char* kAllCodecs = "all";

/// Parses "tcp,grpc", "auto", each known and once. Fails: as parse_transports; kInvalidArgument (a
/// mix, which is of the links of one chain).
Expected<std::vector<std::string>> parse_link_transports(const std::string& text) {
  PARETO_ASSIGN(auto names, parse_transports(text));
  for (const std::string& name : names) {
    if (name.find('+') == std::string::npos) continue;
    return fail(ErrorCode::kInvalidArgument,
                "--transport {}: a mix is of the links of one chain; named with commas, each link "
                "gets the best of them",
                name);
  }
  return names;
}

/// Checks that a definition is added only to a network as it is, and to all that lies between two
/// devices.
Expected<> check_by_definition(const PlanningFlags& flags, const cluster::Cluster& cluster) {
  const cluster::Network* const network = cluster.network();
  if (!flags.by_definition || flags.devices.testbed.empty() || network == nullptr ||
      network->definition(cluster::Network::kNone)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "--by-definition: {} has several links between devices, or is up with a network of "
              "its own: leave --by-definition out, and it is probed as it is",
              flags.devices.testbed);
}

/// Adds all but those that say how shards run.
void add_common(CLI::App& app, PlanningFlags& flags) {
  flags.model.add_to(app);
  flags.devices.add_to(app, DeviceNeed::kMeasures);
  {
    const Heading heading(app, "Devices");
    set_value(app.add_option("--local", flags.local_devices,
                             "number of daemons to start on this machine, if no devices are named "
                             "(default: 2)"),
              "N")
        ->excludes(app.get_option("--devices"))
        ->excludes(app.get_option("--testbed"));
  }
  {
    const Heading heading(app, "Pipeline");
    add_splits(app, flags.options.splits, "try");
    set_value(app.add_option("--transport", flags.transport,
                             "transports of the links: tcp, grpc, shm; each link gets the best of "
                             "those named; auto: the nearest that it can have"),
              "LIST", transport_names())
        ->capture_default_str();
  }
  flags.store.add_to(app);
  const Heading heading(app, "Measuring");
  flags.timeout.add_to(app);
  set_value(app.add_option("--measured-cuts", flags.options.measured_cuts,
                           "number of cuts whose two sides are timed on each device; the times of "
                           "the others follow from them; 0: all"),
            "N")
      ->capture_default_str();
  app.add_flag("--fresh", flags.options.fresh, "measure again what is known of the devices");
}

}  // namespace

void PlanningFlags::add_to(CLI::App& app) {
  add_common(app, *this);
  runner.add_to(app, "of lists each device gets the best combination");
  const Heading heading(app, "Pipeline");
  set_value(app.add_option("--batch", batch_text,
                           "samples of a request (default: 1, or that of --input)"),
            "N")
      ->check(check_one_value);
}

void PlanningFlags::add_to(CLI::App& app, SettingLists& settings) {
  add_common(app, *this);
  add_engine(app, runner.engine);
  settings.add_to(app);
}

Expected<> PlanningFlags::read() {
  PARETO_TRY(runner.settings());
  if (!batch_text.empty()) {
    PARETO_ASSIGN(named_batches, parse_batches(batch_text));
  }
  if (local_devices && (*local_devices < 1 || *local_devices > 64)) {
    return fail(ErrorCode::kInvalidArgument, "--local {}: 1 to 64", *local_devices);
  }
  return {};
}

void CodecFlags::add_to(CLI::App& app, const std::string& use) {
  const Heading heading(app, "Pipeline");
  set_value(app.add_option("--codec", codecs,
                           use + ": " + join(codec_names({"none"})) +
                               "; all: those that lose nothing, and with --codec-error others. "
                               "They are timed here, on noise in the shapes of the timed cuts "
                               "(--measured-cuts), and scaled to each device's speed"),
            "LIST", codec_names({"none", "all"}))
      ->capture_default_str();
  set_value(app.add_option("--codec-error", error,
                           "loss that is accepted at any cut: mean difference of a tensor, as a "
                           "share of its largest magnitude (default: 0 for \"all\", any for codecs "
                           "that are named)"),
            "SHARE");
}

Expected<PlanCodecs> CodecFlags::read() const {
  if (error) PARETO_TRY(check_codec_error(*error));
  PlanCodecs read;
  if (codecs == kAllCodecs) {
    read.allowed_error = error.value_or(0);
    read.names = cluster::codecs_losing(read.allowed_error);
    return read;
  }
  PARETO_ASSIGN(read.names, parse_codecs(codecs));
  if (std::ranges::find(read.names, cluster::kAutoCodec) != read.names.end()) {
    return fail(ErrorCode::kInvalidArgument,
                "--codec {}: plan chooses itself: name the codecs that it may choose from, or {}",
                codecs, kAllCodecs);
  }
  read.allowed_error = error.value_or(std::numeric_limits<double>::infinity());
  return read;
}

PlanningSession::PlanningSession(model::Model model, cluster::Cluster cluster,
                                 std::unique_ptr<results::ResultStore> store)
    : model_(std::move(model)),
      cluster_(std::move(cluster)),
      store_(std::move(store)),
      workload_(model_),
      pool_(workload_),
      others_(cluster_) {
  others_.start();
}

PlanningSession::~PlanningSession() = default;

Expected<std::unique_ptr<PlanningSession>> PlanningSession::open(
    Context& context, PlanningFlags& flags, std::vector<cluster::NamedCondition> conditions) {
  PARETO_TRY(flags.read());
  PARETO_ASSIGN(const auto transports, parse_link_transports(flags.transport));
  PARETO_ASSIGN(const std::chrono::milliseconds timeout, flags.timeout.read());
  if (!flags.store.path.empty()) PARETO_TRY(check_writable("--store", flags.store.path));
  PARETO_ASSIGN(model::Model model, flags.model.open(context, flags.named_batches));
  PARETO_ASSIGN(const auto batches, batches_for(context, model, flags.named_batches));
  flags.batch = batches.front();
  PARETO_TRY(select_splits(context, model, flags.options.splits));
  DeviceFlags devices = flags.devices;
  if (!flags.local_devices) devices.settle(context);
  PARETO_ASSIGN(
      cluster::Cluster cluster,
      devices.connect(context, flags.local_devices.value_or(kLocalDevices),
                      flags.by_definition ? std::vector<cluster::NamedCondition>{} : conditions));
  PARETO_TRY(check_by_definition(flags, cluster));
  PARETO_TRY(cluster::put_to_rest(cluster.network()));
  PARETO_ASSIGN(auto store, flags.store.open(context));
  std::unique_ptr<PlanningSession> session(
      new PlanningSession(std::move(model), std::move(cluster), std::move(store)));
  session->leaving_ = std::make_unique<LeaveSoon>(
      context, kStopping, kExitFailed,
      [one = session.get()] { return one->probe_.or_hung(one->cluster_); });
  session->by_definition_ = flags.by_definition;
  session->conditions_ = std::move(conditions);
  PARETO_ASSIGN(session->transports_, profile::link_transports(transports, session->cluster_));
  profile::PlanningOptions options = flags.options;
  PARETO_ASSIGN(session->settings_, flags.runner.settings());
  session->batch_ = flags.batch;
  options.settings = {session->settings_.front(), flags.batch};
  options.timeout = timeout;
  session->profiler_ = std::make_unique<profile::Profiler>(
      session->model_, session->cluster_, session->pool_, *session->store_, std::move(options),
      context.stop.watch());
  return session;
}

Expected<> PlanningSession::profile(Context& context) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  PARETO_TRY(
      as_stopped(context, profiler_->profile(transports_, workload_, shown_on(progress, probe_))));
  if (context.stop.watch()) return fail(ErrorCode::kClosed, "{}", kStoppedProfiling);
  if (profiler_->measured_now()) return {};
  for (const std::string& doubt : profiler_->doubts()) profile::add_once(doubts_, doubt);
  return {};
}

Expected<std::vector<ProfiledDevices>> PlanningSession::profile_each(Context& context) {
  std::vector<ProfiledDevices> all;
  for (const plan::StageSettings& settings : settings_) {
    const control::ShardSettings used{settings, batch_};
    profiler_->use(used);
    auto profiled = profile(context);
    // A stop has nothing to do with the settings.
    if (settings_.size() > 1 && !context.stop.watch()) {
      profiled = with_context(std::move(profiled), "{}", profile::settings_text(used));
    }
    PARETO_TRY(std::move(profiled));
    all.push_back({settings, profiler_->devices()});
  }
  return all;
}

Expected<std::vector<planning::ProbedTransport>> PlanningSession::probe(
    Context& context, const std::string& condition) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  const auto defined = std::ranges::find(conditions_, condition, &cluster::NamedCondition::name);
  if (!by_definition_ || defined == conditions_.end()) {
    return as_stopped(context,
                      profiler_->probe(transports_, condition, shown_on(progress, probe_)));
  }
  return as_stopped(context, with_context(profiler_->probe_at_rest(transports_, defined->condition,
                                                                   shown_on(progress, probe_)),
                                          "network {}", condition));
}

Expected<planning::ProbedCodecs> PlanningSession::probe_codecs(Context& context,
                                                               const PlanCodecs& codecs) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  return as_stopped(context, profiler_->probe_codecs(codecs.names, codecs.allowed_error, workload_,
                                                     shown_on(progress, probe_)));
}

void PlanningSession::tell_of_doubts(Context& context) const {
  for (const std::string& doubt : doubts_) context.err << doubt << '\n';
}

void PlanningSession::tell_of_others(Context& context) {
  others_.finish();
  for (const results::Disturbance& busy : results::disturbances(others_.others())) {
    context.err << fmt::format("{}: {}\n", busy.where, busy.text);
  }
}

profile::Profiler::Progress shown_on(Progress& progress, ProbeInHand& probe) {
  return [&](const std::string& now, std::size_t done, std::size_t total) {
    probe.show(now, done < total);
    progress.show(done, total, now, now);
  };
}

}  // namespace pareto::client::commands
