// Training on a device that is slower than this machine: what a real trainer computes, later.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "daemon/imitation/imitated_runner.h"
#include "runtime/training/trainer.h"

namespace pareto::daemon {

/// Trains by a real trainer. Each pass takes as long as it would there. Paces of operators are of
/// forward passes only, so a steady device trains at its speed and no more steadily than this one.
///
/// Threads: as Trainer.
class ImitatedTrainer final : public runtime::Trainer {
 public:
  /// `real` outlives this.
  ImitatedTrainer(std::shared_ptr<ImitatedDevice> device, runtime::Trainer& real,
                  runtime::RunnerOptions options)
      : device_(std::move(device)), real_(real), options_(std::move(options)) {}

  const plan::TrainingSettings& settings() const override { return real_.settings(); }
  Expected<plan::Activations> forward(std::uint32_t micro_batch,
                                      const plan::Activations& inputs) override;
  Expected<plan::Outcome> forward_to_loss(std::uint32_t micro_batch,
                                          const plan::Activations& inputs,
                                          const plan::Target& target) override;
  Expected<plan::Gradients> backward(std::uint32_t micro_batch, plan::Gradients gradients) override;
  Expected<std::vector<plan::GradientNorm>> norms() override;
  Expected<plan::StepCommand> step(plan::StepCommand command) override;
  Expected<std::vector<plan::StateTensor>> state() override { return real_.state(); }

 private:
  /// Returns what `pass` returns, once it would be done there.
  template <typename Pass>
  auto later(Pass pass) -> decltype(pass());

  const std::shared_ptr<ImitatedDevice> device_;
  runtime::Trainer& real_;
  const runtime::RunnerOptions options_;
};

}  // namespace pareto::daemon
