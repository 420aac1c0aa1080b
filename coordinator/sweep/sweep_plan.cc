#include "coordinator/sweep/sweep_plan.h"

#include <algorithm>
#include <set>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/plan/varied_settings.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/split_points.h"

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

/// Returns every ascending choice of `count` of `points`, in order.
void choose(const std::vector<std::size_t>& points, std::size_t count, std::size_t from,
            std::vector<std::size_t>& chosen, std::vector<std::vector<std::size_t>>& result) {
  if (chosen.size() == count) {
    result.push_back(chosen);
    return;
  }
  for (std::size_t i = from; i < points.size(); ++i) {
    chosen.push_back(points[i]);
    choose(points, count, i + 1, chosen, result);
    chosen.pop_back();
  }
}

/// Returns the number of those choices. It is exact below 2^53.
double choices(std::size_t points, std::size_t count) {
  if (count > points) return 0;
  double ways = 1;
  for (std::size_t i = 0; i < count; ++i) {
    ways = ways * static_cast<double>(points - i) / static_cast<double>(i + 1);
  }
  return ways;
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
  if (devices.size() < points.size() + 1) {
    return fail(ErrorCode::kInvalidArgument, "{} stages need as many devices; there are {}",
                points.size() + 1, devices.size());
  }
  plan::Plan plan;
  plan.model = model.name();
  plan.batch = batch;
  plan.window = options.window;
  plan.settings = options.settings;
  std::int64_t begin = 0;
  for (const std::size_t index : points) {
    const model::SplitPoint& point = model.split_points()[index];
    if (!point.legal) {
      return fail(ErrorCode::kInvalidArgument, "{} cannot be cut: {}", point.name, point.reason);
    }
    plan.splits.push_back(point.name);
    plan.stages.push_back({devices[plan.stages.size()], begin, point.position});
    begin = point.position;
  }
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  plan.stages.push_back({devices[plan.stages.size()], begin, end});
  return plan;
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
    std::vector<std::size_t> points;
    if (std::ranges::max(options_.stages) > 1) {
      PARETO_ASSIGN(points, model::select_split_points(model_, options_.splits));
    }
    PARETO_TRY(check_size(points.size()));
    for (const int stages : options_.stages) {
      if (stages == 1) continue;  // those plans follow in any case
      std::vector<std::vector<std::size_t>> chosen;
      std::vector<std::size_t> room;
      choose(points, static_cast<std::size_t>(stages - 1), 0, room, chosen);
      for (const std::vector<std::size_t>& cuts : chosen) PARETO_TRY(add(cuts, first(stages)));
    }
    for (const std::string& device : devices_) PARETO_TRY(add({}, {device}));
    return check_ids();
  }

 private:
  std::vector<std::string> first(int stages) const {
    return {devices_.begin(), devices_.begin() + stages};
  }

  /// Checks the number of trials before any is made.
  Expected<> check_size(std::size_t points) const {
    double trials = 0;
    for (const int stages : options_.stages) {
      if (stages == 1) continue;
      const auto cuts = static_cast<std::size_t>(stages - 1);
      if (cuts > points) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} stages need {} split points; \"{}\" selects {}", stages, cuts,
                    options_.splits, points);
      }
      PARETO_ASSIGN(const std::size_t kinds, kinds_of(first(stages)));
      trials += choices(points, cuts) * static_cast<double>(kinds * options_.codecs.size());
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

  Expected<> add(const std::vector<std::size_t>& points, const std::vector<std::string>& on) {
    // One device has no link between stages that a codec could change.
    static const std::vector<std::string> kNoCodec{"none"};
    for (const std::int64_t batch : options_.batches) {
      PARETO_ASSIGN(plan::Plan plan, make_plan(model_, points, on, batch, options_));
      PARETO_ASSIGN(const std::optional<results::SplitRecord> split, describe_split(model_, plan));
      for (const std::int64_t micro_batch : micro_batches_of(batch, options_.micro_batches)) {
        plan.micro_batch = micro_batch;
        PARETO_ASSIGN(const auto plans, over_transports(plan, options_.transports, cluster_));
        for (plan::Plan over : plans) {
          for (const std::string& codec : points.empty() ? kNoCodec : options_.codecs) {
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
