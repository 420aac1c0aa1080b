#include "daemon/imitation/imitated_trainer.h"

#include <utility>

namespace pareto::daemon {

template <typename Pass>
auto ImitatedTrainer::later(Pass pass) -> decltype(pass()) {
  SlowProcessor::Work work(device_->processor(), options_);
  auto result = pass();
  if (result) PARETO_TRY(work.finish());
  return result;
}

Expected<plan::Activations> ImitatedTrainer::forward(std::uint32_t micro_batch,
                                                     const plan::Activations& inputs) {
  return later([&] { return real_.forward(micro_batch, inputs); });
}

Expected<plan::Outcome> ImitatedTrainer::forward_to_loss(std::uint32_t micro_batch,
                                                         const plan::Activations& inputs,
                                                         const plan::Target& target) {
  return later([&] { return real_.forward_to_loss(micro_batch, inputs, target); });
}

Expected<plan::Gradients> ImitatedTrainer::backward(std::uint32_t micro_batch,
                                                    plan::Gradients gradients) {
  return later([&] { return real_.backward(micro_batch, std::move(gradients)); });
}

Expected<std::vector<plan::GradientNorm>> ImitatedTrainer::norms() {
  return later([&] { return real_.norms(); });
}

Expected<plan::StepCommand> ImitatedTrainer::step(plan::StepCommand command) {
  return later([&] { return real_.step(std::move(command)); });
}

}  // namespace pareto::daemon
