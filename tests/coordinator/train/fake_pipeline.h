// A model that trains by arithmetic, so that tests of the loop need neither LibTorch nor devices.
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/train/training_pipeline.h"
#include "small_data.h"

namespace pareto::train {

/// Three weights and their momentum. Like dropout, its steps depend on their number, and like sums
/// of floats on the order of the samples.
class FakePipeline final : public TrainingPipeline {
 public:
  FakePipeline() = default;
  explicit FakePipeline(const std::vector<plan::StateTensor>& state) {
    for (const plan::StateTensor& one : state) {
      (one.name == "weight" ? weight_ : momentum_) = floats_of(one.tensor);
    }
  }

  Expected<StepOutcome> step(const std::vector<MicroBatch>& batch,
                             const StepOrder& order) override {
    if (on_step) on_step(order.step);
    if (order.step == fails_at) return fail(ErrorCode::kUnavailable, "device \"b\" is lost");
    StepOutcome outcome{.correct = 0, .gradient_norm = 1, .stages = {{}, {}}};
    std::vector<float> gradient(3);
    double loss = 0;
    for (const MicroBatch& micro : batch) {
      rates.push_back(order.learning_rate);
      const auto inputs = floats_of(*micro.inputs.front().get_if<Tensor>());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const float error = inputs[i] * weight_[i % 3] - 1;
        const float kept = (order.step + i) % 4 == 0 ? 0.0F : 1.0F;
        gradient[i % 3] = gradient[i % 3] * 0.99F + kept * error * inputs[i] * 1e-4F;
        loss += static_cast<double>(error) * error;
      }
      outcome.samples += micro.samples;
      outcome.correct += micro.samples / 2;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      momentum_[i] = 0.9F * momentum_[i] + gradient[i];
      weight_[i] -= static_cast<float>(order.learning_rate) * momentum_[i];
    }
    outcome.loss = loss / static_cast<double>(outcome.samples);
    if (order.step == nan_at) outcome.loss = std::numeric_limits<double>::quiet_NaN();
    if (order.step == nan_weight_at) weight_[1] = std::numeric_limits<float>::quiet_NaN();
    outcome.stages[0].forward = Nanoseconds(100);
    outcome.stages[1].bytes_sent = 7;
    return outcome;
  }

  Expected<std::vector<Value>> evaluate(std::vector<Value> inputs) override {
    const auto numbers = floats_of(*inputs.front().get_if<Tensor>());
    std::vector<float> outputs;
    for (std::size_t i = 0; i < numbers.size(); i += 3) {
      outputs.push_back(numbers[i] * weight_[0]);
      outputs.push_back(numbers[i + 1] * weight_[1]);
    }
    if (on_evaluate) on_evaluate();
    return std::vector<Value>{tensor_of({std::ssize(outputs) / 2, 2}, outputs)};
  }

  Expected<std::vector<plan::StateTensor>> state() override {
    return std::vector<plan::StateTensor>{{"optimiser/weight/momentum", tensor_of({3}, momentum_)},
                                          {"weight", tensor_of({3}, weight_)}};
  }
  const std::vector<std::string>& devices() const override { return devices_; }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::function<void(std::uint64_t step)> on_step;
  std::function<void()> on_evaluate;
  std::uint64_t fails_at = kNever;
  std::uint64_t nan_at = kNever;
  std::uint64_t nan_weight_at = kNever;
  std::vector<double> rates;  ///< one for each micro-batch

 private:
  std::vector<float> weight_{0.1F, 0.2F, 0.3F};
  std::vector<float> momentum_{0, 0, 0};
  std::vector<std::string> devices_{"a", "b"};
};

}  // namespace pareto::train
