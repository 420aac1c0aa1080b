#include "coordinator/cluster/observation_wire.h"

#include <algorithm>

#include "core/control/wire.h"

namespace pareto::cluster {
namespace {

namespace v1 = control::v1;

constexpr int kMostStages = 1024;
constexpr std::size_t kMostHolders = 256;
int count_of(std::uint32_t count) {
  return static_cast<int>(std::min(count, std::uint32_t{1} << 20));
}

}  // namespace

Expected<Observation> observation_of(const v1::ObserveReply& reply) {
  if (reply.stages_size() > kMostStages) {
    return fail(ErrorCode::kCorrupt, "told of {} stages, not at most {}", reply.stages_size(),
                kMostStages);
  }
  Observation observation;
  PARETO_ASSIGN(observation.clock, control::duration_from(reply.clock_ns()));
  PARETO_ASSIGN(observation.cpu, control::duration_from(reply.cpu_ns()));
  PARETO_ASSIGN(observation.turns, control::duration_from(reply.turns_ns()));
  observation.turn_cores = count_of(reply.turn_cores());
  observation.resident_bytes = reply.resident_bytes();
  for (const v1::StageActivity& wire : reply.stages()) {
    PARETO_ASSIGN(control::StageActivity stage, control::from_wire(wire));
    observation.stages.push_back(std::move(stage));
  }
  observation.machine = control::from_wire(reply.machine());
  observation.other_coordinators = count_of(reply.other_coordinators());
  observation.other_pipelines = count_of(reply.other_pipelines());
  for (const v1::Holder& holder : reply.holders()) {
    if (observation.holders.size() < kMostHolders) {
      observation.holders.push_back(control::from_wire(holder));
    }
  }
  return observation;
}

}  // namespace pareto::cluster
