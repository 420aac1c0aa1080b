#include "partitioner/planning/cost/training_step.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/plan/training_order.h"

namespace pareto::planning {
namespace {

Nanoseconds part_of(Nanoseconds time, double share) {
  return share == 1 ? time : from_nanoseconds(share * to_nanoseconds(time));
}

/// One way of a link.
class OneWay {
 public:
  /// Returns when a message comes that is ready to be sent at `ready`.
  Nanoseconds carry(Nanoseconds ready, const LinkTimes& times, double share = 1) {
    const Nanoseconds begin = std::max(ready, free_) + part_of(times.send, share);
    free_ = begin + part_of(times.occupancy, share);
    return free_ + times.delay + part_of(times.receive, share);
  }

 private:
  Nanoseconds free_{};
};

/// A stage at work.
struct StageAtWork {
  std::vector<plan::TrainingPass> passes;
  std::size_t next = 0;  ///< the pass that it comes to
  Nanoseconds free{};
  OneWay from_before;
  OneWay back;
  std::vector<std::optional<Nanoseconds>> activations;  ///< when those of each micro-batch come
  std::vector<std::optional<Nanoseconds>> gradients;
};

class StepSimulation {
 public:
  StepSimulation(const TrainingPipelineTimes& times, std::string_view order,
                 const std::vector<double>& shares)
      : times_(times), shares_(shares), stages_(times.stages.size()) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      stages_[i].passes = plan::training_passes(order, static_cast<std::uint32_t>(i),
                                                static_cast<std::uint32_t>(stages_.size()),
                                                static_cast<std::uint32_t>(shares.size()));
      stages_[i].activations.resize(shares.size());
      stages_[i].gradients.resize(shares.size());
    }
    for (std::size_t m = 0; m < shares.size(); ++m) {
      stages_.front().activations[m] =
          stages_.front().from_before.carry({}, times.links.front().activations, shares[m]);
    }
  }

  Nanoseconds run() {
    // Each stage's order is fixed, so it does not matter which of them is looked at first.
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < stages_.size(); ++i) {
        while (take_pass(i)) any = true;
      }
    }
    Nanoseconds command = times_.links.front().command.whole();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Nanoseconds end = std::max(command, stages_[i].free) + times_.stages[i].optimiser;
      command =
          end + (i + 1 < stages_.size() ? times_.links[i + 1].command : times_.result).whole();
    }
    return command;
  }

 private:
  /// Runs a stage's next pass if what it needs will come. Returns false if that is not known yet.
  bool take_pass(std::size_t i) {
    StageAtWork& stage = stages_[i];
    if (stage.next == stage.passes.size()) return false;
    const plan::TrainingPass pass = stage.passes[stage.next];
    const std::size_t m = pass.micro_batch;
    const bool is_last = i + 1 == stages_.size();
    std::optional<Nanoseconds> needed = pass.backward ? stage.gradients[m] : stage.activations[m];
    // The last stage makes its gradients itself.
    if (pass.backward && is_last) needed = stage.free;
    if (!needed) return false;
    const TrainingStageTimes& takes = times_.stages[i];
    stage.free = std::max(stage.free, *needed) +
                 part_of(pass.backward ? takes.backward : takes.forward, shares_[m]);
    ++stage.next;
    if (pass.backward && i > 0) {
      stages_[i - 1].gradients[m] =
          stage.back.carry(stage.free, times_.links[i].gradients, shares_[m]);
    }
    if (!pass.backward && !is_last) {
      stages_[i + 1].activations[m] =
          stages_[i + 1].from_before.carry(stage.free, times_.links[i + 1].activations, shares_[m]);
    }
    return true;
  }

  const TrainingPipelineTimes& times_;
  const std::vector<double>& shares_;
  std::vector<StageAtWork> stages_;
};

}  // namespace

TrainingStageTimes& TrainingStageTimes::operator+=(const TrainingStageTimes& other) {
  forward += other.forward;
  backward += other.backward;
  optimiser += other.optimiser;
  return *this;
}

Nanoseconds training_step_time(const TrainingPipelineTimes& times, std::string_view order,
                               const std::vector<double>& shares) {
  return StepSimulation(times, order, shares).run();
}

}  // namespace pareto::planning
