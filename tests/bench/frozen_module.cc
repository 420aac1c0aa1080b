#include "tests/bench/frozen_module.h"

#include <torch/script.h>

#include <sstream>
#include <string>
#include <utility>

#include "partitioner/model/emit/emit.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/threads.h"

namespace pareto::bench {

struct FrozenModule::Impl {
  torch::jit::Module module;
  std::vector<c10::IValue> inputs;
};

FrozenModule::FrozenModule(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FrozenModule::FrozenModule(FrozenModule&&) noexcept = default;
FrozenModule& FrozenModule::operator=(FrozenModule&&) noexcept = default;
FrozenModule::~FrozenModule() = default;

Expected<FrozenModule> FrozenModule::create(const model::Model& model,
                                            const std::vector<Value>& inputs) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, 0, operators));
  try {
    const c10::InferenceMode inference;
    std::istringstream archive(shard.archive);
    torch::jit::Module module = torch::jit::load(archive);
    for (const plan::WeightRef& weight : shard.weights) {
      PARETO_ASSIGN(const Tensor tensor, model.weight(weight.digest));
      module.setattr(weight.name, runtime::to_torch(tensor));
    }
    module.eval();
    const auto arguments = module.get_method("run").graph()->inputs().slice(1);
    std::string names;
    for (std::size_t i = 0; i < arguments.size(); ++i) names += ", x" + std::to_string(i);
    module.define("def forward(self" + names + "):\n    return self.run(" +
                  (names.empty() ? "" : names.substr(2)) + ")\n");
    auto impl = std::make_unique<Impl>();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      impl->inputs.push_back(runtime::to_ivalue(inputs[i], arguments[i]->type()));
    }
    impl->module = torch::jit::freeze(module);
    FrozenModule frozen(std::move(impl));
    // An executor keeps the mode it first runs in; loading a runner changes it for those that come
    // later.
    torch::jit::getProfilingMode() = true;
    for (int i = 0; i < 3; ++i) PARETO_TRY(frozen.run());
    return frozen;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "the frozen module: {}", runtime::first_line(error));
  }
}

Expected<> FrozenModule::run() {
  try {
    const c10::InferenceMode inference;
    runtime::set_thread_count(1);
    impl_->module.forward(impl_->inputs);
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "the frozen module: {}", runtime::first_line(error));
  }
}

}  // namespace pareto::bench
