#include "client/commands/planning.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/cluster/daemon_client.h"
#include "client/cluster/network.h"
#include "client/cluster/transport_choice.h"
#include "client/commands/progress.h"
#include "client/program.h"

namespace pareto::client {
namespace {

/// What every link can have where "auto" would give them different ones.
constexpr const char* kFarTransport = "tcp";

Planner::Progress shown_on(Progress& progress) {
  return [&](const std::string& now, std::size_t done, std::size_t total) {
    progress.show(done, total, now, now);
  };
}

}  // namespace

void PlanningFlags::add_to(CLI::App& app) {
  model.add_to(app);
  devices.add_to(app);
  runner.add_to(app);
  store.add_to(app);
  app.add_option("--splits", options.splits, "where plans may be cut: as sweep's")
      ->capture_default_str();
  app.add_option("--transport", transport,
                 "of all links: auto (the nearest that each can have), tcp, grpc, shm")
      ->capture_default_str();
  app.add_option("--batch", batch, "samples of a request")->capture_default_str();
  app.add_option("--local", local_devices, "daemons to start on this machine, without --devices")
      ->capture_default_str();
  app.add_option("--measured-cuts", options.measured_cuts,
                 "cuts whose two sides are timed on each device, the others lie between; 0: all")
      ->capture_default_str();
  app.add_flag("--fresh", options.fresh, "measure again what is kept of the devices");
}

Expected<> PlanningFlags::check() const {
  PARETO_TRY(runner.check());
  if (batch < 1) {
    return fail(ErrorCode::kInvalidArgument, "--batch {}: at least 1 is needed", batch);
  }
  if (local_devices < 1 || local_devices > 64) {
    return fail(ErrorCode::kInvalidArgument, "--local {}: 1 to 64", local_devices);
  }
  return {};
}

PlanningSession::PlanningSession(partitioner::Model model, Cluster cluster,
                                 std::unique_ptr<ResultStore> store)
    : model_(std::move(model)),
      cluster_(std::move(cluster)),
      store_(std::move(store)),
      workload_(model_),
      pool_(workload_) {}

PlanningSession::~PlanningSession() = default;

Expected<std::unique_ptr<PlanningSession>> PlanningSession::open(
    Context& context, const PlanningFlags& flags, std::vector<NamedCondition> conditions) {
  PARETO_TRY(flags.check());
  context.stop.watch();
  PARETO_ASSIGN(partitioner::Model model, flags.model.open());
  PARETO_TRY(partitioner::select_split_points(model.split_points(), flags.options.splits));
  PARETO_ASSIGN(Cluster cluster,
                flags.devices.connect(context, flags.local_devices, std::move(conditions)));
  if (Network* const network = cluster.network()) {
    PARETO_TRY(network->apply(network->resting_condition()));
  }
  PARETO_ASSIGN(auto store, flags.store.open(context));
  std::unique_ptr<PlanningSession> session(
      new PlanningSession(std::move(model), std::move(cluster), std::move(store)));
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < session->cluster_.size(); ++i) {
    devices.push_back(session->cluster_.device(i).config().name);
  }
  session->transport_ = flags.transport;
  if (flags.transport == kAutoTransport) {
    PARETO_ASSIGN(const auto nearest, nearest_transports(devices, session->cluster_));
    const bool one =
        std::ranges::adjacent_find(nearest, std::ranges::not_equal_to{}) == nearest.end();
    session->transport_ = one ? nearest.front() : kFarTransport;
  }
  PlanningOptions options = flags.options;
  options.settings = {flags.runner.engine, flags.runner.precision, flags.runner.threads,
                      flags.batch};
  session->planner_ = std::make_unique<Planner>(session->model_, session->cluster_, session->pool_,
                                                *session->store_, std::move(options));
  return session;
}

Expected<> PlanningSession::profile(Context& context) {
  const std::atomic<bool>& stop = context.stop.watch();
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  PARETO_TRY(planner_->profile(transport_, workload_, stop, shown_on(progress)));
  if (stop) return fail(ErrorCode::kClosed, "stopped; what was measured is kept");
  return {};
}

Expected<ProbedLinks> PlanningSession::probe(Context& context, const std::string& condition) {
  if (Network* const network = cluster_.network()) {
    PARETO_TRY(with_context(network->apply(condition), "network {}", condition));
  } else if (condition != Network::kNone) {
    return fail(ErrorCode::kInvalidArgument,
                "network {}: the network between these devices cannot be changed", condition);
  }
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  return planner_->probe(transport_, shown_on(progress));
}

}  // namespace pareto::client
