#include "client/planning/trial_predictor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "client/cluster/network.h"
#include "client/cluster/transport_choice.h"
#include "client/cluster/workload.h"
#include "client/experiment/residual_model.h"
#include "client/experiment/window_search.h"
#include "client/planning/condition_links.h"
#include "partitioner/cost/compute_share.h"
#include "partitioner/cost/replay.h"

namespace pareto::client {
namespace {

/// Of the source's link, of those between devices, of the sink's.
struct Ends {
  std::string source;
  std::string between;
  std::string sink;
  auto operator<=>(const Ends&) const = default;
};

Ends ends_of(const Plan& plan) {
  const std::size_t last = plan.links() - 1;
  return {plan.transport_of(0), plan.transport_of(std::min<std::size_t>(1, last)),
          plan.transport_of(last)};
}

/// Of a window that is left open (0) a sweep takes the best, up to the largest.
int most_in_flight(int window) { return window > 0 ? window : kLargestWindow; }

/// Under a condition, over some transports.
struct CostModel {
  explicit CostModel(partitioner::CostInputs made) : inputs(std::move(made)), shares(inputs) {}

  partitioner::CostInputs inputs;
  partitioner::ComputeShares shares;
};

/// Trials of one batch.
///
/// Threads: one owner.
class BatchPredictor {
 public:
  BatchPredictor(const partitioner::Model& model, const Cluster& cluster, ResultStore& store,
                 PlanningOptions options, std::vector<TrialRecord*> trials, bool measures_all,
                 const std::atomic<bool>& stop)
      : model_(model),
        cluster_(cluster),
        workload_(model),
        pool_(workload_),
        planner_(model, cluster, pool_, store, std::move(options), stop),
        trials_(std::move(trials)),
        measures_all_(measures_all),
        stop_(stop) {}

  Expected<> run(const Planner::Progress& progress) {
    PARETO_TRY(put_to_rest(cluster_.network()));
    PARETO_ASSIGN(const LinkTransports any, transports_of(ends_of(trials_.front()->plan)));
    PARETO_TRY(planner_.profile(any, workload_, progress));
    std::set<std::string> conditions;
    for (const TrialRecord* trial : trials_) conditions.insert(trial->condition);
    for (const std::string& condition : conditions) {
      if (stop_) return stopped();
      PARETO_TRY(predict_under(condition, progress));
    }
    return put_to_rest(cluster_.network());
  }

 private:
  static tl::unexpected<Error> stopped() {
    return fail(ErrorCode::kClosed, "stopped before anything was predicted; profiles are kept");
  }

  Expected<> predict_under(const std::string& condition, const Planner::Progress& progress) {
    const auto definition = definition_of(condition);
    // One that cannot be had is left to measuring, which says so.
    if (!definition && !apply_condition(cluster_.network(), condition)) return {};
    std::map<Ends, CostModel> models;
    for (TrialRecord* trial : trials_) {
      if (trial->condition != condition) continue;
      const Ends ends = ends_of(trial->plan);
      if (!models.contains(ends)) {
        PARETO_ASSIGN(const auto links, links_under(condition, definition, ends, progress));
        PARETO_ASSIGN(partitioner::CostInputs made, planner_.cost_inputs(links));
        models.try_emplace(ends, std::move(made));
      }
      predict(*trial, models.at(ends));
    }
    return {};
  }

  /// One that says enough to do without probing; of the network at rest none is needed.
  std::optional<Condition> definition_of(const std::string& condition) const {
    const Network* const network = cluster_.network();
    if (network == nullptr || condition == network->resting_condition()) return std::nullopt;
    auto definition = network->definition(condition);
    return definition && is_predictable(*definition) ? definition : std::nullopt;
  }

  /// Over a slow network probing takes as long as measuring does, so that links are what the condition's definition makes of them at rest,
  /// where there is one.
  Expected<std::vector<ProbedTransport>> links_under(const std::string& condition,
                                                     const std::optional<Condition>& definition,
                                                     const Ends& ends,
                                                     const Planner::Progress& progress) {
    PARETO_ASSIGN(const LinkTransports transports, transports_of(ends));
    PARETO_ASSIGN(auto links, definition ? planner_.probe_at_rest(transports, *definition, progress)
                                         : planner_.probe(transports, condition, progress));
    // Devices are profiled over both ways of one transport; a plan has its own each way.
    keep_own(links, transports);
    return links;
  }

  /// Each link over the transport that it has in such plans, or, where it cannot have that and no such plan needs it, over the nearest.
  Expected<LinkTransports> transports_of(const Ends& ends) const {
    const std::size_t coordinator = cluster_.size();
    const std::string nearest(kAutoTransport);
    PARETO_ASSIGN(LinkTransports transports, link_transports({ends.between, nearest}, cluster_));
    PARETO_ASSIGN(LinkTransports sources, link_transports({ends.source, nearest}, cluster_));
    PARETO_ASSIGN(LinkTransports sinks, link_transports({ends.sink, nearest}, cluster_));
    transports[coordinator] = std::move(sources[coordinator]);
    for (std::size_t from = 0; from < coordinator; ++from) {
      transports[from][coordinator] = std::move(sinks[from][coordinator]);
    }
    for (auto& row : transports) {
      for (std::vector<std::string>& link : row) link.resize(std::min<std::size_t>(link.size(), 1));
    }
    return transports;
  }

  /// A trial that a device was seen to have no room for has failed, where not all are to be tried. One is left without a prediction where
  /// there may be none, or a link that it needs is not there: measuring says why.
  void predict(TrialRecord& trial, const CostModel& model) const {
    if (const auto failure = no_room_for(trial.plan)) {
      if (measures_all_) return;
      trial.status = TrialStatus::kFailed;
      trial.failure = *failure;
      trial.no_room = true;
      return;
    }
    const auto placement = placement_of(trial.plan, model_, planner_.splits(), planner_.devices());
    if (!placement) return;
    const auto evaluation = partitioner::evaluate(model.inputs, *placement);
    if (!evaluation) return;
    const auto share =
        model.shares.share_of(*placement, *evaluation, most_in_flight(trial.plan.window));
    if (!share) return;
    const PredictedThroughput throughput =
        predicted_throughput(model.inputs, *placement, *evaluation, trial.plan.window);
    Prediction prediction;
    prediction.latency_ms = to_milliseconds(evaluation->latency);
    prediction.samples_per_s = static_cast<double>(trial.batch) * throughput.batches_per_s;
    prediction.window = throughput.window;
    prediction.expected_latency_ms = prediction.latency_ms;
    prediction.expected_samples_per_s = prediction.samples_per_s;
    prediction.latency_deviation = ResidualScales().bias;
    prediction.throughput_deviation = ResidualScales().bias;
    prediction.latency_compute_share = share->latency;
    prediction.throughput_compute_share = share->throughput;
    trial.prediction = prediction;
  }

  /// Of the first device that has none; none: each may have it.
  std::optional<std::string> no_room_for(const Plan& plan) const {
    for (const StagePlan& stage : plan.stages) {
      for (const DeviceFacts& device : planner_.devices()) {
        if (device.profile.device != stage.device) continue;
        const OperatorRange* const range = device.profile.no_room_for(stage.begin, stage.end);
        if (range == nullptr) continue;
        return fmt::format(
            "{} had no room for operators {} to {} when it was profiled "
            "(paretoctl profile --fresh asks it again)",
            stage.device, range->begin, range->end);
      }
    }
    return std::nullopt;
  }

  const partitioner::Model& model_;
  const Cluster& cluster_;
  ModelWorkload workload_;
  ShardPool pool_;
  Planner planner_;
  const std::vector<TrialRecord*> trials_;
  const bool measures_all_;
  const std::atomic<bool>& stop_;
};

}  // namespace

PredictedThroughput predicted_throughput(const partitioner::CostInputs& inputs,
                                         const partitioner::Placement& placement,
                                         const partitioner::Evaluation& evaluation, int window) {
  if (partitioner::knows_jitter(inputs, placement)) {
    const auto replayed = window > 0 ? partitioner::replay(inputs, placement, window)
                                     : partitioner::replay_open(inputs, placement, kLargestWindow);
    if (replayed) return {replayed->throughput_per_s, replayed->window};
  }
  return {partitioner::at_window(evaluation, most_in_flight(window)).throughput_per_s(), window};
}

bool lacks_prediction(const TrialRecord& trial) {
  return is_predictable(trial) && !trial.prediction && !trial.no_room && trial.rounds.empty();
}

bool is_predictable(const TrialRecord& trial) {
  const Plan& plan = trial.plan;
  if (trial.codec != "none" || plan.micro_batch > 0) return false;
  for (std::size_t link = 2; link + 1 < plan.links(); ++link) {
    if (plan.transport_of(link) != plan.transport_of(1)) return false;
  }
  return true;
}

Expected<> predict_trials(const partitioner::Model& model, const Cluster& cluster,
                          ResultStore& store, const SweepOptions& options,
                          std::vector<TrialRecord>& trials, const std::atomic<bool>& stop,
                          const Planner::Progress& progress) {
  std::map<std::int64_t, std::vector<TrialRecord*>> batches;
  for (TrialRecord& trial : trials) {
    if (lacks_prediction(trial)) batches[trial.batch].push_back(&trial);
  }
  for (auto& [batch, members] : batches) {
    PlanningOptions planning;
    planning.splits = options.splits;
    planning.settings = {options.engine, options.precision, options.threads, batch};
    planning.seed = options.seed;
    planning.timeout = std::chrono::milliseconds(options.timeout_ms);
    BatchPredictor predictor(model, cluster, store, std::move(planning), std::move(members),
                             !options.adaptive, stop);
    PARETO_TRY(with_context(predictor.run(progress), "predicting batch {}", batch));
  }
  return {};
}

}  // namespace pareto::client
