#include "coordinator/sweep/training_predictor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/profile/link_prober.h"
#include "coordinator/profile/link_transports.h"
#include "coordinator/sweep/training_meter.h"
#include "coordinator/sweep/training_profile.h"
#include "coordinator/sweep/trial_links.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::sweep {
namespace {

constexpr std::uint64_t kCommandBytes = 1024;

bool is_predictable(const plan::Plan& plan) {
  if (plan.replicated || plan.has_own_order() || plan.has_own_settings()) return false;
  if (std::ranges::any_of(plan.codecs, [](const std::string& codec) { return codec != "none"; })) {
    return false;
  }
  std::vector<std::string> names = plan.device_names();
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

/// Subject of a profile: device, samples of a micro-batch, settings.
using ProfileKey = std::tuple<std::string, std::int64_t, plan::StageSettings>;

class TrainingPredictor {
 public:
  TrainingPredictor(const model::Model& model, const model::Model& loss,
                    const cluster::Cluster& cluster, const SweepOptions& options,
                    const std::atomic<bool>& stop, const profile::Profiler::Progress& progress)
      : model_(model),
        loss_(loss),
        cluster_(cluster),
        options_(options),
        stop_(stop),
        progress_(progress),
        workload_(model),
        pool_(workload_) {}

  Expected<> run(const std::vector<results::TrialRecord*>& trials) {
    PARETO_TRY(put_to_rest(cluster_.network()));
    PARETO_ASSIGN(transports_, transports_of(trials, cluster_));
    std::set<std::string> conditions;
    for (const results::TrialRecord* trial : trials) conditions.insert(trial->condition);
    const std::set<ProfileKey> keys = keys_of(trials);
    std::size_t probes = 0;
    for (const std::string& name : profile::names_in(transports_)) {
      probes += profile::probes_of(transports_, name);
    }
    total_ = keys.size() + conditions.size() * probes;
    for (const ProfileKey& key : keys) PARETO_TRY(profile(key, trials));
    for (const std::string& condition : conditions) {
      if (!cluster::apply_condition(cluster_.network(), condition)) continue;
      PARETO_TRY(with_context(probe(trials), "network {}", condition));
      for (results::TrialRecord* trial : trials) {
        if (trial->condition == condition) predict(*trial);
      }
    }
    progress_("probing", total_, total_);
    return put_to_rest(cluster_.network());
  }

 private:
  static std::set<ProfileKey> keys_of(const std::vector<results::TrialRecord*>& trials) {
    std::set<ProfileKey> keys;
    for (const results::TrialRecord* trial : trials) {
      for (const std::string& device : trial->plan.device_names()) {
        keys.emplace(device, trial->plan.message_batch(), trial->plan.settings);
      }
    }
    return keys;
  }

  void show(const std::string& now) { progress_(now, done_++, total_); }

  Expected<> profile(const ProfileKey& key, const std::vector<results::TrialRecord*>& trials) {
    const auto& [device, batch, settings] = key;
    std::vector<std::int64_t> cuts;
    for (const results::TrialRecord* trial : trials) {
      for (const plan::StagePlan& stage : trial->plan.stages) cuts.push_back(stage.begin);
    }
    show("profiling training on " + device);
    TrainingProfileRequest request;
    request.device = device;
    request.positions = profiled_positions(model_, cuts);
    request.batch = batch;
    request.settings = settings;
    request.timeout = std::chrono::milliseconds(options_.timeout_ms);
    PARETO_ASSIGN(
        TrainingProfile profile,
        with_context(profile_training(model_, loss_, request, cluster_, workload_, pool_, stop_),
                     "profiling training on {}", device));
    profiles_.emplace(key, std::move(profile));
    return {};
  }

  Expected<> probe(const std::vector<results::TrialRecord*>& trials) {
    std::uint64_t largest = kCommandBytes;
    for (const results::TrialRecord* trial : trials) {
      for (const plan::StagePlan& stage : trial->plan.stages) {
        PARETO_ASSIGN(
            const std::uint64_t bytes,
            model::boundary_bytes(model_.graph(), stage.begin, trial->plan.message_batch()));
        largest = std::max(largest, bytes);
      }
    }
    links_.clear();
    for (const std::string& name : profile::names_in(transports_)) {
      PARETO_ASSIGN(links_[name],
                    profile::probe_links(
                        cluster_, transports_, name, profile::probe_sizes(kCommandBytes, largest),
                        stop_, [&](const std::string& link) { show("probing " + link); }));
    }
    return {};
  }

  /// Returns what a message takes; no value if that link was not probed over that transport.
  std::optional<planning::LinkTimes> times_of(const std::string& transport, std::size_t from,
                                              std::size_t to, std::uint64_t bytes) const {
    const auto links = links_.find(transport);
    if (links == links_.end() || links->second[from][to].points.empty()) return std::nullopt;
    planning::LinkCosts link;
    link.measured = planning::link_points(links->second[from][to]);
    return planning::link_times(link, 0, 0, static_cast<std::int64_t>(bytes));
  }

  std::size_t place_of(const std::string& device) const {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      if (cluster_.device(i).config().name == device) return i;
    }
    return cluster_.size();
  }

  /// Returns the times of the link into a stage.
  std::optional<planning::TrainingLinkTimes> link_into(const plan::Plan& plan,
                                                       std::size_t stage) const {
    const auto bytes =
        model::boundary_bytes(model_.graph(), plan.stages[stage].begin, plan.message_batch());
    if (!bytes) return std::nullopt;
    const std::string& transport = plan.transport_of(stage);
    const std::size_t to = place_of(plan.stages[stage].device);
    const std::size_t from = stage == 0 ? cluster_.size() : place_of(plan.stages[stage - 1].device);
    const auto activations = times_of(transport, from, to, *bytes);
    // The coordinator hears of the end of a pass only; gradients have the size of what they are of.
    const auto there = times_of(transport, from, to, kCommandBytes);
    auto back = times_of(transport, to, from, stage == 0 ? kCommandBytes : *bytes);
    // A chain probes each way that it goes forward; a link is as fast both ways if nothing else is
    // known.
    if (!back) back = activations;
    if (!activations || !there) return std::nullopt;
    return planning::TrainingLinkTimes{*activations, *back, *there};
  }

  void predict(results::TrialRecord& trial) const {
    const plan::Plan& plan = trial.plan;
    planning::TrainingPipelineTimes times;
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const plan::StagePlan& stage = plan.stages[i];
      const TrainingProfile& profile =
          profiles_.at({stage.device, plan.message_batch(), plan.settings});
      times.stages.push_back(profile.between(stage.begin, stage.end));
      const auto link = link_into(plan, i);
      if (!link) return;
      times.links.push_back(*link);
    }
    const auto result =
        times_of(plan.transport_of(plan.links() - 1), place_of(plan.stages.back().device),
                 cluster_.size(), kCommandBytes);
    if (!result) return;
    times.result = *result;
    std::vector<double> shares;
    for (const std::int64_t size : training_sizes(plan)) {
      shares.push_back(static_cast<double>(size) / static_cast<double>(plan.message_batch()));
    }
    const Nanoseconds step = planning::training_step_time(times, measured_training().order, shares);
    results::Prediction prediction;
    prediction.latency_ms = to_milliseconds(step);
    prediction.samples_per_s = static_cast<double>(plan.batch) / to_seconds(step);
    prediction.window = static_cast<int>(plan.messages());
    prediction.expected_latency_ms = prediction.latency_ms;
    prediction.expected_samples_per_s = prediction.samples_per_s;
    trial.prediction = prediction;
  }

  const model::Model& model_;
  const model::Model& loss_;
  const cluster::Cluster& cluster_;
  const SweepOptions& options_;
  const std::atomic<bool>& stop_;
  const profile::Profiler::Progress& progress_;
  cluster::ModelWorkload workload_;
  cluster::ShardPool pool_;
  profile::LinkTransports transports_;
  std::map<ProfileKey, TrainingProfile> profiles_;
  std::map<std::string, planning::ProbedLinks> links_;  ///< links by transport, under one condition
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

Expected<> predict_training(const model::Model& model, const model::Model& loss,
                            const cluster::Cluster& cluster, const SweepOptions& options,
                            std::vector<results::TrialRecord>& trials,
                            const std::atomic<bool>& stop,
                            const profile::Profiler::Progress& progress) {
  std::vector<results::TrialRecord*> predictable;
  for (results::TrialRecord& trial : trials) {
    if (trial.rounds.empty() && !trial.prediction && is_predictable(trial.plan)) {
      predictable.push_back(&trial);
    }
  }
  if (predictable.empty()) return {};
  return TrainingPredictor(model, loss, cluster, options, stop, progress).run(predictable);
}

}  // namespace pareto::sweep
