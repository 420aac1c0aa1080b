// What a built-in model is made of, counted in its graph.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "partitioner/model/zoo/model_builder.h"

namespace pareto::test {

/// A model opened with pictures of that size.
class Architecture {
 public:
  Architecture(const std::string& name, std::int64_t height, std::int64_t width,
               std::int64_t classes = 10)
      : model_(open(name, height, width, classes)) {}

  const model::Graph& graph() const { return model_.graph(); }
  const model::Model& model() const { return model_; }

  /// Number of operators of a kind: "conv2d".
  int count(const std::string& kind) const {
    return static_cast<int>(
        std::ranges::count(graph().operators, "aten::" + kind, &model::Operator::kind));
  }
  /// Number of weights' elements that training changes.
  std::int64_t parameters() const {
    std::int64_t sum = 0;
    for (const model::GraphWeight& weight : graph().weights) {
      if (weight.is_parameter) sum += *element_count(weight.shape);
    }
    return sum;
  }
  /// Multiplications, in millions, of one picture in convolutions and linear layers.
  double million_products() const {
    double flops = 0;
    for (const model::Operator& op : graph().operators) {
      if (op.kind == "aten::conv2d" || op.kind == "aten::linear") flops += op.flops_per_sample;
    }
    return flops / 2e6;
  }
  /// Channels, height and width of what operator `index` of a kind reads.
  std::vector<std::int64_t> input_of(const std::string& kind, std::size_t index = 0) const {
    for (const model::Operator& op : graph().operators) {
      if (op.kind == "aten::" + kind && index-- == 0) return sizes_of(op.inputs.at(0));
    }
    return {};
  }
  /// The same of what the last operator below a module path makes.
  std::vector<std::int64_t> output_of(const std::string& path) const {
    std::vector<std::int64_t> sizes;
    for (const model::Operator& op : graph().operators) {
      if (op.scope == path || op.scope.starts_with(path + ".")) sizes = sizes_of(op.outputs.at(0));
    }
    return sizes;
  }
  /// Number of those weights whose names end so.
  int weights_like(const std::string& ending) const {
    return static_cast<int>(std::ranges::count_if(
        graph().weights,
        [&](const model::GraphWeight& weight) { return weight.name.ends_with(ending); }));
  }

  /// Checks that each picture of a batch has the scores that it has alone.
  void expect_independent_samples() const {
    const auto batch = model_.example_inputs(3, 5);
    ASSERT_TRUE(batch) << batch.error().message;
    const auto scores = model_.run_whole(*batch);
    ASSERT_TRUE(scores) << scores.error().message;
    const Tensor& together = *batch->at(0).get_if<Tensor>();
    const Tensor& all = *scores->at(0).get_if<Tensor>();
    Shape shape = together.shape();
    shape[0] = 1;
    Shape row = all.shape();
    row[0] = 1;
    for (std::int64_t sample = 0; sample < 3; ++sample) {
      const auto at = static_cast<std::size_t>(sample);
      const Tensor one =
          Tensor::borrow(together.dtype(), shape,
                         together.bytes().data() + at * together.size_bytes() / 3, together.owner())
              .value();
      const auto alone = model_.run_whole({one});
      ASSERT_TRUE(alone) << alone.error().message;
      const Tensor expected =
          Tensor::borrow(all.dtype(), row, all.bytes().data() + at * all.size_bytes() / 3,
                         all.owner())
              .value();
      EXPECT_LT(relative_error(expected, alone->at(0)), 1e-5) << "sample " << sample;
    }
  }

 private:
  static model::Model open(const std::string& name, std::int64_t height, std::int64_t width,
                           std::int64_t classes) {
    model::zoo::ModelOptions options;
    options.num_classes = classes;
    options.input = {{{3, height, width}, DType::kFloat32}};
    return model::zoo::open_model(name, options).value();
  }
  std::vector<std::int64_t> sizes_of(std::int64_t value) const {
    std::vector<std::int64_t> sizes;
    const auto& spec = graph().values[static_cast<std::size_t>(value)].spec;
    for (const SymbolicDim& dim : spec.tensor.dims) sizes.push_back(dim.constant);
    if (!sizes.empty()) sizes.erase(sizes.begin());  // the batch
    return sizes;
  }

  model::Model model_;
};

/// Halves a side, rounded up, as layers of stride 2 do that are padded by half their kernel.
inline std::int64_t halved(std::int64_t side, int times = 1) {
  for (; times > 0; --times) side = (side + 1) / 2;
  return side;
}

}  // namespace pareto::test
