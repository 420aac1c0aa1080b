#include "client/commands/deploy_plans.h"

#include <unistd.h>

#include <utility>

#include "client/commands/control_lines.h"
#include "client/commands/run_cuts.h"
#include "client/commands/validation.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/failover/failover_opener.h"
#include "coordinator/profile/way_probe.h"
#include "coordinator/sweep/cut_chains.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::client::commands {

/// Opens the pipelines of a plan, which it checks first if that was not done.
class DeployPlans::Opener final : public load::PipelineOpener {
 public:
  Opener(DeployPlans& plans, cluster::NamedPlan named) : plans_(plans), named_(std::move(named)) {}
  Opener(DeployPlans& plans, const plan::Plan& checked)
      : plans_(plans), opener_(plans.opener_of(checked)) {}

  Expected<std::unique_ptr<load::StreamPipeline>> open() override {
    if (!opener_) {
      PARETO_ASSIGN(const plan::Plan plan, plans_.ready(named_));
      plans_.set_next(plan);
      const std::lock_guard lock(mutex_);
      opener_ = plans_.opener_of(plan);
    }
    if (hurried_) return fail(ErrorCode::kClosed, "nobody waits for it any more");
    return opener_->open();
  }
  void release_unused() override { plans_.pool_.unload_unused(); }
  void hurry() override {
    const std::lock_guard lock(mutex_);
    hurried_ = true;
    if (opener_) opener_->hurry();
  }

 private:
  DeployPlans& plans_;
  const cluster::NamedPlan named_;
  std::mutex mutex_;  ///< guards opener_ against hurry()
  std::unique_ptr<load::PipelineOpener> opener_;
  std::atomic<bool> hurried_{false};
};

void set_stream(const plan::Plan& plan, bool may_change, load::StreamOptions& stream) {
  const auto fitting = static_cast<int>(plan.stages.size() + plan.turn());
  stream.window = plan.window > 0 ? plan.window : fitting;
  stream.micro_batch = plan.is_cut() ? plan.message_batch() : 0;
  stream.first_stage = load::StreamOptions{}.first_stage;
  if (!plan.replicated && !may_change) {
    stream.first_stage = "stage 0 on " + plan.stages[0].device;
  }
}

std::string describe_plan(const plan::Plan& plan, int window) {
  return fmt::format("{} over {}, window {}",
                     counted(plan.stages.size(), plan.replicated ? "replica" : "stage"),
                     plan.transport_text(), window);
}

DeployPlans::DeployPlans(DeployParts parts, plan::Plan plan)
    : parts_(std::move(parts)), first_(plan), pool_(parts_.workload), current_(std::move(plan)) {}

std::unique_ptr<load::PipelineOpener> DeployPlans::opener() {
  return std::make_unique<Opener>(*this, first_);
}

Expected<transport::ProbeResult> DeployPlans::probe(const std::string& from, const std::string& to,
                                                    const std::string& transport,
                                                    transport::ProbeOptions options,
                                                    std::chrono::milliseconds limit) {
  std::vector<std::string> names{from, to};
  std::erase(names, "");
  PARETO_ASSIGN(const load::UseOfDevices use, load::UseOfDevices::begin(devices_, names));
  const bool from_here = from.empty();
  PARETO_ASSIGN(cluster::DaemonClient * device, parts_.cluster.find(from_here ? to : from));
  if (!from_here && !to.empty()) {
    PARETO_ASSIGN(cluster::DaemonClient * receiver, parts_.cluster.find(to));
    return profile::probe_between(*device, *receiver, transport, options, limit);
  }
  options.way = from_here ? transport::PingWay::kThere : transport::PingWay::kBack;
  return profile::probe_from_here(*device, transport, options, limit);
}

plan::Plan DeployPlans::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void DeployPlans::set_current(const plan::Plan& plan) {
  const std::lock_guard lock(mutex_);
  current_ = plan;
}

plan::Plan DeployPlans::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void DeployPlans::set_next(const plan::Plan& plan) {
  const std::lock_guard lock(mutex_);
  next_ = plan;
}

cluster::CodecChooser& DeployPlans::add_codecs() {
  const std::lock_guard lock(mutex_);
  return codecs_.emplace_back(parts_.codec_error);
}

std::unique_ptr<load::PipelineOpener> DeployPlans::opener_of(const plan::Plan& plan) {
  cluster::CodecChooser& codecs = add_codecs();
  const auto deployer = [this, &codecs](const plan::Plan& chosen) {
    cluster::DeploymentOptions options = parts_.deploying;
    options.codecs = &codecs;
    // They are times of the first plan's stages.
    if (chosen != first_) options.profiled_compute.clear();
    return std::make_unique<load::PlanDeployer>(chosen, parts_.cluster, pool_, devices_,
                                                std::move(options));
  };
  if (parts_.replanner == nullptr) return deployer(plan);
  const failover::Replanner& replanner = *parts_.replanner;
  return std::make_unique<failover::FailoverOpener>(
      plan, replanner.devices(),
      [&replanner](const std::set<std::string>& lost) { return replanner.without(lost); },
      parts_.cluster, pool_, devices_, deployer,
      [this](const plan::Plan& chosen, const std::set<std::string>& lost) {
        set_current(chosen);
        load::StreamOptions stream;
        set_stream(chosen, true, stream);
        parts_.watch.takes_over(describe_plan(chosen, stream.window), {lost.begin(), lost.end()});
      });
}

Expected<plan::Plan> DeployPlans::ready(cluster::NamedPlan named) {
  std::vector<std::string> names = named.plan.device_names();
  PARETO_TRY(load::find_again(names, parts_.cluster, pool_, devices_));
  PARETO_ASSIGN(const load::UseOfDevices use,
                load::UseOfDevices::begin(devices_, std::move(names)));
  PARETO_TRY(cluster::check_plan(named, parts_.model, parts_.cluster));
  if (named.plan.has_own_order()) {
    PARETO_TRY(validate(parts_.context, parts_.model, cuts_of(named.plan),
                        named.plan.message_batch(), std::nullopt));
  }
  return cluster::with_transports_named(std::move(named.plan), parts_.cluster);
}

Expected<load::SwitchReport> DeployPlans::change_to(cluster::NamedPlan named) {
  const std::lock_guard one_at_a_time(changing_);
  if (named.plan.batch != first_.batch) {
    return fail(ErrorCode::kInvalidArgument,
                "plan {}: its batch is {}, and that of the deployment {}; requests go on as they "
                "are",
                named.name, named.plan.batch, first_.batch);
  }
  load::SwitchRequest request;
  request.stream = parts_.stream;
  set_stream(named.plan, parts_.replanner != nullptr, request.stream);
  parts_.watch.changes_to(describe_plan(named.plan, request.stream.window) +
                          (named.plan.splits.empty() ? "" : ", " + join(named.plan.splits, "+")));
  request.opener = std::make_unique<Opener>(*this, named);
  PARETO_ASSIGN(load::SwitchReport report, desk_.ask(std::move(request)));
  set_current(next());
  return report;
}

Expected<plan::Plan> DeployPlans::with_cuts(const std::string& split) const {
  plan::Plan plan = current();
  PARETO_ASSIGN(const auto cuts, RunCuts(split).find(parts_.model, plan.batch));
  PARETO_ASSIGN(
      plan::Plan cut,
      with_context(sweep::plan_of_cuts(parts_.model, cuts, plan.device_names(), plan.batch, {}),
                   "--split {}", split));
  // A device keeps its settings.
  for (plan::StagePlan& stage : cut.stages) {
    for (const plan::StagePlan& before : plan.stages) {
      if (before.device == stage.device) stage.settings = before.settings;
    }
  }
  const std::string codec = plan.codecs.empty() ? "" : plan.codecs.front();
  const std::string transport = plan.transport_of(0);
  const std::size_t links = plan.links();
  plan.splits = std::move(cut.splits);
  plan.stages = std::move(cut.stages);
  plan.replicated = false;
  plan.codecs.clear();
  if (!codec.empty()) plan.codecs.assign(cuts.size(), codec);
  if (plan.links() != links) {
    plan.transports.clear();
    plan.transport = transport;
  }
  return plan;
}

nlohmann::ordered_json DeployPlans::describe() const {
  const plan::Plan plan = current();
  load::StreamOptions stream;
  set_stream(plan, true, stream);
  return {{"name", parts_.name},
          {"pid", ::getpid()},
          {"model", plan.model},
          {"plan", describe_plan(plan, stream.window)},
          {"splits", plan.splits},
          {"devices", plan.device_names()},
          {"epoch", parts_.watch.epoch()},
          {"up_s", to_seconds(std::chrono::steady_clock::now() - begun_)}};
}

Expected<nlohmann::ordered_json> DeployPlans::resplit(const nlohmann::json& question) {
  PARETO_ASSIGN(ResplitQuestion asked, resplit_question(question));
  cluster::NamedPlan named;
  if (asked.plan) {
    named = {"asked for", std::move(asked.plan->plan), std::move(asked.plan->source)};
  } else {
    PARETO_ASSIGN(named.plan, with_cuts(asked.split));
    named.name = "asked for";
  }
  PARETO_ASSIGN(const load::SwitchReport report, change_to(std::move(named)));
  nlohmann::ordered_json done = describe();
  done["opening_ms"] = to_milliseconds(report.opening);
  const auto add = [&](const char* name, const std::optional<Nanoseconds>& time) {
    done[name] = time ? nlohmann::ordered_json(to_milliseconds(*time)) : nlohmann::ordered_json();
  };
  add("gap_ms", report.gap);
  add("period_ms", report.period);
  add("latency_ms", report.latency);
  done["sent_again"] = report.sent_again;
  if (report.lost) done["lost"] = report.lost->message;
  return done;
}

}  // namespace pareto::client::commands
