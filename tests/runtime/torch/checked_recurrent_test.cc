#include "runtime/torch/checked_recurrent.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/torch/thrown_by.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

TEST(CheckedRecurrent, StepsOfPackedSequencesOnlyFall) {
  const at::Tensor x = at::rand({5, 3});
  const auto pad = [&](const at::Tensor& sizes) {
    return thrown_by_operator("aten::_pad_packed_sequence", {x, sizes, true, 0.0, 0});
  };
  const auto whole = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); };
  EXPECT_EQ(pad(whole({2, 2, 1})), "nothing");
  for (const at::Tensor& sizes : {whole({2, -5}), whole({2, 1, 2}), whole({5, 0}), whole({}),
                                  whole({1}).expand({5}), at::ones({5}), whole({5}).view({1, 1})}) {
    EXPECT_THAT(pad(sizes), HasSubstr("batch_sizes are no counts that only fall"));
  }
}

/// An LSTM of 3 samples, 4 numbers a step and 5 in its state, and what is changed of it.
struct Lstm {
  at::Tensor input = at::rand({2, 3, 4});
  at::Tensor hidden = at::rand({1, 3, 5});
  at::Tensor cells = at::rand({1, 3, 5});
  std::vector<at::Tensor> weights{at::rand({20, 4}), at::rand({20, 5}), at::rand({20}),
                                  at::rand({20})};
  std::int64_t layers = 1;
  bool both_ways = false;

  std::string thrown() const {
    return thrown_by_layer(
        "x, h, c, w: List[Tensor], n: int, b: bool",
        "torch.lstm(x, [h, c], w, True, n, 0.0, False, b, False)[0]",
        {input, hidden, cells, c10::List<at::Tensor>(weights), layers, both_ways});
  }
};

TEST(CheckedRecurrent, StatesAreThoseOfTheLayersAndSamples) {
  EXPECT_EQ(Lstm().thrown(), "nothing");
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {0, 3, 5}, {2, 3, 5}, {1, 1, 5}, {1, 4, 5}, {3, 5}, {1, 1, 3, 5}}) {
    Lstm hidden;
    hidden.hidden = at::rand(sizes);
    EXPECT_THAT(hidden.thrown(), HasSubstr("aten::lstm: a state has sizes"));
    Lstm cells;
    cells.cells = at::rand(sizes);
    EXPECT_THAT(cells.thrown(), HasSubstr("aten::lstm: a state has sizes"));
  }
  Lstm flat;
  flat.input = at::rand({3, 4});
  EXPECT_THAT(flat.thrown(), HasSubstr("1 layers of an input of 2 dimensions"));
  Lstm none;
  none.layers = 0;
  EXPECT_THAT(none.thrown(), HasSubstr("0 layers of an input"));
}

TEST(CheckedRecurrent, WeightsHaveARowForEachNumberOfEachGate) {
  const std::vector<std::vector<std::int64_t>> wanted{{20, 4}, {20, 5}, {20}, {20}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const std::int64_t rows : {2, 3, 19, 40}) {
      Lstm lstm;
      std::vector<std::int64_t> sizes = wanted[i];
      sizes[0] = rows;
      lstm.weights[i] = at::rand(sizes);
      EXPECT_THAT(lstm.thrown(), HasSubstr(fmt::format("weight {} has sizes {}", i, rows)));
    }
  }
  Lstm wide;
  wide.weights[0] = at::rand({20, 400});
  EXPECT_THAT(wide.thrown(), HasSubstr("weight 0 has sizes 20x400, not 20x4"));
  Lstm large;
  large.hidden = large.cells = at::rand({1, 3, 20000});
  EXPECT_THAT(large.thrown(), HasSubstr("not 80000x4"));
  Lstm few;
  few.weights.pop_back();
  EXPECT_THAT(few.thrown(), HasSubstr("it has 3 weights, not 4"));
}

TEST(CheckedRecurrent, LaterLayersTakeWhatEarlierOnesGive) {
  Lstm lstm;
  lstm.layers = 2;
  lstm.both_ways = true;
  lstm.hidden = at::rand({4, 3, 2});
  lstm.cells = at::rand({4, 3, 5});
  lstm.weights.clear();
  for (const std::int64_t taken : {4, 4, 4, 4}) {
    // Each projects 5 numbers to 2; 2 from both directions are 4 for the next.
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{20, taken}, {20, 2}, {20}, {20}, {2, 5}}) {
      lstm.weights.push_back(at::rand(sizes));
    }
  }
  EXPECT_EQ(lstm.thrown(), "nothing");
  lstm.weights[10] = at::rand({20, 5});
  EXPECT_THAT(lstm.thrown(), HasSubstr("weight 10 has sizes 20x5, not 20x4"));
}

TEST(CheckedRecurrent, OthersHaveTheirOwnGates) {
  const auto layer = [](const std::string& name, std::int64_t rows) {
    return thrown_by_layer(
        "x, h, w, v", "torch." + name + "(x, h, [w, v], False, 1, 0.0, False, False, True)[0]",
        {at::rand({3, 2, 4}), at::rand({1, 3, 5}), at::rand({rows, 4}), at::rand({rows, 5})});
  };
  const auto cell = [](const std::string& name, std::int64_t rows) {
    return thrown_by_layer("x, h, w, v, b", "torch." + name + "_cell(x, h, w, v, b, b)",
                           {at::rand({3, 4}), at::rand({3, 5}), at::rand({rows, 4}),
                            at::rand({rows, 5}), at::rand({rows})});
  };
  for (const auto& [name, rows] : std::vector<std::pair<std::string, std::int64_t>>{
           {"gru", 15}, {"rnn_tanh", 5}, {"rnn_relu", 5}}) {
    EXPECT_EQ(layer(name, rows), "nothing") << name;
    EXPECT_EQ(cell(name, rows), "nothing") << name;
    for (const std::int64_t other : {1, 2, 4, 20}) {
      EXPECT_THAT(layer(name, other), HasSubstr("weight 0 has sizes ")) << name;
      EXPECT_THAT(cell(name, other), HasSubstr("w_ih has sizes ")) << name;
    }
  }
}

TEST(CheckedRecurrent, CellsAreCheckedAsLayersAre) {
  const auto lstm = [](std::int64_t samples, std::int64_t state_rows, std::int64_t bias) {
    return thrown_by_layer("x, h, w, v, b", "torch.lstm_cell(x, [h, h], w, v, b, b)",
                           {at::rand({3, 4}), at::rand({samples, 5}), at::rand({20, 4}),
                            at::rand({state_rows, 5}), at::rand({bias})});
  };
  EXPECT_EQ(lstm(3, 20, 20), "nothing");
  EXPECT_THAT(lstm(2, 20, 20), HasSubstr("a state has sizes 2x5, not 3x5"));
  EXPECT_THAT(lstm(3, 2, 20), HasSubstr("w_hh has sizes 2x5, not 20x5"));
  EXPECT_THAT(lstm(3, 20, 2), HasSubstr("a bias has sizes 2, not 20"));
}

TEST(CheckedRecurrent, LayersOfFewBitsHaveThoseWeights) {
  const auto pack = [](std::int64_t rows, std::int64_t columns) {
    return result_of_operator(
        "quantized::linear_prepack",
        {at::quantize_per_tensor(at::rand({rows, columns}), 0.01, 0, at::kQInt8),
         at::rand({rows})});
  };
  const auto gru = [&](std::int64_t rows, std::int64_t taken) {
    const c10::IValue cell = result_of_operator(
        "quantized::make_quantized_cell_params_dynamic",
        {pack(rows, taken), pack(rows, 5), at::rand({rows}), at::rand({rows}), false});
    c10::impl::GenericList cells(cell.type());
    cells.push_back(cell);
    return thrown_by_operator(
        "aten::quantized_gru",
        {at::rand({3, 2, 4}), at::rand({1, 3, 5}), cells, true, 1, 0.0, false, false, true},
        "input");
  };
  EXPECT_EQ(gru(15, 4), "nothing");
  EXPECT_THAT(gru(2, 4), HasSubstr("a weight has sizes 2x4, not 15x4"));
  EXPECT_THAT(gru(15, 400), HasSubstr("a weight has sizes 15x400, not 15x4"));
}

}  // namespace
}  // namespace pareto::runtime
