// Small TorchScript files written by hand: for tests that need just one trait of a model.
#pragma once

#include <gtest/gtest.h>
#include <torch/script.h>

#include <string>
#include <vector>

#include "core/base/file.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/readers/model_reader.h"

namespace pareto::test {

/// Returns a module with the methods in `source` and nothing else.
inline torch::jit::Module scripted(const std::string& name, const std::string& source) {
  torch::jit::Module module("__torch__." + name);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(source);
  return module;
}

/// Holds a value whose size depends on the data, so that not every position can be cut. Takes
/// vectors: "50".
inline torch::jit::Module sized_by_data() {
  return scripted("Data", R"(
def forward(self, x):
    kept = x[x > 0]
    return kept.sum() * torch.ones([x.size(0), 1])
)");
}

/// Transposed views live at its cuts, whose strides decide bits of what follows. Takes "31x31x7".
inline torch::jit::Module transposed_views() {
  torch::manual_seed(3);
  torch::jit::Module module("__torch__.Strides");
  module.register_parameter("weight", torch::randn({31, 31}), false);
  module.define(R"(
def forward(self, x):
    y = torch.relu(x).permute([0, 3, 1, 2])
    s = torch.adaptive_avg_pool2d(y, [1, 1])
    t = y[:, 1:3].transpose(2, 3)
    return s, t.matmul(self.weight), t.sum([1, 2])
)");
  return module;
}

/// A folder that files are saved to.
class Files {
 public:
  Files() : folder_(TemporaryFolder::create("pareto-graph-test").value()) {}
  std::filesystem::path save(const torch::jit::Module& module, const std::string& name) const {
    const auto path = folder_.path() / (name + ".pt");
    module.save(path.string());
    return path;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

/// Saved, loaded and examined.
inline Expected<model::Model> open(const torch::jit::Module& module, const std::string& shapes) {
  const Files files;
  PARETO_ASSIGN(model::Flat flat, model::read_model(files.save(module, "model")));
  PARETO_ASSIGN(auto inputs, model::parse_input_shapes(shapes));
  return model::Model::examine(std::move(flat), std::move(inputs));
}

inline std::vector<std::string> kinds(const model::Graph& graph) {
  std::vector<std::string> result;
  for (const model::Operator& op : graph.operators) result.push_back(op.kind);
  return result;
}

}  // namespace pareto::test
