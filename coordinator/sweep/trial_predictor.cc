#include "coordinator/sweep/trial_predictor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/window_search.h"
#include "coordinator/profile/device_constraints.h"
#include "coordinator/profile/link_transports.h"
#include "coordinator/profile/profile_doubt.h"
#include "coordinator/statistics/residual_model.h"
#include "coordinator/sweep/trial_links.h"
#include "core/base/text.h"
#include "partitioner/planning/cost/compute_share.h"
#include "partitioner/planning/cost/replay.h"
#include "partitioner/planning/frontiers/select_cuts.h"
#include "partitioner/planning/inputs/condition_links.h"

namespace pareto::sweep {
namespace {

/// Returns the most messages in flight. A sweep tries an open window (0) up to the largest.
int most_in_flight(int window) { return window > 0 ? window : load::kLargestWindow; }

/// Cost model under one condition.
struct CostModel {
  explicit CostModel(planning::CostInputs made) : inputs(std::move(made)), shares(inputs) {}

  planning::CostInputs inputs;
  planning::ComputeShares shares;
};

/// Trials that one profiler knows.
///
/// Threads: one owner.
class GroupPredictor {
 public:
  GroupPredictor(const model::Model& model, const cluster::Cluster& cluster,
                 results::ResultStore& store, profile::PlanningOptions options,
                 std::vector<results::TrialRecord*> trials, const SweepOptions& sweep,
                 const std::atomic<bool>& stop)
      : cluster_(cluster),
        workload_(model),
        pool_(workload_),
        profiler_(model, cluster, pool_, store, std::move(options), stop),
        trials_(std::move(trials)),
        sweep_(sweep),
        stop_(stop) {}

  Expected<> run(const profile::Profiler::Progress& progress) {
    PARETO_TRY(put_to_rest(cluster_.network()));
    PARETO_ASSIGN(transports_, transports_of(trials_, cluster_));
    PARETO_TRY(profiler_.profile(transports_, workload_, progress));
    // A codec that was named may cause any error.
    auto codecs =
        profiler_.probe_codecs(codecs_of(trials_, sweep_.codec_error),
                               std::numeric_limits<double>::infinity(), workload_, progress);
    // If a device lacks a codec, plans with codecs get no prediction; measuring reports why.
    if (!codecs && codecs.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(std::move(codecs).error());
    }
    if (codecs) codecs_ = *std::move(codecs);
    std::set<std::string> conditions;
    for (const results::TrialRecord* trial : trials_) conditions.insert(trial->condition);
    for (const std::string& condition : conditions) {
      if (stop_) return stopped();
      PARETO_TRY(predict_under(condition, progress));
    }
    return put_to_rest(cluster_.network());
  }

  /// Returns Profiler::doubts(), to be called after run().
  std::vector<std::string> doubts() const { return profiler_.doubts(); }

 private:
  static tl::unexpected<Error> stopped() {
    return fail(ErrorCode::kClosed, "stopped before anything was predicted; profiles are kept");
  }

  Expected<> predict_under(const std::string& condition,
                           const profile::Profiler::Progress& progress) {
    const auto definition = definition_of(condition);
    // A condition that cannot be applied gets no prediction; measuring reports why.
    if (!definition && !cluster::apply_condition(cluster_.network(), condition)) return {};
    PARETO_ASSIGN(const auto links, links_under(condition, definition, progress));
    PARETO_ASSIGN(planning::CostInputs inputs, profiler_.space().inputs(links, codecs_));
    profile::constrain(profile::owners_limits(cluster_), profiler_.devices(), inputs);
    const CostModel model(std::move(inputs));
    for (results::TrialRecord* trial : trials_) {
      if (trial->condition == condition) predict(*trial, model);
    }
    return {};
  }

  /// Returns the condition's definition, if it says enough to predict without probing. The network
  /// at rest needs none.
  std::optional<plan::Condition> definition_of(const std::string& condition) const {
    const cluster::Network* const network = cluster_.network();
    if (network == nullptr || condition == network->resting_condition()) return std::nullopt;
    auto definition = network->definition(condition);
    return definition && planning::is_predictable(*definition) ? definition : std::nullopt;
  }

  /// Returns the links under a condition. Over a slow network, probing takes as long as measuring.
  /// So links are computed from the condition's definition and the links at rest, if it has one.
  Expected<std::vector<planning::ProbedTransport>> links_under(
      const std::string& condition, const std::optional<plan::Condition>& definition,
      const profile::Profiler::Progress& progress) {
    return definition ? profiler_.probe_at_rest(transports_, *definition, progress)
                      : profiler_.probe(transports_, condition, progress);
  }

  /// Fills in a trial's prediction. A trial fails if a device has no room for it, unless all trials
  /// are to be tried. A trial has no prediction if there may be none, or if a link that it needs
  /// was not probed. Measuring then reports why.
  void predict(results::TrialRecord& trial, const CostModel& model) const {
    if (const auto failure = no_room_for(trial.plan)) {
      if (!sweep_.adaptive) return;
      trial.status = results::TrialStatus::kFailed;
      trial.failure = *failure;
      trial.no_room = true;
      return;
    }
    auto placement = profiler_.space().placement_of(trial.plan);
    if (!placement) return;
    auto ways = ways_of(trial.plan, *placement, model.inputs, sweep_.codec_error);
    if (!ways) return;
    placement->codecs = *std::move(ways);
    const auto evaluation = planning::evaluate(model.inputs, *placement);
    if (!evaluation) return;
    const int messages = static_cast<int>(trial.plan.messages());
    const int window = trial.plan.window * messages;
    const auto share = model.shares.share_of(*placement, *evaluation, most_in_flight(window));
    if (!share) return;
    const Nanoseconds latency = latency_of_messages(*evaluation, trial.plan);
    const PredictedThroughput throughput =
        predicted_throughput(model.inputs, *placement, *evaluation, window);
    results::Prediction prediction;
    prediction.latency_ms = to_milliseconds(latency);
    prediction.samples_per_s =
        static_cast<double>(trial.plan.message_batch()) * throughput.messages_per_s;
    prediction.window = (throughput.window + messages - 1) / messages;
    if (trial.plan.window > 0) {
      // The next request is sent when a whole one is back, and not after each message.
      const double whole = static_cast<double>(trial.plan.window * trial.batch);
      prediction.samples_per_s = std::min(prediction.samples_per_s, whole / to_seconds(latency));
    } else if (messages > 1 && prediction.window > 0) {
      ++prediction.window;
    }
    prediction.expected_latency_ms = prediction.latency_ms;
    prediction.expected_samples_per_s = prediction.samples_per_s;
    prediction.latency_deviation = statistics::ResidualScales().bias;
    prediction.throughput_deviation = statistics::ResidualScales().bias;
    prediction.latency_compute_share = share->latency;
    prediction.throughput_compute_share = share->throughput;
    prediction.doubted = is_doubted(trial.plan);
    trial.prediction = prediction;
  }

  /// Returns whether the profile of any of its devices is doubted.
  bool is_doubted(const plan::Plan& plan) const {
    const std::vector<std::string> names = plan.device_names();
    return std::ranges::any_of(profiler_.devices(), [&](const planning::DeviceFacts& device) {
      return std::ranges::count(names, device.profile.device) > 0 &&
             profile::is_doubted(device.profile);
    });
  }

  /// Returns an error text for the first device that has no room for its stage, if there is one.
  /// Profiles know this only for the model's order.
  std::optional<std::string> no_room_for(const plan::Plan& plan) const {
    if (plan.has_own_order()) return std::nullopt;
    for (const plan::StagePlan& stage : plan.stages) {
      for (const planning::DeviceFacts& device : profiler_.devices()) {
        if (device.profile.device != stage.device) continue;
        const plan::OperatorRange* const range = device.profile.no_room_for(stage.begin, stage.end);
        if (range == nullptr) continue;
        return fmt::format(
            "{} had no room for operators {} to {} when it was profiled "
            "(paretoctl profile --fresh asks it again)",
            stage.device, range->begin, range->end);
      }
    }
    return std::nullopt;
  }

  const cluster::Cluster& cluster_;
  cluster::ModelWorkload workload_;
  cluster::ShardPool pool_;
  profile::Profiler profiler_;
  const std::vector<results::TrialRecord*> trials_;
  const SweepOptions& sweep_;
  const std::atomic<bool>& stop_;
  profile::LinkTransports transports_;
  planning::ProbedCodecs codecs_;
};

/// Plans that one profiler may know.
struct Kind {
  control::ShardSettings settings;
  profile::DeviceSettings own_settings;
  bool own_order = false;
  auto operator<=>(const Kind&) const = default;
};

/// Returns no value for a plan that has a device run two stages by different settings: a device has
/// one profile. Such a plan is left to measuring.
std::optional<Kind> kind_of(const plan::Plan& plan) {
  Kind kind{{plan.settings, plan.message_batch()}, {}, plan.has_own_order()};
  if (!plan.has_own_settings()) return kind;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const plan::StageSettings& settings = plan.settings_of(i);
    const auto [known, is_new] = kind.own_settings.try_emplace(plan.stages[i].device, settings);
    if (!is_new && known->second != settings) return std::nullopt;
  }
  std::erase_if(kind.own_settings,
                [&](const auto& device) { return device.second == plan.settings; });
  return kind;
}

/// Returns the split points of the trials, for select_split_points(); if none of them cuts, the
/// middle.
std::string splits_of(const std::vector<results::TrialRecord*>& trials) {
  std::vector<std::string> names;
  for (const results::TrialRecord* trial : trials) {
    for (const std::string& name : trial->plan.splits) profile::add_once(names, name);
  }
  return names.empty() ? "percent:50" : join(names, ",");
}

}  // namespace

PredictedThroughput predicted_throughput(const planning::CostInputs& inputs,
                                         const planning::Placement& placement,
                                         const planning::Evaluation& evaluation, int window) {
  if (planning::knows_jitter(inputs, placement)) {
    const auto replayed = window > 0
                              ? planning::replay(inputs, placement, window)
                              : planning::replay_open(inputs, placement, load::kLargestWindow);
    if (replayed) return {replayed->throughput_per_s, replayed->window};
  }
  return {planning::at_window(evaluation, most_in_flight(window)).throughput_per_s(), window};
}

Nanoseconds latency_of_messages(const planning::Evaluation& message, const plan::Plan& plan) {
  // The last message may be smaller.
  const double messages =
      static_cast<double>(plan.batch) / static_cast<double>(plan.message_batch());
  return message.latency + from_nanoseconds((messages - 1) * to_nanoseconds(message.bottleneck));
}

bool lacks_prediction(const results::TrialRecord& trial) {
  return !trial.prediction && !trial.no_room && trial.rounds.empty();
}

Expected<std::vector<std::string>> predict_trials(
    const model::Model& model, const cluster::Cluster& cluster, results::ResultStore& store,
    const SweepOptions& options, std::vector<results::TrialRecord>& trials,
    const std::atomic<bool>& stop, const profile::Profiler::Progress& progress) {
  std::vector<std::string> doubts;
  std::map<Kind, std::vector<results::TrialRecord*>> groups;
  const bool of_frontiers =
      options.plans.empty() && std::ranges::count(split_list(options.splits), "frontiers") > 0;
  for (results::TrialRecord& trial : trials) {
    if (!lacks_prediction(trial)) continue;
    if (auto kind = kind_of(trial.plan)) {
      // All of them are cuts of ideals then, and those at positions share the profile.
      kind->own_order = kind->own_order || of_frontiers;
      groups[*std::move(kind)].push_back(&trial);
    }
  }
  for (auto& [kind, members] : groups) {
    const auto& [settings, own_settings, own_order] = kind;
    profile::PlanningOptions planning;
    planning.splits = options.plans.empty() || own_order ? planning::positions_among(options.splits)
                                                         : splits_of(members);
    planning.cuts = own_order ? planning::Cuts::kAuto : planning::Cuts::kOrder;
    planning.settings = settings;
    planning.own_settings = own_settings;
    planning.seed = options.seed;
    planning.timeout = std::chrono::milliseconds(options.timeout_ms);
    const std::string what = profile::settings_text(settings, own_settings);
    GroupPredictor predictor(model, cluster, store, std::move(planning), std::move(members),
                             options, stop);
    auto predicted = with_context(predictor.run(progress), "predicting {}", what);
    // Plans report what a device cannot do, when they are measured.
    const bool is_theirs = !predicted && !options.plans.empty() &&
                           (predicted.error().code == ErrorCode::kNotFound ||
                            predicted.error().code == ErrorCode::kInvalidArgument);
    if (!is_theirs) PARETO_TRY(std::move(predicted));
    for (const std::string& doubt : predictor.doubts()) profile::add_once(doubts, doubt);
  }
  return doubts;
}

}  // namespace pareto::sweep
