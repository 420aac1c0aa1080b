#include "partitioner/planning/simulation/simulate.h"

#include <algorithm>

#include "core/base/text.h"
#include "partitioner/planning/simulation/engine.h"
#include "partitioner/planning/simulation/world.h"

namespace pareto::simulation {
namespace {

/// Reads the figures off a world that has run.
class Figures {
 public:
  Figures(const Scenario& scenario, World& world, const Engine& engine)
      : scenario_(scenario),
        world_(world),
        now_(engine.now()),
        measured_(engine.now() - engine.measured_from()) {}

  void fill(Outcome& outcome) {
    std::size_t device = 0;
    for (const DeviceClass& one : scenario_.devices) {
      const Utilisation use = use_of(one.count, [&](int i) {
        return static_cast<double>(world_.devices[device + static_cast<std::size_t>(i)].busy) /
               one.cores;
      });
      outcome.devices.push_back({one.name, one.count, one.cores, use});
      device += static_cast<std::size_t>(one.count);
    }
    std::size_t medium = 0;
    for (const MediumClass& one : scenario_.media) {
      const Utilisation use = use_of(one.count, [&](int i) {
        return static_cast<double>(world_.carriers[medium + static_cast<std::size_t>(i)].busy);
      });
      outcome.media.push_back({one.name, one.count, use});
      medium += static_cast<std::size_t>(one.count);
    }
    for (std::size_t i = 0; i < world_.classes.size(); ++i) {
      outcome.pipelines.push_back(pipeline(i, outcome));
    }
  }

 private:
  template <typename Busy>
  Utilisation use_of(int count, Busy busy) const {
    Utilisation use;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double share = share_of(busy(i));
      sum += share;
      if (share > use.most) {
        use.most = share;
        use.busiest = i;
      }
    }
    use.mean = sum / count;
    return use;
  }

  double share_of(double busy_ns) const {
    return measured_ > 0 ? busy_ns / static_cast<double>(measured_) : 0;
  }

  PipelineOutcome pipeline(std::size_t index, const Outcome& so_far) {
    const PipelineClass& spec = scenario_.pipelines[index];
    PipelineRule& rule = world_.classes[index];
    PipelineOutcome outcome;
    outcome.name = spec.name;
    outcome.count = spec.count;
    outcome.window = spec.window;
    outcome.requests = rule.latency.count();
    if (measured_ > 0) {
      outcome.requests_per_s =
          static_cast<double>(outcome.requests) / (static_cast<double>(measured_) / 1e9);
    }
    outcome.samples_per_s = outcome.requests_per_s * static_cast<double>(spec.batch);
    outcome.latency = latency_of(rule.latency);
    outcome.in_flight = rule.in_flight.mean(now_, measured_) / spec.count;
    for (std::size_t i = 0; i <= spec.stages.size(); ++i) {
      const bool to_sink = i == spec.stages.size();
      outcome.links.push_back(
          link(to_sink ? spec.result : spec.stages[i].link, rule, spec, i, so_far));
      ThreadRule* const receiver = &world_.rules[rule.first_rule + 1 + 3 * i];
      outcome.links.back().transfer_ms = per_request(receiver->on_way, outcome.requests);
      if (!to_sink) outcome.stages.push_back(stage(spec, receiver, i, outcome.requests));
    }
    find_bottleneck(spec, so_far, outcome);
    return outcome;
  }

  static LatencyOutcome latency_of(const LatencyHistogram& latency) {
    constexpr double kMs = 1e-6;
    return {latency.mean() * kMs,
            static_cast<double>(latency.least()) * kMs,
            static_cast<double>(latency.most()) * kMs,
            latency.quantile(0.5) * kMs,
            latency.quantile(0.9) * kMs,
            latency.quantile(0.95) * kMs,
            latency.quantile(0.99) * kMs};
  }

  /// Returns the time of a request in ms.
  static double per_request(double nanoseconds, std::int64_t requests) {
    return requests > 0 ? nanoseconds / static_cast<double>(requests) * 1e-6 : 0;
  }

  /// `threads`: its three.
  StageOutcome stage(const PipelineClass& spec, ThreadRule* threads, std::size_t index,
                     std::int64_t requests) {
    StageOutcome outcome;
    outcome.device = scenario_.devices[static_cast<std::size_t>(spec.stages[index].device)].name;
    outcome.computing = share_of(static_cast<double>(threads[1].busy)) / spec.count;
    for (int i = 0; i < 3; ++i) {
      outcome.blocked =
          std::max(outcome.blocked, threads[i].blocked.mean(now_, measured_) / spec.count);
    }
    const double waiting = threads[1].waiting.mean(now_, measured_);
    outcome.queue_mean = waiting / spec.count;
    outcome.queue_most = threads[1].most_waiting;
    outcome.receive_ms = per_request(static_cast<double>(threads[0].busy), requests);
    outcome.queue_ms = per_request(waiting * static_cast<double>(measured_), requests);
    outcome.compute_ms = per_request(static_cast<double>(threads[1].busy), requests);
    outcome.send_ms = per_request(static_cast<double>(threads[2].busy), requests);
    return outcome;
  }

  LinkOutcome link(const Crossing& crossing, const PipelineRule& rule, const PipelineClass& spec,
                   std::size_t index, const Outcome& so_far) const {
    if (!crossing.media.empty()) {
      const auto outcome_of = [&](const MediumPass& pass) -> const MediumOutcome& {
        return so_far.media[static_cast<std::size_t>(pass.medium)];
      };
      const MediumOutcome& busiest = outcome_of(*std::ranges::max_element(
          crossing.media, {}, [&](const MediumPass& pass) { return outcome_of(pass).use.mean; }));
      LinkOutcome outcome{busiest.name, busiest.use};
      for (const MediumPass& pass : crossing.media) outcome.media.push_back(outcome_of(pass).name);
      return outcome;
    }
    const std::size_t receiver = 1 + 3 * index;
    return {
        "", use_of(spec.count, [&](int i) {
          const std::size_t thread =
              rule.first_thread + static_cast<std::size_t>(i) * rule.threads + receiver;
          const LinkEnd& end = world_.links[world_.threads[thread].link];
          return static_cast<double>(world_.carriers[world_.passes[end.first_pass].carrier].busy);
        })};
  }

  static void find_bottleneck(const PipelineClass& spec, const Outcome& so_far,
                              PipelineOutcome& outcome) {
    const auto propose = [&](const std::string& name, double use) {
      if (use <= outcome.bottleneck_use) return;
      outcome.bottleneck = name;
      outcome.bottleneck_use = use;
    };
    for (const Stage& stage : spec.stages) {
      const DeviceOutcome& device = so_far.devices[static_cast<std::size_t>(stage.device)];
      propose("device " + device.name, device.use.mean);
    }
    for (std::size_t i = 0; i < outcome.links.size(); ++i) {
      const LinkOutcome& link = outcome.links[i];
      propose(link.medium.empty() ? fmt::format("link {}", i) : "medium " + link.medium,
              link.use.mean);
    }
    // On a device that it has to itself a thread is never busier; on several cores it may be.
    for (std::size_t i = 0; i < outcome.stages.size(); ++i) {
      const DeviceOutcome& device = so_far.devices[static_cast<std::size_t>(spec.stages[i].device)];
      if (device.cores > 1) propose(fmt::format("stage {}", i), outcome.stages[i].computing);
    }
  }

  const Scenario& scenario_;
  World& world_;
  const std::int64_t now_;
  const std::int64_t measured_;
};

}  // namespace

std::string LinkOutcome::way() const { return join(media, "/"); }

Expected<Outcome> simulate(const Scenario& scenario, const OnProgress& on_progress) {
  PARETO_TRY(check(scenario));
  World world(scenario);
  Engine engine(scenario, world);
  PARETO_TRY(engine.run(on_progress));
  Outcome outcome;
  outcome.simulated = Nanoseconds(engine.now());
  outcome.measured = Nanoseconds(engine.now() - engine.measured_from());
  outcome.requests = engine.requests();
  outcome.events = engine.events();
  outcome.stopped = engine.stopped();
  Figures(scenario, world, engine).fill(outcome);
  return outcome;
}

}  // namespace pareto::simulation
