#include "partitioner/planning/simulation/world.h"

#include <algorithm>
#include <bit>

namespace pareto::simulation {
namespace {

/// The purposes of draws, next to threads' (each has Wire::kPurposes from its place in the pipeline
/// on).
constexpr std::uint64_t kPipelineKeys = 1;
constexpr std::uint64_t kMediumShifts = 2;
constexpr std::uint64_t kQuotaShifts = 3;

constexpr std::uint32_t kFewestPlaces = 4;

}  // namespace

World::World(const Scenario& scenario) {
  for (const DeviceClass& device : scenario.devices) {
    device_turns_.push_back(
        {static_cast<std::uint32_t>(devices.size()), static_cast<std::uint32_t>(device.count)});
    for (int i = 0; i < device.count; ++i) {
      Device& added = devices.emplace_back();
      added.first_core = static_cast<std::uint32_t>(cores.size());
      added.cores = static_cast<std::uint32_t>(device.cores);
      if (device.quota.count() > 0) {
        const std::uint64_t bits = random_bits(scenario.seed, devices.size(), kQuotaShifts);
        added.quota = static_cast<std::uint32_t>(quotas.size());
        const auto period = static_cast<std::uint64_t>(device.period.count());
        quotas.push_back({device.quota.count(), device.period.count(),
                          static_cast<std::int64_t>(bits % period), 0, 0});
      }
      cores.resize(cores.size() + static_cast<std::size_t>(device.cores));
    }
  }
  for (const MediumClass& medium : scenario.media) {
    medium_turns_.push_back(
        {static_cast<std::uint32_t>(carriers.size()), static_cast<std::uint32_t>(medium.count)});
    const auto wire = static_cast<std::uint32_t>(wires.size());
    wires.emplace_back(medium.condition);
    for (int i = 0; i < medium.count; ++i) {
      const std::uint64_t bits = random_bits(scenario.seed, carriers.size(), kMediumShifts);
      carriers.push_back({0, 0, shift_of(wires.back(), medium.stagger, bits), wire});
    }
  }
  for (const PipelineClass& pipeline : scenario.pipelines) add_class(scenario, pipeline);
}

void World::add_class(const Scenario& scenario, const PipelineClass& pipeline) {
  PipelineRule rule;
  add_rules(scenario, pipeline, rule);
  rule.first_thread = static_cast<std::uint32_t>(threads.size());
  rule.first_pipeline = static_cast<std::uint32_t>(pipelines.size());
  rule.window = static_cast<std::uint32_t>(pipeline.window);
  if (pipeline.recording) rule.rows_again = 1 / pipeline.recording->block;
  classes.push_back(std::move(rule));
  const auto index = static_cast<std::uint32_t>(classes.size() - 1);
  for (int i = 0; i < pipeline.count; ++i) add_pipeline(pipeline, index, scenario.seed);
}

void World::add_rules(const Scenario& scenario, const PipelineClass& pipeline, PipelineRule& rule) {
  rule.first_rule = rules.size();
  const auto add = [&](const Duration& time, double speed, std::uint32_t places) -> ThreadRule& {
    ThreadRule& thread = rules.emplace_back();
    thread.time = DurationDraw(time, speed);
    thread.busy_time = thread.time;
    thread.places = places;
    return thread;
  };
  const auto cross = [&](ThreadRule& thread, const Crossing& crossing) {
    CrossingRule& added = crossings.emplace_back();
    if (crossing.media.empty()) {
      added.wire = static_cast<int>(wires.size());
      wires.emplace_back(crossing.condition);
    }
    added.bytes = crossing.bytes;
    added.occupancy = DurationDraw(crossing.occupancy, 1);
    added.delay = DurationDraw(crossing.delay, 1);
    added.early = crossing.early.count();
    thread.crossing = static_cast<int>(crossings.size() - 1);
    thread.places = static_cast<std::uint32_t>(crossing.places);
  };
  add(pipeline.source, 1, UINT32_MAX);
  for (const Stage& stage : pipeline.stages) {
    const double speed = scenario.devices[static_cast<std::size_t>(stage.device)].speed;
    const auto queue = static_cast<std::uint32_t>(stage.queue);
    cross(add(stage.receive, speed, queue), stage.link);
    ThreadRule& compute = add(stage.compute, speed, queue);
    compute.busy_time = DurationDraw(stage.busy.value_or(stage.compute), speed);
    add(stage.send, speed, queue);
  }
  ThreadRule& sink = add(pipeline.sink, 1, 1);
  cross(sink, pipeline.result);
  sink.last = true;
  rule.threads = rules.size() - rule.first_rule;
}

void World::add_pipeline(const PipelineClass& pipeline, std::uint32_t class_index,
                         std::uint64_t seed) {
  const PipelineRule& rule = classes[class_index];
  const auto number = static_cast<std::uint32_t>(pipelines.size());
  const auto first_thread = static_cast<std::uint32_t>(threads.size());
  Pipeline& added = pipelines.emplace_back();
  added.key = random_bits(seed, number, kPipelineKeys);
  added.rule = class_index;
  added.first_thread = first_thread;
  const std::uint32_t places = std::bit_ceil(std::clamp(rule.window, kFewestPlaces, 1U << 20));
  added.mask = places - 1;
  added.requests.resize(places);
  threads.resize(threads.size() + rule.threads);
  Thread* thread = &threads[first_thread];
  for (std::size_t i = 0; i < rule.threads; ++i) thread[i].pipeline = number;
  for (const Stage& stage : pipeline.stages) {
    const std::uint32_t device = device_turns_[static_cast<std::size_t>(stage.device)].next();
    const std::size_t receive = static_cast<std::size_t>(thread - &threads[first_thread]) + 1;
    add_link(stage.link, rules[rule.first_rule + receive].crossing, thread[1], added.key);
    for (int i = 0; i < 3; ++i) (++thread)->device = device;
  }
  add_link(pipeline.result, rules[rule.first_rule + rule.threads - 1].crossing, thread[1],
           added.key);
}

void World::add_link(const Crossing& crossing, int rule, Thread& thread, std::uint64_t key) {
  thread.link = static_cast<std::uint32_t>(links.size());
  LinkEnd& link = links.emplace_back();
  link.first_pass = static_cast<std::uint32_t>(passes.size());
  link.has_second = crossing.media.size() > 1;
  for (const MediumPass& pass : crossing.media) {
    passes.push_back(
        {medium_turns_[static_cast<std::size_t>(pass.medium)].next_for(thread.pipeline),
         pass.share});
  }
  if (!crossing.media.empty()) return;
  const auto wire = static_cast<std::uint32_t>(crossings[static_cast<std::size_t>(rule)].wire);
  const std::uint64_t bits = random_bits(key, thread.link, kMediumShifts);
  passes.push_back({static_cast<std::uint32_t>(carriers.size())});
  carriers.push_back({0, 0, shift_of(wires[wire], crossing.stagger, bits), wire});
}

void World::keep(LinkEnd& link, const Underway& message) {
  std::uint32_t place = unused_;
  if (place == kNone) {
    place = static_cast<std::uint32_t>(underway_.size());
    underway_.emplace_back();
  } else {
    unused_ = underway_[place].next;
  }
  underway_[place] = message;
  (link.oldest == kNone ? link.oldest : underway_[link.newest].next) = place;
  link.newest = place;
}

Underway World::take(LinkEnd& link) {
  const std::uint32_t place = link.oldest;
  const Underway message = underway_[place];
  link.oldest = message.next;
  underway_[place].next = unused_;
  unused_ = place;
  return message;
}

std::int64_t World::shift_of(const Wire& wire, bool stagger, std::uint64_t bits) const {
  const std::int64_t period = wire.period().count();
  if (!stagger || period == 0) return 0;
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(period));
}

}  // namespace pareto::simulation
