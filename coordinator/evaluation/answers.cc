#include "coordinator/evaluation/answers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "core/base/counted.h"

namespace pareto::evaluation {
namespace {

Answer answer_of(std::span<const float> scores, std::int64_t label) {
  Answer answer;
  answer.bits = std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(scores.data()), scores.size_bytes()});
  answer.place = static_cast<std::int32_t>(scores.size());
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return answer;
  answer.best = static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
  const auto own = static_cast<std::size_t>(label);
  answer.place = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool before = scores[i] > scores[own] || (scores[i] == scores[own] && i < own);
    answer.place += before ? 1 : 0;
  }
  return answer;
}

bool carries_batch(const SymbolicDim& dim) { return dim == SymbolicDim{0, 1}; }

}  // namespace

Expected<Classifier> classifier_of(const model::Model& model) {
  const auto& inputs = model.inputs();
  if (inputs.size() != 1 || inputs[0].dtype != DType::kFloat32 || inputs[0].batch_at != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "{} takes {}: samples of a data set are one float32 tensor with the batch in front",
                model.name(),
                inputs.size() == 1 ? model::input_spec(inputs[0]).describe()
                                   : counted(inputs.size(), "input"));
  }
  const model::Graph& graph = model.graph();
  for (const std::int64_t output : graph.outputs) {
    const ValueSpec& value = graph.values[static_cast<std::size_t>(output)].spec;
    const std::vector<TensorSpec> tensors = tensors_of(value);
    if (tensors.empty()) continue;
    const TensorSpec& scores = tensors.front();
    const bool fits = scores.dtype == DType::kFloat32 && scores.dims.size() == 2 &&
                      (carries_batch(scores.dims[0]) || model.only_batch()) &&
                      scores.dims[1].per_sample == 0 && scores.dims[1].constant > 0;
    if (fits) return Classifier{inputs[0].per_sample, scores.dims[1].constant};
    return fail(ErrorCode::kInvalidArgument,
                "{} returns {}: accuracy needs scores, float32[B x classes]", model.name(),
                value.describe());
  }
  return fail(ErrorCode::kInvalidArgument, "{} returns no tensor", model.name());
}

Expected<std::vector<Answer>> answers_of(const std::vector<Value>& outputs,
                                         std::span<const std::int64_t> labels) {
  const std::vector<const Tensor*> tensors = tensors_of(outputs);
  const Tensor* const first = tensors.empty() ? nullptr : tensors.front();
  if (first == nullptr || first->dtype() != DType::kFloat32 || first->shape().size() != 2 ||
      first->shape()[0] < static_cast<std::int64_t>(labels.size()) || first->shape()[1] < 1) {
    return fail(
        ErrorCode::kInvalidArgument, "the model returns {}, not scores of {}: {{N, classes}}",
        first == nullptr ? "no tensor" : describe(Value(*first)), counted(labels.size(), "sample"));
  }
  PARETO_ASSIGN(const Tensor rows, row_major(*first));
  const std::int64_t classes = rows.shape()[1];
  const auto* const scores = reinterpret_cast<const float*>(rows.bytes().data());
  std::vector<Answer> answers;
  answers.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      return fail(ErrorCode::kInvalidArgument,
                  "a sample has the label {}, and the model tells {} classes apart", labels[i],
                  classes);
    }
    const auto count = static_cast<std::size_t>(classes);
    answers.push_back(answer_of({scores + i * count, count}, labels[i]));
  }
  return answers;
}

}  // namespace pareto::evaluation
