// What crosses cuts while a model is trained. Messages carry it
// (core/control/training_message.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/tensor/value.h"

namespace pareto::plan {

/// Values of one micro-batch on their way forward.
struct Activations {
  std::vector<Value> values;  ///< inputs, or outputs, of a shard, in its order
  /// One for each tensor of `values`, depth first: whether its gradient is wanted. Empty: none is.
  std::vector<bool> wants_gradient;
  /// Random numbers that the operators behind draw: an int64 is a seed, a tensor uint8 the state of
  /// LibTorch's generator on the CPU after the last operator that drew.
  Value random;
};

/// Gradients of parameters that several stages have, by name.
using TiedGradients = std::vector<std::pair<std::string, Tensor>>;

/// Norm of the summed gradients of one parameter.
using GradientNorm = std::pair<std::string, double>;

/// Gradients of one micro-batch on their way back.
struct Gradients {
  /// One for each tensor of the Activations: a tensor of its shape, or None if there is none.
  std::vector<Value> values;
  TiedGradients tied;  ///< gradients of parameters that an earlier stage has too
  /// Behind the last micro-batch of a step: norms of the stages that it has passed. A parameter
  /// that several stages have is in the list of the first of them.
  std::vector<GradientNorm> norms;
};

/// The labels of a micro-batch, on their way to the last stage.
struct Target {
  Value value;        ///< a tensor int64 {N}, or what else the loss takes
  double weight = 1;  ///< factor of its loss in the step: its share of the batch
};

/// Loss of a micro-batch.
struct Outcome {
  double loss = 0;            ///< before it is multiplied by the weight
  std::int64_t correct = -1;  ///< samples whose largest output is their label; −1: no classes
};

/// Times of one stage in one step, on its own clock.
struct StageStepTimes {
  Nanoseconds forward{};
  Nanoseconds backward{};
  Nanoseconds optimiser{};
  Nanoseconds waiting{};  ///< until activations, gradients, turns and commands came
  /// Activations and gradients together, as their codecs made them. Frames' headers do not count.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_raw = 0;  ///< the same without codecs
  bool operator==(const StageStepTimes&) const = default;
};

/// The command to let the optimisers step, on its way from stage to stage.
struct StepCommand {
  double learning_rate = 0;
  double scale = 1;                     ///< factor of all gradients: below 1 if they are clipped
  TiedGradients tied;                   ///< sums of the stages that it has passed
  std::vector<StageStepTimes> times{};  ///< times of the stages that it has passed, in order
};

/// A tensor of a model or of its optimiser. Parameters and buffers have the model's own names. The
/// optimiser's state is "optimiser/NAME/momentum_buffer" and the like.
struct StateTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace pareto::plan
