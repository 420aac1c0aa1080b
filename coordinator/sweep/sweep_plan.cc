#include "coordinator/sweep/sweep_plan.h"

#include <algorithm>
#include <set>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/cut_chains.h"
#include "core/base/text.h"
#include "core/plan/varied_settings.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::sweep {
namespace {

// A sweep of more trials is a typing error, or takes years.
constexpr int kMaxTrials = 100'000;

/// Returns the plan once for each of the requested transports that fits it, with a name. There may
/// be none.
Expected<std::vector<plan::Plan>> over_transports(const plan::Plan& plan,
                                                  const std::vector<std::string>& asked,
                                                  const cluster::Cluster& cluster) {
  std::vector<plan::Plan> plans;
  for (const std::string& text : asked) {
    PARETO_ASSIGN(const std::vector<std::string> mix, cluster::parse_transport_mix(text));
    auto fitted = cluster::fit_transports(mix, plan.links());
    if (!fitted) continue;
    plan::Plan over = plan;
    over.set_transports(*std::move(fitted));
    PARETO_ASSIGN(over, cluster::with_transports_named(std::move(over), cluster));
    const auto same = [&](const plan::Plan& other) {
      return other.transport_text() == over.transport_text();
    };
    if (std::ranges::none_of(plans, same)) plans.push_back(std::move(over));
  }
  return plans;
}

/// Returns the sizes that cut the batch, each once. 0 means the whole batch, for sizes that do not
/// cut it.
std::vector<std::int64_t> micro_batches_of(std::int64_t batch,
                                           const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t size : sizes) {
    const std::int64_t cuts = size < batch ? size : 0;
    if (std::ranges::find(fitting, cuts) == fitting.end()) fitting.push_back(cuts);
  }
  return fitting;
}

}  // namespace

Expected<plan::Plan> make_plan(const model::Model& model, const std::vector<std::size_t>& points,
                               const std::vector<std::string>& devices, std::int64_t batch,
                               const SweepOptions& options) {
  std::vector<model::Cut> cuts;
  for (const std::size_t index : points) {
    const model::SplitPoint& point = model.split_points()[index];
    if (!point.legal) {
      return fail(ErrorCode::kInvalidArgument, "{} cannot be cut: {}", point.name, point.reason);
    }
    cuts.push_back(model::cut_at(point));
  }
  return plan_of_cuts(model, cuts, devices, batch, options);
}

Expected<std::optional<results::SplitRecord>> describe_split(const model::Model& model,
                                                             const plan::Plan& plan) {
  if (plan.splits.empty()) return std::optional<results::SplitRecord>();
  results::SplitRecord record;
  record.name = join(plan.splits, "+");
  record.position = plan.stages.front().end;
  for (std::size_t i = 0; i < plan.splits.size(); ++i) {
    results::CutRecord cut;
    cut.name = plan.splits[i];
    cut.position = plan.stages[i].end;
    const plan::OperatorRanges before = plan.operators_of(i + 1).before;
    for (const plan::BoundaryValue& value : model::boundary(model.graph(), before)) {
      const std::vector<TensorSpec> tensors = tensors_of(value.spec);
      cut.boundary.insert(cut.boundary.end(), tensors.begin(), tensors.end());
    }
    PARETO_ASSIGN(cut.boundary_bytes, model::boundary_bytes(model.graph(), before, plan.batch));
    record.boundary.insert(record.boundary.end(), cut.boundary.begin(), cut.boundary.end());
    record.boundary_bytes += cut.boundary_bytes;
    record.cuts.push_back(std::move(cut));
  }
  return std::optional<results::SplitRecord>(std::move(record));
}

namespace {

/// Makes the trials of one sweep: layout (split points on devices) after layout, each multiplied by
/// everything that is varied.
///
/// Threads: one owner.
class TrialPlanner {
 public:
  TrialPlanner(const model::Model& model, const cluster::Cluster& cluster,
               const SweepOptions& options)
      : model_(model), cluster_(cluster), options_(options), settings_(options.all_settings()) {
    std::vector<plan::Plan> plans(settings_.size());
    std::vector<const plan::Plan*> compared;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      plans[i].settings = settings_[i];
      compared.push_back(&plans[i]);
    }
    varied_ = plan::VariedSettings(compared);
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      devices_.push_back(cluster.device(i).config().name);
    }
  }

  Expected<std::vector<results::TrialRecord>> plan() {
    std::vector<model::Cut> cuts;
    if (std::ranges::max(options_.stages) > 1) {
      PARETO_ASSIGN(cuts, planning::select_cuts(model_, options_.splits));
    }
    CutChains chains(std::move(cuts));
    PARETO_TRY(check_size(chains));
    for (const int stages : options_.stages) {
      if (stages == 1) continue;  // those plans follow in any case
      for (const std::vector<model::Cut>& chain : chains.of(static_cast<std::size_t>(stages - 1))) {
        PARETO_TRY(add(chain, first(stages)));
      }
    }
    for (const std::string& device : devices_) PARETO_TRY(add({}, {device}));
    return check_ids();
  }

 private:
  std::vector<std::string> first(int stages) const {
    return {devices_.begin(), devices_.begin() + stages};
  }

  /// Checks the number of trials before any is made.
  Expected<> check_size(CutChains& chains) const {
    double trials = 0;
    for (const int stages : options_.stages) {
      if (stages == 1) continue;
      const auto cuts = static_cast<std::size_t>(stages - 1);
      if (chains.number_of(cuts) == 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} stages need {} split points{}; \"{}\" selects {}", stages, cuts,
                    cuts > chains.size() ? "" : ", each behind the one before it", options_.splits,
                    chains.size());
      }
      PARETO_ASSIGN(const std::size_t kinds, kinds_of(first(stages)));
      trials += chains.number_of(cuts) * static_cast<double>(kinds * options_.codecs.size());
    }
    for (const std::string& device : devices_) {
      PARETO_ASSIGN(const std::size_t kinds, kinds_of({device}));
      trials += static_cast<double>(kinds);
    }
    if (trials <= kMaxTrials) return {};
    return fail(ErrorCode::kInvalidArgument,
                "that would be {} trials, more than {}: choose fewer split points or stages "
                "(--splits auto, percent:25,percent:50,percent:75), or have those plans predicted "
                "and measure their exact front (paretoctl plan --save-front FOLDER, then sweep "
                "--plans FOLDER)",
                trials < 1e15 ? fmt::format("{:.0f}", trials) : fmt::format("{:.1e}", trials),
                kMaxTrials);
  }

  /// Returns the number of trials of one layout on those devices with one codec.
  Expected<std::size_t> kinds_of(const std::vector<std::string>& on) const {
    std::size_t messages = 0;
    for (const std::int64_t batch : options_.batches) {
      messages += micro_batches_of(batch, options_.micro_batches).size();
    }
    plan::Plan plan;
    for (const std::string& device : on) plan.stages.push_back({device, 0, 0});
    PARETO_ASSIGN(const auto plans, over_transports(plan, options_.transports, cluster_));
    return messages * plans.size() * settings_.size() * options_.conditions.size();
  }

  Expected<> add(const std::vector<model::Cut>& cuts, const std::vector<std::string>& on) {
    // One device has no link between stages that a codec could change.
    static const std::vector<std::string> kNoCodec{"none"};
    for (const std::int64_t batch : options_.batches) {
      PARETO_ASSIGN(plan::Plan plan, plan_of_cuts(model_, cuts, on, batch, options_));
      PARETO_ASSIGN(const std::optional<results::SplitRecord> split, describe_split(model_, plan));
      for (const std::int64_t micro_batch : micro_batches_of(batch, options_.micro_batches)) {
        plan.micro_batch = micro_batch;
        PARETO_ASSIGN(const auto plans, over_transports(plan, options_.transports, cluster_));
        for (plan::Plan over : plans) {
          for (const std::string& codec : cuts.empty() ? kNoCodec : options_.codecs) {
            for (const plan::StageSettings& settings : settings_) {
              over.settings = settings;
              for (const std::string& file : options_.conditions) {
                add_one(over, split, codec, cluster::condition_name(file));
              }
            }
          }
        }
      }
    }
    return {};
  }

  void add_one(const plan::Plan& plan, const std::optional<results::SplitRecord>& split,
               const std::string& codec, const std::string& condition) {
    results::TrialRecord trial;
    trial.plan = plan;
    trial.split = split;
    if (codec != "none") trial.plan.codecs.assign(plan.splits.size(), codec);
    trial.transport = plan.transport_text();
    trial.codec = codec;
    trial.auto_codec = codec == cluster::kAutoCodec;
    trial.batch = plan.batch;
    trial.condition = condition;
    trial.id = fmt::format("{}/{}/b{}",
                           trial.split ? trial.split->name : "all-on:" + plan.stages.front().device,
                           trial.transport, trial.batch);
    if (plan.micro_batch > 0) trial.id += fmt::format("x{}", plan.micro_batch);
    if (codec != "none") trial.id += "/" + codec;
    trial.id += settings_part(plan);
    if (condition != "none") trial.id += "/" + condition;
    trials_.push_back(std::move(trial));
  }

  /// Returns "/threads:2/schedule:clusters": what tells a trial from those of other settings.
  std::string settings_part(const plan::Plan& plan) const {
    std::string text;
    const std::vector<std::string> names = varied_.names();
    const std::vector<std::string> values = varied_.texts(plan);
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("/{}:{}", names[i], values[i]);
    }
    std::ranges::replace(text, ' ', '-');
    return text;
  }

  Expected<std::vector<results::TrialRecord>> check_ids() {
    std::set<std::string> ids;
    for (const results::TrialRecord& trial : trials_) {
      if (!ids.insert(trial.id).second) {
        return fail(ErrorCode::kInvalidArgument, "the trial {} would be measured twice", trial.id);
      }
    }
    return std::move(trials_);
  }

  const model::Model& model_;
  const cluster::Cluster& cluster_;
  const SweepOptions& options_;
  const std::vector<plan::StageSettings> settings_;
  plan::VariedSettings varied_;  ///< settings that the trials differ in, and thus their ids
  std::vector<std::string> devices_;
  std::vector<results::TrialRecord> trials_;
};

}  // namespace

Expected<std::vector<results::TrialRecord>> plan_sweep(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options) {
  PARETO_TRY(check_sweep(options, cluster));
  if (!options.plans.empty()) return plan_given(model, cluster, options);
  return TrialPlanner(model, cluster, options).plan();
}

}  // namespace pareto::sweep
