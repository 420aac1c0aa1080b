#include "runtime/training/loss.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "runtime/shard_module.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/interruption.h"
#include "runtime/training/training_graph.h"
#include "runtime/training/write_count.h"

namespace pareto::runtime {

Expected<Loss> Loss::load(const plan::Shard& shard, const WeightSource& weights,
                          c10::Device device) {
  PARETO_ASSIGN(const torch::jit::Module module,
                load_module(shard, weights, device, WrittenWeights::kCopied));
  for_each_called(module, insert_write_counts);
  Loss loss(module.get_method("run").graph()->copy(), module._ivalue());
  if (loss.types_.empty()) return fail(ErrorCode::kInvalidArgument, "it takes no values");
  return loss;
}

Loss::Loss(std::shared_ptr<torch::jit::Graph> graph, c10::IValue self)
    : code_(compile_graph(graph, "loss")), self_(std::move(self)) {
  for (const auto* input : graph->inputs().slice(1)) types_.push_back(input->type());
}

at::Tensor Loss::compute(const std::vector<c10::IValue>& outputs, const Value& target) const {
  if (types_.size() != outputs.size() + 1) {
    throw std::runtime_error(
        fmt::format("the loss takes {} values; the model has {} outputs, and there is a target",
                    types_.size(), outputs.size()));
  }
  std::vector<c10::IValue> arguments = outputs;
  arguments.push_back(to_ivalue(target, types_.back()));
  const auto results = run_code(code_, self_, std::move(arguments));
  if (results.size() != 1 || !results[0].isTensor() || results[0].toTensor().numel() != 1 ||
      !results[0].toTensor().is_floating_point()) {
    throw std::runtime_error("the loss gives no scalar: it has to return a tensor of one number");
  }
  return results[0].toTensor();
}

/// Returns how many rows of a classifier's outputs have their largest number at their label; −1 if
/// these are no outputs of a classifier.
std::int64_t count_correct(const c10::IValue& output, const Value& target) {
  const Tensor* const labels = target.get_if<Tensor>();
  if (labels == nullptr || labels->dtype() != DType::kInt64 || labels->shape().size() != 1 ||
      !output.isTensor() || output.toTensor().dim() != 2 ||
      output.toTensor().size(0) != labels->shape()[0] || output.toTensor().size(1) == 0) {
    return -1;
  }
  const at::Tensor rows = output.toTensor().detach();
  return rows.argmax(1).eq(to_torch(*labels).to(rows.device())).sum().item<std::int64_t>();
}

}  // namespace pareto::runtime
