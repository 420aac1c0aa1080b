#include "client/commands/plan_accuracy.h"

#include <algorithm>
#include <utility>

#include "client/commands/progress.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/load/lost_request.h"
#include "core/base/text.h"

namespace pareto::client::commands {
namespace {

/// Removes a codec from what was probed, if it is there.
void erase_codec(planning::ProbedCodecs& probed, const std::string& name) {
  const auto found = std::ranges::find(probed.codecs, name);
  if (found == probed.codecs.end()) return;
  const auto at = found - probed.codecs.begin();
  const auto erase = [at](std::vector<wire::CodecCost>& costs) {
    if (at < std::ssize(costs)) costs.erase(costs.begin() + at);
  };
  probed.codecs.erase(found);
  for (auto& costs : probed.crossing) erase(costs);
  erase(probed.standard);
  for (auto& costs : probed.on_devices) erase(costs);
}

std::string title_of(const plan::Plan& plan) {
  const std::string cuts =
      plan.splits.empty() ? "all on " + join(plan.device_names()) : join(plan.splits, "+");
  return plan.codecs.empty() ? cuts : cuts + " by " + cluster::codec_text(plan.codecs);
}

}  // namespace

PlanAccuracy::PlanAccuracy(const model::Model& model, const cluster::Cluster& cluster,
                           std::unique_ptr<sweep::AccuracyCheck> check)
    : cluster_(cluster), workload_(model), pool_(workload_), check_(std::move(check)) {}

Expected<std::unique_ptr<PlanAccuracy>> PlanAccuracy::open(const model::Model& model,
                                                           const cluster::Cluster& cluster,
                                                           const sweep::AccuracyOptions& options) {
  PARETO_ASSIGN(auto check, with_context(sweep::AccuracyCheck::open(model, options), "--dataset"));
  return std::unique_ptr<PlanAccuracy>(new PlanAccuracy(model, cluster, std::move(check)));
}

Expected<std::optional<std::vector<results::AccuracyFigures>>> PlanAccuracy::judge(
    Context& context, const std::vector<planning::PlannedPoint>& front,
    planning::ProbedCodecs& codecs) {
  std::vector<results::AccuracyFigures> figures;
  for (const planning::PlannedPoint& point : front) {
    results::TrialRecord trial;
    trial.plan = point.plan;
    trial.batch = point.plan.batch;
    trial.id = title_of(point.plan);
    PARETO_TRY(with_context(judge_one(context, trial), "{}", trial.id));
    judged_.push_back(trial);
    if (trial.status == results::TrialStatus::kRefused) {
      PARETO_TRY(leave_out(trial, codecs));
      return std::nullopt;
    }
    figures.push_back(*trial.accuracy);
  }
  return figures;
}

Expected<> PlanAccuracy::judge_one(Context& context, results::TrialRecord& trial) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  const auto say = [&](const std::string& now) {
    progress.show(judged_.size(), judged_.size() + 1, now, now);
  };
  if (!sweep::may_lose(trial.plan)) return check_->take_uncut(trial, say);
  // Samples need not cross a slow network.
  PARETO_TRY(cluster::put_to_rest(cluster_.network()));
  PARETO_ASSIGN(const plan::Plan plan, cluster::with_transports_named(trial.plan, cluster_));
  PARETO_ASSIGN(
      const auto deployment,
      with_context(cluster::Deployment::open(plan, cluster_, pool_, transports_), "deploying"));
  return check_->judge(trial, judged_, *deployment, load::kRequestTimeout, say);
}

Expected<> PlanAccuracy::leave_out(const results::TrialRecord& trial,
                                   planning::ProbedCodecs& codecs) {
  const std::string why = fmt::format("{}: {}", trial.id, trial.failure);
  const std::size_t before = codecs.codecs.size();
  std::vector<std::string> lossy;
  for (const std::string& codec : trial.plan.codecs) {
    plan::Plan alone;
    alone.codecs = {codec};
    if (sweep::may_lose(alone) && std::ranges::find(lossy, codec) == lossy.end()) {
      lossy.push_back(codec);
      erase_codec(codecs, codec);
    }
  }
  if (lossy.empty() || codecs.codecs.size() == before) {
    return fail(ErrorCode::kExhausted, "{}: plan with --precision fp32, or accept less", why);
  }
  if (codecs.codecs.empty()) {
    return fail(ErrorCode::kExhausted, "{}: no codec is left; add none to --codec", why);
  }
  left_out_.push_back(fmt::format("{}; plans by {} are left out", why, join(lossy, " or ")));
  return {};
}

}  // namespace pareto::client::commands
