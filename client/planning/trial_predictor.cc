#include "client/planning/trial_predictor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "client/cluster/deployment.h"
#include "client/cluster/network.h"
#include "client/cluster/workload.h"
#include "client/experiment/residual_model.h"
#include "client/experiment/window_search.h"
#include "client/planning/condition_links.h"
#include "client/planning/link_transports.h"
#include "client/planning/trial_links.h"
#include "core/base/text.h"
#include "partitioner/cost/compute_share.h"
#include "partitioner/cost/replay.h"

namespace pareto::client {
namespace {

/// Of a window that is left open (0) a sweep takes the best, up to the largest.
int most_in_flight(int window) { return window > 0 ? window : kLargestWindow; }

/// Under a condition.
struct CostModel {
  explicit CostModel(partitioner::CostInputs made) : inputs(std::move(made)), shares(inputs) {}

  partitioner::CostInputs inputs;
  partitioner::ComputeShares shares;
};

/// Trials that one planner knows.
///
/// Threads: one owner.
class GroupPredictor {
 public:
  GroupPredictor(const partitioner::Model& model, const Cluster& cluster, ResultStore& store,
                 PlanningOptions options, std::vector<TrialRecord*> trials,
                 const SweepOptions& sweep, const std::atomic<bool>& stop)
      : cluster_(cluster),
        workload_(model),
        pool_(workload_),
        planner_(model, cluster, pool_, store, std::move(options), stop),
        trials_(std::move(trials)),
        sweep_(sweep),
        stop_(stop) {}

  Expected<> run(const Planner::Progress& progress) {
    PARETO_TRY(put_to_rest(cluster_.network()));
    PARETO_ASSIGN(transports_, transports_of(trials_, cluster_));
    PARETO_TRY(planner_.profile(transports_, workload_, progress));
    // Named ones may lose anything.
    auto codecs =
        planner_.probe_codecs(codecs_of(trials_, sweep_.codec_error),
                              std::numeric_limits<double>::infinity(), workload_, progress);
    // Where a device lacks one, plans with codecs are left to measuring, which says so.
    if (!codecs && codecs.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(std::move(codecs).error());
    }
    if (codecs) codecs_ = *std::move(codecs);
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
    PARETO_ASSIGN(const auto links, links_under(condition, definition, progress));
    PARETO_ASSIGN(partitioner::CostInputs inputs, planner_.cost_inputs(links, codecs_));
    const CostModel model(std::move(inputs));
    for (TrialRecord* trial : trials_) {
      if (trial->condition == condition) predict(*trial, model);
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
                                                     const Planner::Progress& progress) {
    return definition ? planner_.probe_at_rest(transports_, *definition, progress)
                      : planner_.probe(transports_, condition, progress);
  }

  /// A trial that a device was seen to have no room for has failed, where not all are to be tried. One is left without a prediction where
  /// there may be none, or a link that it needs is not there: measuring says why.
  void predict(TrialRecord& trial, const CostModel& model) const {
    if (const auto failure = no_room_for(trial.plan)) {
      if (!sweep_.adaptive) return;
      trial.status = TrialStatus::kFailed;
      trial.failure = *failure;
      trial.no_room = true;
      return;
    }
    auto placement = planner_.placement_of(trial.plan);
    if (!placement) return;
    auto ways = ways_of(trial.plan, *placement, model.inputs, sweep_.codec_error);
    if (!ways) return;
    placement->codecs = *std::move(ways);
    const auto evaluation = partitioner::evaluate(model.inputs, *placement);
    if (!evaluation) return;
    const int messages = static_cast<int>(trial.plan.messages());
    const int window = trial.plan.window * messages;
    const auto share = model.shares.share_of(*placement, *evaluation, most_in_flight(window));
    if (!share) return;
    const Nanoseconds latency = latency_of_messages(*evaluation, trial.plan);
    const PredictedThroughput throughput =
        predicted_throughput(model.inputs, *placement, *evaluation, window);
    Prediction prediction;
    prediction.latency_ms = to_milliseconds(latency);
    prediction.samples_per_s =
        static_cast<double>(trial.plan.message_batch()) * throughput.messages_per_s;
    prediction.window = (throughput.window + messages - 1) / messages;
    if (trial.plan.window > 0) {
      // A request is sent when a whole one is back, and not for each message.
      const double whole = static_cast<double>(trial.plan.window * trial.batch);
      prediction.samples_per_s = std::min(prediction.samples_per_s, whole / to_seconds(latency));
    } else if (messages > 1 && prediction.window > 0) {
      ++prediction.window;
    }
    prediction.expected_latency_ms = prediction.latency_ms;
    prediction.expected_samples_per_s = prediction.samples_per_s;
    prediction.latency_deviation = ResidualScales().bias;
    prediction.throughput_deviation = ResidualScales().bias;
    prediction.latency_compute_share = share->latency;
    prediction.throughput_compute_share = share->throughput;
    trial.prediction = prediction;
  }

  /// Of the first device that has none; none: each may have it. What devices had no room for is known in the model's order.
  std::optional<std::string> no_room_for(const Plan& plan) const {
    if (plan.has_own_order()) return std::nullopt;
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

  const Cluster& cluster_;
  ModelWorkload workload_;
  ShardPool pool_;
  Planner planner_;
  const std::vector<TrialRecord*> trials_;
  const SweepOptions& sweep_;
  const std::atomic<bool>& stop_;
  LinkTransports transports_;
  ProbedCodecs codecs_;
};

/// Where they cut, for select_split_points; where none does, in the middle.
std::string splits_of(const std::vector<TrialRecord*>& trials) {
  std::vector<std::string> names;
  for (const TrialRecord* trial : trials) {
    for (const std::string& name : trial->plan.splits) add_once(names, name);
  }
  return names.empty() ? "percent:50" : join(names, ",");
}

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

Nanoseconds latency_of_messages(const partitioner::Evaluation& message, const Plan& plan) {
  // The last one may be smaller.
  const double messages =
      static_cast<double>(plan.batch) / static_cast<double>(plan.message_batch());
  return message.latency + from_nanoseconds((messages - 1) * to_nanoseconds(message.bottleneck));
}

bool lacks_prediction(const TrialRecord& trial) {
  return !trial.prediction && !trial.no_room && trial.rounds.empty();
}

Expected<> predict_trials(const partitioner::Model& model, const Cluster& cluster,
                          ResultStore& store, const SweepOptions& options,
                          std::vector<TrialRecord>& trials, const std::atomic<bool>& stop,
                          const Planner::Progress& progress) {
  // What shards are loaded with, and whether they have an order of their own.
  std::map<std::pair<ShardSettings, bool>, std::vector<TrialRecord*>> groups;
  for (TrialRecord& trial : trials) {
    if (!lacks_prediction(trial)) continue;
    groups[{shard_settings(trial.plan), trial.plan.has_own_order()}].push_back(&trial);
  }
  for (auto& [kind, members] : groups) {
    const auto& [settings, own_order] = kind;
    PlanningOptions planning;
    planning.splits = options.plans.empty() || own_order ? options.splits : splits_of(members);
    planning.cuts = own_order ? Cuts::kAuto : Cuts::kOrder;
    planning.settings = settings;
    planning.seed = options.seed;
    planning.timeout = std::chrono::milliseconds(options.timeout_ms);
    const std::string what = settings_text(settings);
    GroupPredictor predictor(model, cluster, store, std::move(planning), std::move(members),
                             options, stop);
    auto predicted = with_context(predictor.run(progress), "predicting {}", what);
    // What a device cannot do is told of the plans that want it, when they are measured.
    const bool is_theirs = !predicted && !options.plans.empty() &&
                           (predicted.error().code == ErrorCode::kNotFound ||
                            predicted.error().code == ErrorCode::kInvalidArgument);
    if (!is_theirs) PARETO_TRY(std::move(predicted));
  }
  return {};
}

}  // namespace pareto::client
