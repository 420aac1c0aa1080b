#include "client/commands/deploy_follow.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include "client/commands/validation.h"
#include "core/base/text.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/planning/outlook/choose.h"

namespace pareto::client::commands {
namespace {

using failover::LinkReading;
using failover::LinkWay;

/// Time between two looks at the links: several times within SwitchRules::hold.
constexpr std::chrono::milliseconds kLookEvery{250};
/// A way of which nothing was heard for this time is probed.
constexpr std::chrono::seconds kIdleWay{3};
/// A way is not probed again for this many times of what the probe took: probes take no more than a
/// twelfth of a link.
constexpr int kProbeShare = 12;
/// The longest that connecting or probing may take: a change waits for it.
constexpr std::chrono::milliseconds kProbeLimit{2000};
/// Small enough for 10 Mbit/s to take 26 ms, so that a link that becomes faster is found within
/// seconds; large enough not to pass in a burst.
constexpr std::uint64_t kSmallProbeBytes = 4'096;
constexpr std::uint64_t kLargeProbeBytes = 32'768;
constexpr std::chrono::milliseconds kProbeBudget{50};
/// Results that are kept between two looks.
constexpr std::size_t kMostCrossings = 512;
/// A message that waited for a stage less than this share of its crossing was waited for.
constexpr int kWaitShare = 5;

/// Returns the bytes that a request of a plan takes on each link, if they travel as they are.
Expected<std::vector<std::uint64_t>> bytes_on_links(const plan::Plan& plan,
                                                    const model::Model& model) {
  std::vector<plan::OperatorRanges> before{{{0, 0}}};
  for (const plan::StagePlan& stage : plan.stages) before.push_back({{0, stage.end}});
  std::vector<std::uint64_t> bytes;
  for (const plan::OperatorRanges& ranges : before) {
    PARETO_ASSIGN(const std::uint64_t one,
                  model::boundary_bytes(model.graph(), ranges, plan.message_batch()));
    bytes.push_back(one);
  }
  return bytes;
}

/// Returns the share by which one point is better than another.
double gain_of(const planning::OperatingPoint& best, const planning::OperatingPoint& now,
               planning::Preference preference) {
  const double faster = best.throughput_per_s() / now.throughput_per_s();
  const double sooner = to_nanoseconds(now.latency) / to_nanoseconds(best.latency);
  switch (preference.kind) {
    case planning::Preference::Kind::kLatency:
      return sooner - 1;
    case planning::Preference::Kind::kThroughput:
      return faster - 1;
    default:
      return faster * sooner - 1;
  }
}

/// Returns whether the same devices run the same operators in both.
bool runs_alike(const plan::Plan& plan, const plan::Plan& other) {
  return plan.replicated == other.replicated &&
         std::ranges::equal(plan.stages, other.stages, [](const auto& one, const auto& two) {
           return one.device == two.device && one.begin == two.begin && one.end == two.end;
         });
}

}  // namespace

DeployFollow::DeployFollow(Context& context, const model::Model& model, DeployPlans& plans,
                           const DeployWatch& watch, const failover::Replanner& replanner,
                           planning::Preference preference, load::RequestSink& results)
    : context_(context),
      model_(model),
      plans_(plans),
      watch_(watch),
      replanner_(replanner),
      preference_(preference),
      results_(results),
      devices_(replanner.devices()),
      tracker_(replanner.links()),
      following_([this] { follow(); }) {}

DeployFollow::~DeployFollow() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void DeployFollow::done(load::StreamResult result) {
  // A failed request, or one of another batch, says nothing of the plan's links.
  if (result.outputs && result.batch == plans_.batch()) {
    Crossing crossing{result.pipeline, result.message, {}};
    for (const wire::StageTimes& stage : result.timeline) {
      crossing.links.push_back({0, stage.receive, kWaitShare * stage.queue < stage.receive});
    }
    crossing.links.push_back({0, result.sink_receive, true});
    const std::lock_guard lock(mutex_);
    if (crossings_.size() < kMostCrossings) crossings_.push_back(std::move(crossing));
  }
  results_.done(std::move(result));
}

void DeployFollow::follow() {
  std::uint64_t epoch = 0;
  bool once = true;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kLookEvery, [this] { return ending_; });
      if (ending_) return;
    }
    const plan::Plan running = plans_.current();
    const std::uint64_t pipeline = watch_.open_pipeline();
    const std::uint64_t now_epoch = watch_.epoch();
    const bool other = std::exchange(epoch, now_epoch) != now_epoch;
    if (pipeline == 0 || other) {
      const std::lock_guard lock(mutex_);
      crossings_.clear();
      continue;
    }
    const TimePoint now = std::chrono::steady_clock::now();
    bool changed = read_crossings(running, pipeline);
    changed = probe_idle(now) || changed;
    if (changed || once || rule_.better_since()) consider(running, now);
    once = false;
  }
}

std::optional<LinkWay> DeployFollow::way_of(const plan::Plan& plan, std::size_t link) const {
  const plan::LinkEnds ends = plan.ends_of(link);
  const auto row = [&](const std::optional<std::size_t>& stage) {
    if (!stage) return devices_.size();
    const auto found = std::ranges::find(devices_, plan.stages[*stage].device);
    return found == devices_.end() ? devices_.size() + 1
                                   : static_cast<std::size_t>(found - devices_.begin());
  };
  const LinkWay way{plan.transport_of(link), row(ends.from), row(ends.to)};
  if (way.from > devices_.size() || way.to > devices_.size()) return std::nullopt;
  return way;
}

std::string DeployFollow::name_of(const LinkWay& way) const {
  const auto end = [&](std::size_t row) {
    return row == devices_.size() ? std::string("the coordinator") : devices_[row];
  };
  return fmt::format("{} to {} ({})", end(way.from), end(way.to), way.transport);
}

bool DeployFollow::read_crossings(const plan::Plan& plan, std::uint64_t pipeline) {
  std::vector<Crossing> crossings;
  {
    const std::lock_guard lock(mutex_);
    // Too few of each replica say nothing: they wait for more.
    if (crossings_.size() < failover::LinkTracker::kFewestReadings * plan.turn()) return false;
    crossings.swap(crossings_);
  }
  const auto bytes = bytes_on_links(plan, model_);
  if (!bytes || plan.has_own_order()) return false;
  // A replica's result passes two links, and replicas take turns.
  const std::size_t passed = plan.links() / plan.turn();
  bool changed = false;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const auto way = way_of(plan, link);
    const bool as_it_is = link == 0 || link > plan.codecs.size() || plan.codecs[link - 1] == "none";
    if (!way || !as_it_is) continue;
    std::vector<LinkReading> readings;
    for (const Crossing& crossing : crossings) {
      if (crossing.pipeline != pipeline || crossing.links.size() != passed) continue;
      if (crossing.message % plan.turn() != link / passed) continue;
      readings.push_back(crossing.links[link % passed]);
      readings.back().bytes = (*bytes)[link % passed];
    }
    const failover::Heard heard = tracker_.read(*way, readings);
    if (heard == failover::Heard::kNothing) continue;
    heard_[name_of(*way)].last = std::chrono::steady_clock::now();
    changed = changed || heard == failover::Heard::kChanged;
  }
  return changed;
}

bool DeployFollow::probe_idle(TimePoint now) {
  std::optional<LinkWay> idle;
  TimePoint longest = now - kIdleWay;
  for (const LinkWay& way : tracker_.ways()) {
    const Heard& heard = heard_[name_of(way)];
    if (heard.last > longest || heard.probe_after > now) continue;
    longest = heard.last;
    idle = way;
  }
  if (!idle) return false;
  transport::ProbeOptions options;
  options.sizes = {kSmallProbeBytes, kLargeProbeBytes};
  options.budget = kProbeBudget;
  const auto device = [&](std::size_t row) {
    return row == devices_.size() ? std::string() : devices_[row];
  };
  const auto result =
      plans_.probe(device(idle->from), device(idle->to), idle->transport, options, kProbeLimit);
  const TimePoint then = std::chrono::steady_clock::now();
  Heard& heard = heard_[name_of(*idle)];
  const bool changed = result && tracker_.probe(*idle, *result);
  // One that waits for another is probed again before all others.
  if (tracker_.wants_another_probe(*idle)) return false;
  heard.last = then;
  heard.probe_after = then + kProbeShare * (then - now);
  return changed;
}

void DeployFollow::consider(const plan::Plan& running, TimePoint now) {
  const std::vector<planning::ProbedTransport> links = tracker_.links();
  plan::Plan plan = running;
  load::StreamOptions stream;
  set_stream(plan, true, stream);
  plan.window = stream.window;
  const auto present = replanner_.predict(plan, links);
  if (!present) return say("the plan that runs cannot be predicted: " + present.error().message);
  auto best = replanner_.best(links, preference_, plans_.lost_devices());
  if (!best) return say(best.error().message);
  const double gain =
      runs_alike(best->plan, running) ? 0 : gain_of(best->point, present->point, preference_);
  const bool is_due = rule_.consider(gain, tracker_.spread(), now);
  if (!rule_.better_since()) return;
  if (const auto way = unheard_way(best->plan, *rule_.better_since())) {
    heard_[name_of(*way)] = {};  // It is probed next.
  } else if (is_due) {
    change(*best, gain);
  }
}

std::optional<LinkWay> DeployFollow::unheard_way(const plan::Plan& plan, TimePoint since) {
  for (std::size_t link = 0; link < plan.links(); ++link) {
    auto way = way_of(plan, link);
    if (way && tracker_.knows(*way) && heard_[name_of(*way)].last < since) return way;
  }
  return std::nullopt;
}

void DeployFollow::change(const failover::Replanner::Forecast& best, double gain) {
  std::vector<std::string> slower;
  for (const LinkWay& way : tracker_.ways()) {
    const double times = tracker_.slowness(way);
    if (times != 1) {
      slower.push_back(
          fmt::format("{} takes {:.2g} times as long as at first", name_of(way), times));
    }
  }
  said_.clear();
  say(fmt::format("{}; another plan is predicted to be better by {:.0f} %: {:.1f}/s, {:.1f} ms",
                  slower.empty() ? "links are as at first" : join(slower), 100 * gain,
                  best.point.throughput_per_s(), to_milliseconds(best.point.latency)));
  const auto report = plans_.change_to({"that follows the links", best.plan, std::nullopt});
  const TimePoint now = std::chrono::steady_clock::now();
  if (report) return rule_.made(report->opening, now);
  rule_.refused(now);
}

void DeployFollow::say(const std::string& sentence) {
  // What stays so is said once.
  if (std::exchange(said_, sentence) == sentence) return;
  context_.err << "--follow: " + sentence + "\n" << std::flush;
}

}  // namespace pareto::client::commands
