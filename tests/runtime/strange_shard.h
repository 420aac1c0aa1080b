// Shards of one tensor in, whose code somebody wrote who may mean no good. Sees LibTorch.
#pragma once

#include <torch/script.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/shard_runner.h"
#include "runtime/torch/convert.h"

namespace pareto::test {

/// Returns a shard of one float32 tensor in, with that code of "run".
inline plan::Shard shard_of(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(code);
  std::ostringstream bytes;
  module.save(bytes);
  plan::Shard shard;
  shard.archive = bytes.str();
  shard.model = "strange";
  shard.end = 1;
  shard.inputs.push_back({"x", spec_of(runtime::from_torch(torch::zeros({1, 4})).value())});
  return shard;
}

inline Expected<std::unique_ptr<runtime::ShardRunner>> load(const plan::Shard& shard,
                                                            runtime::RunnerOptions options = {}) {
  const runtime::WeightSource none = [](const Digest& digest) -> Expected<Tensor> {
    return fail(ErrorCode::kNotFound, "no tensor {}", digest.hex());
  };
  return runtime::ShardRunner::load(shard, none, options);
}

/// Returns the shard's input: four times that number.
inline std::vector<Value> four_times(float number) {
  return {runtime::from_torch(torch::full({1, 4}, number)).value()};
}

inline std::vector<Value> ones() { return four_times(1); }

}  // namespace pareto::test
