// When requests come to the source of a pipeline, and what is kept of those that are in flight.
#include <cmath>
#include <utility>
#include <vector>

#include "partitioner/planning/simulation/engine.h"

namespace pareto::simulation {
namespace {

constexpr std::uint32_t kMostInFlight = 1U << 31;

}  // namespace

void Engine::start_arrivals(Pipeline& pipeline) {
  const PipelineClass& spec = scenario_.pipelines[pipeline.rule];
  const std::uint32_t source = pipeline.first_thread;
  const std::uint64_t bits = random_bits(pipeline.key, 0, kRowChoice);
  if (spec.recording) pipeline.row = spec.recording->any_row(bits);
  const bool first_of_class =
      &pipeline == &world_.pipelines[world_.classes[pipeline.rule].first_pipeline];
  if (spec.arrivals.kind == ArrivalKind::kPeriodic) {
    const auto period = static_cast<std::uint64_t>(spec.arrivals.period.count());
    schedule(first_of_class ? 0 : static_cast<std::int64_t>(bits % period), kCame, source);
  } else if (spec.arrivals.kind == ArrivalKind::kClosed) {
    schedule(0, kCame, source);
  } else {
    if (!first_of_class && !spec.arrivals.gaps.empty()) {
      pipeline.gap = static_cast<std::uint32_t>(bits % spec.arrivals.gaps.size());
    }
    schedule_next(source, pipeline);
  }
}

void Engine::come(std::uint32_t source) {
  Thread& thread = world_.threads[source];
  Pipeline& pipeline = world_.pipelines[thread.pipeline];
  if (scenario_.pipelines[pipeline.rule].arrivals.kind == ArrivalKind::kClosed) {
    return advance(source);  // as many as the window holds are there at once
  }
  note_request(pipeline, thread.arrived);
  ++thread.handed;
  schedule_next(source, pipeline);
  arrive(source);
}

void Engine::schedule_next(std::uint32_t source, Pipeline& pipeline) {
  const Arrivals& arrivals = scenario_.pipelines[pipeline.rule].arrivals;
  std::int64_t wait = 0;
  if (arrivals.kind == ArrivalKind::kPeriodic) {
    wait = arrivals.period.count();
  } else if (arrivals.kind == ArrivalKind::kTrace) {
    wait = arrivals.gaps[pipeline.gap].count();
    if (++pipeline.gap == arrivals.gaps.size()) pipeline.gap = 0;
  } else {
    const std::uint64_t bits = random_bits(pipeline.key, world_.threads[source].handed, kArrivals);
    wait = std::llround(-std::log(uniform_of(bits)) * 1e9 / arrivals.rate_per_s);
  }
  schedule(now_ + wait, kCame, source);
}

void Engine::note_request(Pipeline& pipeline, std::uint32_t number) {
  PipelineRule& rule = world_.classes[pipeline.rule];
  const std::uint32_t in_flight = number - pipeline.completed;
  if (in_flight > pipeline.mask) {
    if (in_flight >= kMostInFlight) {
      exhausted_ = true;
      return;
    }
    std::vector<Request> wider(2 * pipeline.requests.size());
    const auto mask = static_cast<std::uint32_t>(wider.size() - 1);
    for (std::uint32_t i = pipeline.completed; i != number; ++i) {
      wider[i & mask] = pipeline.requests[i & pipeline.mask];
    }
    pipeline.requests = std::move(wider);
    pipeline.mask = mask;
  }
  rule.in_flight.change(now_, 1);
  if (const auto& recording = scenario_.pipelines[pipeline.rule].recording) {
    const std::uint64_t bits = random_bits(pipeline.key, number, kRows);
    if (uniform_of(bits) < rule.rows_again) {
      const std::uint64_t choice = random_bits(pipeline.key, number, kRowChoice);
      pipeline.row = recording->any_row(choice);
    } else if (++pipeline.row == recording->rows()) {
      pipeline.row = 0;
    }
  }
  pipeline.requests[number & pipeline.mask] = {now_, pipeline.row};
}

}  // namespace pareto::simulation
