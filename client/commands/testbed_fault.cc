#include "client/commands/testbed_fault.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "coordinator/cluster/fault_wire.h"
#include "coordinator/cluster/line_channel.h"
#include "coordinator/cluster/testbed_registry.h"
#include "core/base/json_text.h"
#include "core/base/poll.h"
#include "core/base/text.h"
#include "netem/fault_plan.h"

namespace pareto::client::commands {
namespace {

/// The process that holds the test bed may have to start a daemon, or to wait for one to end.
constexpr std::chrono::minutes kAnswerTimeout{2};
constexpr const char* kGone = "its process has ended: put it up again with paretoctl testbed up";

Expected<cluster::RunningTestbed> chosen_testbed(const std::string& name) {
  const cluster::TestbedRegistry registry;
  PARETO_ASSIGN(const std::vector<cluster::RunningTestbed> up, registry.all());
  std::vector<std::string> names;
  std::ranges::transform(up, std::back_inserter(names), &cluster::RunningTestbed::name);
  if (name.empty() && up.size() == 1) return up.front();
  if (name.empty() && !up.empty()) {
    return fail(ErrorCode::kInvalidArgument, "testbed fault: on which test bed? {} are up",
                join(names));
  }
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return up[static_cast<std::size_t>(found - names.begin())];
  return fail(ErrorCode::kNotFound, "no test bed{} is up{}: put it up first (paretoctl testbed up)",
              name.empty() ? "" : " \"" + name + "\"", did_you_mean(name, names));
}

Expected<netem::FaultTimeline> timeline_of(netem::FaultPlan plan,
                                           const cluster::RunningTestbed& bed) {
  std::vector<std::string> devices;
  std::vector<std::string> links;
  std::ranges::transform(bed.devices, std::back_inserter(devices), &cluster::RunningDevice::name);
  for (const cluster::RunningLink& link : bed.links) {
    links.push_back(link.first + " - " + link.second);
  }
  return netem::FaultTimeline::create(std::move(plan), std::move(devices), std::move(links));
}

Expected<cluster::LineChannel> holder_of(const cluster::RunningTestbed& bed) {
  auto holder = cluster::connect_at(cluster::TestbedRegistry().fault_socket(bed.name));
  if (holder || holder.error().code != ErrorCode::kNotFound) return holder;
  return fail(ErrorCode::kUnavailable,
              "test bed {} is that of a command (process {}), which takes no faults: put one up "
              "with paretoctl testbed up",
              bed.name, bed.process);
}

/// Faults on their way through a plan. Threads: one owner.
class FaultRun {
 public:
  FaultRun(Context& context, cluster::LineChannel& holder, bool json)
      : context_(context),
        holder_(holder),
        json_(json),
        stop_(context.stop.descriptor()),
        start_(std::chrono::steady_clock::now()) {}

  /// Makes the faults at their times, and undoes what lasts when somebody stops it or all are done.
  /// Fails: kUnavailable (the test bed ended).
  Expected<> play(netem::FaultTimeline& timeline) {
    while (const auto moment = timeline.next()) {
      PARETO_ASSIGN(const bool goes_on, wait_until(start_ + moment->at));
      if (!goes_on) break;
      if (!moment->begins && !lasting_.contains(moment->number)) continue;
      PARETO_TRY(make(*moment));
    }
    return undo();
  }

  int exit_code() const { return failed_ > 0 || stopped_ ? kExitPartial : kExitDone; }

 private:
  /// Returns false if somebody stops it before that time.
  Expected<bool> wait_until(TimePoint time) {
    std::array<pollfd, 2> polled{{{stop_, POLLIN, 0}, {holder_.descriptor(), POLLIN, 0}}};
    const auto woken = poll_until(polled, time);
    if (!woken && woken.error().code == ErrorCode::kTimeout) return true;
    PARETO_TRY(woken);
    stopped_ = polled[0].revents != 0;
    if (stopped_) return false;
    // It speaks only when it is spoken to, unless it refuses or ends.
    return fail(ErrorCode::kUnavailable, "{}", last_words());
  }

  std::string last_words() {
    const auto line = holder_.receive(deadline_after(kAnswerTimeout));
    if (!line || !*line) return kGone;
    const auto said = cluster::parse_fault_answer(**line);
    return said ? "the test bed's process says: " + *said : said.error().message;
  }

  Expected<> make(const netem::FaultMoment& moment) {
    cluster::FaultRequest request{.number = moment.number, .begins = {}};
    if (moment.begins) request.begins = moment.fault;
    if (!holder_.send(cluster::to_line(request))) {
      return fail(ErrorCode::kUnavailable, "{}", kGone);
    }
    PARETO_ASSIGN(const auto line, holder_.receive(deadline_after(kAnswerTimeout)));
    if (!line) return fail(ErrorCode::kUnavailable, "{}", kGone);
    const auto done = cluster::parse_fault_answer(*line);
    const bool lasts = moment.begins && moment.fault.kind != netem::FaultKind::kRestart;
    lasting_.erase(moment.number);
    if (done && lasts) lasting_.emplace(moment.number, moment);
    if (!done) ++failed_;
    tell(moment, done);
    return {};
  }

  Expected<> undo() {
    while (!lasting_.empty()) {
      netem::FaultMoment moment = lasting_.rbegin()->second;
      moment.begins = false;
      PARETO_TRY(make(moment));
    }
    return {};
  }

  void tell(const netem::FaultMoment& moment, const Expected<std::string>& done) {
    const double seconds = to_seconds(std::chrono::steady_clock::now() - start_);
    const std::string text = done ? *done : "not done: " + done.error().message;
    context_.err << fmt::format("{:8.2f} s  {}\n", seconds, text) << std::flush;
    if (!json_) return;
    nlohmann::ordered_json line{{"at_s", seconds},
                                {"event", moment.begins ? "begin" : "end"},
                                {"number", moment.number},
                                {"fault", netem::to_string(moment.fault.kind)},
                                {"place", moment.fault.place}};
    if (!netem::is_of_device(moment.fault.kind)) {
      line["direction"] = netem::to_string(moment.fault.direction);
    }
    line[done ? "done" : "error"] = done ? *done : done.error().message;
    context_.out << dump(line) << '\n' << std::flush;
  }

  Context& context_;
  cluster::LineChannel& holder_;
  const bool json_;
  const int stop_;
  const TimePoint start_;
  std::map<std::uint64_t, netem::FaultMoment> lasting_;
  int failed_ = 0;
  bool stopped_ = false;
};

}  // namespace

Expected<int> make_faults(Context& context, const std::string& file, const std::string& name,
                          bool json) {
  context.stop.watch();
  PARETO_ASSIGN(netem::FaultPlan plan, netem::read_fault_plan(file));
  PARETO_ASSIGN(const cluster::RunningTestbed bed, chosen_testbed(name));
  PARETO_ASSIGN(netem::FaultTimeline timeline,
                with_context(timeline_of(std::move(plan), bed), "{}", file));
  PARETO_ASSIGN(cluster::LineChannel holder, with_context(holder_of(bed), "test bed {}", bed.name));
  context.stop.announce("stopping: what lasts is undone first");
  FaultRun run(context, holder, json);
  PARETO_TRY(with_context(run.play(timeline), "test bed {}", bed.name));
  return run.exit_code();
}

}  // namespace pareto::client::commands
