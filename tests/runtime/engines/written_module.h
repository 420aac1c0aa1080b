// Shards for engines, written as code. Sees LibTorch.
#pragma once

#include <torch/script.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/engines/engine.h"

namespace pareto::test {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// A module whose "run" is that code and whose weights have those names.
inline runtime::LoadedModule written_module(const std::string& code,
                                            const NamedTensors& weights = {}) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const auto& [name, tensor] : weights) module.register_parameter(name, tensor, false);
  module.define(code);
  runtime::LoadedModule loaded;
  loaded.module = std::move(module);
  return loaded;
}

/// A network of several kinds of layers, and inputs for it.
struct Case {
  const char* name;
  runtime::LoadedModule loaded;
  std::vector<c10::IValue> inputs;
};

inline Case convolutions() {
  return {"convolutions",
          written_module(R"(
def run(self, x):
    y = torch.conv2d(x, self.a, self.b, [2, 1], [1, 2])
    y = torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True)
    z = torch.relu(torch.conv2d(y, self.c, None, [1, 1], [2, 2], [2, 2], 4) + y)
    return (torch.hardswish(z), y)
)",
                         {{"a", at::randn({8, 3, 3, 5}) * 0.2},
                          {"b", at::randn({8})},
                          {"gamma", at::rand({8}) + 0.5},
                          {"beta", at::randn({8})},
                          {"mean", at::randn({8})},
                          {"var", at::rand({8}) + 0.5},
                          {"c", at::randn({8, 2, 3, 3}) * 0.2}}),
          {at::randn({2, 3, 11, 9})}};
}

inline Case pooling() {
  return {"pooling",
          written_module(R"(
def run(self, x):
    a = torch.max_pool2d(x, [3, 2], [2, 1], [1, 0], [1, 1], True)
    b = torch.avg_pool2d(x, [2, 3], [1, 2], [0, 1])
    c = torch.adaptive_avg_pool2d(a, [1, 1])
    d = torch.max_pool2d(torch.conv2d(x, self.w), [2, 2], [2, 2])
    return (a, b, c.flatten(1), torch.avg_pool2d(d, [1, 1]))
)",
                         {{"w", at::randn({16, 5, 1, 1})}}),
          {at::randn({3, 5, 13, 8})}};
}

inline Case linears() {
  return {"linears",
          written_module(
              R"(
def run(self, x, n: int):
    y = torch.relu(torch.linear(x, self.a, self.b))
    z = torch.linear(y, self.c) + x
    return (torch.softmax(z, -1) * n, n + 1, [y, z])
)",
              {{"a", at::randn({12, 7})}, {"b", at::randn({12})}, {"c", at::randn({7, 12})}}),
          {at::randn({2, 3, 7}), std::int64_t{3}}};
}

inline Case branches() {
  return {"branches",
          written_module(
              R"(
def run(self, x, flag: bool):
    y = torch.conv2d(x, self.w, None, [1, 1], [1, 1])
    if flag:
        y = torch.relu(y)
    else:
        y = y - 1
    for i in range(3):
        y = torch.conv2d(y, self.v) * 0.5
    return (y, x)
)",
              {{"w", at::randn({16, 4, 3, 3}) * 0.2}, {"v", at::randn({16, 16, 1, 1}) * 0.2}}),
          {at::randn({1, 4, 6, 6}), true}};
}

inline Case winograd_blocks() {
  return {"winograd_blocks",
          written_module(R"(
def run(self, x):
    y = torch.conv2d(x, self.a, None, [1, 1], [1, 1])
    y = torch.relu_(y)
    z = torch.conv2d(y, self.b, self.c, [1, 1], [1, 1])
    z = torch.relu(torch.add(z, x))
    return (torch.cat([y, z], 1), torch.hardtanh(z, 0., 6.))
)",
                         {{"a", at::randn({32, 32, 3, 3}) * 0.06},
                          {"b", at::randn({32, 32, 3, 3}) * 0.06},
                          {"c", at::randn({32})}}),
          {at::randn({1, 32, 15, 10})}};
}

inline Case other_types() {
  return {"other_types",
          written_module(R"(
def run(self, x, d: Dict[str, Tensor]):
    y = x.to(7) * 2  # float64
    n = (x > 0).sum()
    z = torch.linear(x, self.w)
    return (y, n, d["a"] + z, x.to(4) % 3)  # int64
)",
                         {{"w", at::randn({4, 4})}}),
          [] {
            c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
            dict.insert("a", at::ones({4}));
            return std::vector<c10::IValue>{at::randn({4}) * 10, dict};
          }()};
}

inline std::vector<Case> all_cases() {
  at::manual_seed(11);
  std::vector<Case> cases;
  cases.push_back(convolutions());
  cases.push_back(pooling());
  cases.push_back(linears());
  cases.push_back(branches());
  cases.push_back(winograd_blocks());
  cases.push_back(other_types());
  return cases;
}

}  // namespace pareto::test
