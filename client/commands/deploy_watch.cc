#include "client/commands/deploy_watch.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/control/pipeline_name.h"
#include "core/metrics/process_metrics.h"

namespace pareto::client::commands {

using metrics::Families;
using metrics::Family;
using metrics::Kind;

void DeployWatch::opened(load::StreamPipeline& pipeline, std::optional<Nanoseconds> after,
                         std::size_t again) {
  {
    const std::lock_guard lock(mutex_);
    pipeline_ = pipeline.number();
    up_ = true;
  }
  if (!after) {
    at_first_();
    err_ << fmt::format("ready: {}\n", ready_) << std::flush;
    return;
  }
  err_ << fmt::format("ready again after {:.1f} s; requests that are sent again: {}\n",
                      to_seconds(*after), again)
       << std::flush;
}

void DeployWatch::lost(const Error& error, Nanoseconds waits) {
  {
    const std::lock_guard lock(mutex_);
    up_ = false;
    ++losses_;
  }
  if (waits <= Nanoseconds(0)) return;
  err_ << fmt::format(
              "the pipeline is lost: {}; trying for up to {:g} s to open one again (--retry)\n",
              error.message, to_seconds(waits))
       << std::flush;
}

void DeployWatch::takes_over(const std::string& plan, const std::vector<std::string>& lost) {
  err_ << fmt::format("without {}: {}\n", join(lost), plan) << std::flush;
}

void DeployWatch::changes_to(const std::string& plan) {
  const std::lock_guard lock(mutex_);
  next_ = plan;
}

void DeployWatch::switched(load::StreamPipeline& pipeline, const load::SwitchReport& report) {
  std::string plan;
  {
    const std::lock_guard lock(mutex_);
    pipeline_ = pipeline.number();
    ++switches_;
    plan = next_;
  }
  std::string line =
      fmt::format("changed to {}: opened in {:.2f} s", plan, to_seconds(report.opening));
  if (report.gap) {
    line += fmt::format(", longest gap between results {:.1f} ms", to_milliseconds(*report.gap));
  }
  if (report.lost) {
    line += fmt::format("; the pipeline before was lost: {}; requests that were sent again: {}",
                        report.lost->message, report.sent_again);
  }
  err_ << line + "\n" << std::flush;
}

void DeployWatch::stayed(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    ++refused_;
  }
  err_ << fmt::format("not changed, the plan before goes on: {}\n", why.message) << std::flush;
}

std::uint64_t DeployWatch::epoch() const {
  const std::lock_guard lock(mutex_);
  return switches_ + 1;
}

std::uint64_t DeployWatch::open_pipeline() const {
  const std::lock_guard lock(mutex_);
  return up_ ? pipeline_ : 0;
}

Families DeployWatch::collect() const {
  Families families = metrics::process_metrics();
  const load::StreamTally::Counts counts = tally_.counts();
  const std::lock_guard lock(mutex_);
  families.push_back({"pareto_deploy_info",
                      "1, of the pipeline that is open, or was last",
                      Kind::kGauge,
                      {{{{"pipeline", control::pipeline_name(pipeline_)},
                         {"model", model_},
                         {"version", PARETO_VERSION}},
                        1,
                        {}}}});
  families.push_back(metrics::single("pareto_deploy_up", "1 while its pipeline is open",
                                     Kind::kGauge, up_ ? 1 : 0));
  families.push_back(metrics::single("pareto_deploy_pipelines_lost_total",
                                     "Pipelines that were lost with a device or a link",
                                     Kind::kCounter, static_cast<double>(losses_)));
  families.push_back(metrics::single("pareto_deploy_epoch",
                                     "Plans that took requests by changes, the first one included",
                                     Kind::kGauge, static_cast<double>(switches_ + 1)));
  Family switches{"pareto_deploy_switches_total",
                  "Changes to another plan that were asked for, by what became of them",
                  Kind::kCounter,
                  {}};
  switches.samples.push_back({{{"outcome", "made"}}, static_cast<double>(switches_), {}});
  switches.samples.push_back({{{"outcome", "refused"}}, static_cast<double>(refused_), {}});
  families.push_back(std::move(switches));
  Family requests{
      "pareto_deploy_requests_total", "Requests by what became of them", Kind::kCounter, {}};
  const auto add = [&](const char* outcome, std::uint64_t count) {
    requests.samples.push_back({{{"outcome", outcome}}, static_cast<double>(count), {}});
  };
  add("ok", counts.done);
  add("failed", counts.failed);
  add("not_sent", counts.not_sent);
  families.push_back(std::move(requests));
  families.push_back({"pareto_deploy_latency_seconds",
                      "From when a request's sending first began until its result was there",
                      Kind::kHistogram,
                      {{{}, 0, tally_.latencies()}}});
  return families;
}

}  // namespace pareto::client::commands
