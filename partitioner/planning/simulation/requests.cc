#include "partitioner/planning/simulation/requests.h"

#include <cmath>
#include <utility>
#include <vector>

namespace pareto::simulation {
namespace {

constexpr std::uint32_t kMostInFlight = 1U << 31;

}  // namespace

std::int64_t Requests::first(Pipeline& pipeline) {
  const PipelineClass& spec = scenario_.pipelines[pipeline.rule];
  const std::uint64_t bits = random_bits(pipeline.key, 0, DrawPurpose::kRowChoice);
  if (spec.recording) pipeline.row = spec.recording->any_row(bits);
  const bool first_of_class =
      &pipeline == &world_.pipelines[world_.classes[pipeline.rule].first_pipeline];
  if (spec.arrivals.kind == ArrivalKind::kClosed) return 0;
  if (spec.arrivals.kind == ArrivalKind::kPeriodic) {
    const auto period = static_cast<std::uint64_t>(spec.arrivals.period.count());
    return first_of_class ? 0 : static_cast<std::int64_t>(bits % period);
  }
  if (!first_of_class && !spec.arrivals.gaps.empty()) {
    pipeline.gap = static_cast<std::uint32_t>(bits % spec.arrivals.gaps.size());
  }
  return wait_for_next(pipeline.first_thread, pipeline);
}

bool Requests::is_closed(const Pipeline& pipeline) const {
  return scenario_.pipelines[pipeline.rule].arrivals.kind == ArrivalKind::kClosed;
}

std::int64_t Requests::wait_for_next(std::uint32_t source, Pipeline& pipeline) {
  const Arrivals& arrivals = scenario_.pipelines[pipeline.rule].arrivals;
  if (arrivals.kind == ArrivalKind::kPeriodic) return arrivals.period.count();
  if (arrivals.kind == ArrivalKind::kTrace) {
    const std::int64_t wait = arrivals.gaps[pipeline.gap].count();
    if (++pipeline.gap == arrivals.gaps.size()) pipeline.gap = 0;
    return wait;
  }
  const std::uint64_t bits =
      random_bits(pipeline.key, world_.threads[source].handed, DrawPurpose::kArrivals);
  return std::llround(-std::log(uniform_of(bits)) * 1e9 / arrivals.rate_per_s);
}

bool Requests::note(Pipeline& pipeline, std::uint32_t number, std::int64_t now) {
  PipelineRule& rule = world_.classes[pipeline.rule];
  const std::uint32_t in_flight = number - pipeline.completed;
  if (in_flight > pipeline.mask) {
    if (in_flight >= kMostInFlight) return false;
    std::vector<Request> wider(2 * pipeline.requests.size());
    const auto mask = static_cast<std::uint32_t>(wider.size() - 1);
    for (std::uint32_t i = pipeline.completed; i != number; ++i) {
      wider[i & mask] = pipeline.requests[i & pipeline.mask];
    }
    pipeline.requests = std::move(wider);
    pipeline.mask = mask;
  }
  rule.in_flight.change(now, 1);
  if (const auto& recording = scenario_.pipelines[pipeline.rule].recording) {
    const std::uint64_t bits = random_bits(pipeline.key, number, DrawPurpose::kRows);
    if (uniform_of(bits) < rule.rows_again) {
      const std::uint64_t choice = random_bits(pipeline.key, number, DrawPurpose::kRowChoice);
      pipeline.row = recording->any_row(choice);
    } else if (++pipeline.row == recording->rows()) {
      pipeline.row = 0;
    }
  }
  pipeline.requests[number & pipeline.mask] = {now, pipeline.row};
  return true;
}

}  // namespace pareto::simulation
