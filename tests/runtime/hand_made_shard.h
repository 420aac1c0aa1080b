// Shards written by hand, and values for them. Sees LibTorch.
#pragma once

#include <torch/script.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/shard_runner.h"
#include "runtime/torch/convert.h"
#include "runtime/training/trainer.h"

namespace pareto::test {

/// A shard written by hand: code of "run", weights by name, boundaries by example.
class HandMadeShard {
 public:
  HandMadeShard& weight(const std::string& name, const at::Tensor& tensor) {
    module_.register_parameter(name, torch::zeros({0}), false);
    const Tensor bytes = runtime::from_torch(tensor).value();
    const Digest digest = sha256(bytes.bytes());
    shard_.weights.push_back({name, digest, bytes.dtype(), bytes.shape(), true});
    store_[digest] = bytes;
    return *this;
  }
  HandMadeShard& input(const std::string& name, const Value& example) {
    shard_.inputs.push_back({name, spec_of(example)});
    return *this;
  }
  HandMadeShard& code(const std::string& text) {
    module_.register_attribute("training", c10::BoolType::get(), false);
    module_.define(text);
    std::ostringstream bytes;
    module_.save(bytes);
    shard_.archive = bytes.str();
    shard_.model = "hand-made";
    shard_.end = 1;
    return *this;
  }

  plan::Shard& shard() { return shard_; }
  std::map<Digest, Tensor>& store() { return store_; }
  Expected<std::unique_ptr<runtime::ShardRunner>> load(
      const std::string& engine, runtime::Precision precision = runtime::Precision::kFloat32) {
    runtime::RunnerOptions options;
    options.engine = engine;
    options.precision = precision;
    return load(options);
  }
  Expected<std::unique_ptr<runtime::ShardRunner>> load(const runtime::RunnerOptions& options) {
    const runtime::WeightSource source = [this](const Digest& digest) -> Expected<Tensor> {
      const auto found = store_.find(digest);
      if (found == store_.end()) return fail(ErrorCode::kNotFound, "no tensor {}", digest.hex());
      return found->second;
    };
    return runtime::load_runner(shard_, source, options);
  }

 private:
  torch::jit::Module module_{"__torch__.Shard"};
  plan::Shard shard_;
  std::map<Digest, Tensor> store_;
};

/// Returns rows of pictures, one a sample.
inline std::vector<Value> pictures(std::int64_t batch) {
  torch::manual_seed(batch);
  return {runtime::from_torch(torch::randn({batch, 3, 8, 8})).value()};
}

/// Makes `x` an input of any number of such pictures.
inline void take_pictures(HandMadeShard& shard) {
  const auto example = [](std::int64_t batch) {
    return runtime::from_torch(torch::randn({batch, 3, 8, 8})).value();
  };
  shard.shard().inputs.push_back({"x", join_specs(example(1), 1, example(2), 2).value()});
}

inline Value picture() { return runtime::from_torch(torch::randn({1, 3, 16, 16})).value(); }

/// Returns two convolutions with a batch norm and relus, a pool, a linear layer; passes a number
/// through.
inline HandMadeShard small_network() {
  torch::manual_seed(1);
  HandMadeShard shard;
  shard.weight("a", torch::randn({8, 3, 3, 3}) * 0.2)
      .weight("gamma", torch::rand({8}) + 0.5)
      .weight("beta", torch::randn({8}))
      .weight("mean", torch::randn({8}) * 0.1)
      .weight("var", torch::rand({8}) + 0.5)
      .weight("b", torch::randn({16, 8, 1, 1}) * 0.2)
      .weight("w", torch::randn({4, 16}))
      .input("x", picture())
      .input("n", std::int64_t{7})
      .code(R"(
def run(self, x, n: int):
    y = torch.conv2d(x, self.a, None, [1, 1], [1, 1])
    y = torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True)
    y = torch.relu(y)
    y = torch.relu(torch.conv2d(y, self.b))
    z = torch.adaptive_avg_pool2d(y, [1, 1]).flatten(1)
    return (torch.matmul(z, self.w.t()), y, n)
)");
  return shard;
}

}  // namespace pareto::test
