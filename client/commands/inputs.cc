#include "client/commands/inputs.h"

#include <utility>

#include "client/commands/npy.h"

namespace pareto::client {

Expected<ModelInputs> read_inputs(const std::vector<std::string>& files) {
  ModelInputs inputs;
  for (const std::string& path : files) {
    PARETO_ASSIGN(Tensor tensor, read_npy(path));
    if (tensor.shape().empty() || tensor.shape().front() < 1) {
      return fail(ErrorCode::kInvalidArgument, "{}: its first dimension should be the batch", path);
    }
    inputs.batch = tensor.shape().front();
    inputs.values.emplace_back(std::move(tensor));
  }
  return inputs;
}

Expected<> check_inputs(const partitioner::Model& model, const ModelInputs& inputs,
                        const std::vector<std::string>& files) {
  const auto& arguments = model.graph().inputs;
  if (inputs.values.size() != arguments.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} takes {} inputs, not {}", model.name(),
                arguments.size(), inputs.values.size());
  }
  const std::int64_t batch = inputs.values.front().get_if<Tensor>()->shape().front();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ValueSpec& spec = model.graph().values[static_cast<std::size_t>(arguments[i])].spec;
    const Tensor& tensor = *inputs.values[i].get_if<Tensor>();
    if (spec.kind != ValueSpec::Kind::kTensor || tensor.dtype() != spec.tensor.dtype ||
        tensor.shape() != spec.tensor.shape(batch)) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: {} {} does not fit input {} of {}: {} (--input-shape)", files[i],
                  to_string(tensor.dtype()), to_string(tensor.shape()), i, model.name(),
                  spec.describe());
    }
  }
  return {};
}

}  // namespace pareto::client
