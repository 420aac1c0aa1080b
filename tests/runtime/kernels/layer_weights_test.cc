#include "runtime/kernels/layer_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

namespace pareto::runtime::kernels {
namespace {

using dnnl::memory;

/// Returns weights, and a layout of them with the input's channels outermost.
class LayerWeightsTest : public testing::Test {
 protected:
  LayerWeights weights(const at::Tensor& given, std::int64_t groups = 1) {
    return {given, groups, packed_};
  }
  static memory::desc by_input(const LayerWeights& weights, const Share& channels) {
    return {weights.dims(channels), memory::data_type::f32, memory::format_tag::iohw};
  }
  /// Returns the numbers of packed weights [in, out, height, width] as [out, in, height, width].
  static at::Tensor unpacked(const memory& packed, const LayerWeights& weights,
                             const Share& channels) {
    const auto& sizes = weights.sizes();
    const at::Tensor numbers = at::empty({sizes[1], channels.size(), sizes[2], sizes[3]});
    std::memcpy(numbers.data_ptr(), packed.get_data_handle(), numbers.nbytes());
    return numbers.transpose(0, 1);
  }

  std::shared_ptr<PackedWeights> packed_ = std::make_shared<PackedWeights>();
};

TEST_F(LayerWeightsTest, ArePackedAsAsked) {
  const at::Tensor given = at::randn({6, 4, 3, 2});
  LayerWeights layer = weights(given);
  EXPECT_EQ(layer.sizes(), given.sizes());
  EXPECT_EQ(layer.all(), (Share{0, 6}));
  for (const Share channels : {Share{0, 6}, Share{2, 5}, Share{5, 6}}) {
    const memory packed = layer.packed(by_input(layer, channels), channels);
    EXPECT_TRUE(
        unpacked(packed, layer, channels).equal(given.narrow(0, channels.begin, channels.size())));
    EXPECT_EQ(layer.packed(by_input(layer, channels), channels).get_data_handle(),
              packed.get_data_handle())
        << "once";
  }
}

TEST_F(LayerWeightsTest, GivenOnesNeedNotLieDensely) {
  const at::Tensor given = at::randn({4, 6, 3, 3}).transpose(0, 1).narrow(0, 1, 4);
  LayerWeights layer = weights(given);
  const memory packed = layer.packed(by_input(layer, layer.all()), layer.all());
  EXPECT_TRUE(unpacked(packed, layer, layer.all()).equal(given));
  EXPECT_TRUE(layer.plain().equal(given));
}

TEST_F(LayerWeightsTest, GroupsAreADimensionOfTheirOwn) {
  const LayerWeights grouped = weights(at::ones({6, 2, 3, 3}), 3);
  EXPECT_EQ(grouped.dims({0, 6}), (memory::dims{3, 2, 2, 3, 3}));
  const LayerWeights depthwise = weights(at::ones({5, 1, 3, 3}), 5);
  EXPECT_EQ(depthwise.dims({0, 5}), (memory::dims{5, 1, 1, 3, 3}));
  EXPECT_EQ(weights(at::ones({6, 2, 3, 3})).dims({1, 4}), (memory::dims{3, 2, 3, 3}));
}

TEST_F(LayerWeightsTest, OfOneContentAreSharedByAllThatKeepThem) {
  const at::Tensor given = at::randn({8, 8, 1, 1});
  LayerWeights one = weights(given);
  const auto other_packed = std::make_shared<PackedWeights>();
  LayerWeights other(given.clone(), 1, other_packed);
  EXPECT_EQ(one.content(), other.content());
  const memory kept = one.keep(one.packed(by_input(one, one.all()), one.all()), one.all());
  EXPECT_EQ(other.packed(by_input(other, other.all()), other.all()).get_data_handle(),
            kept.get_data_handle());
  LayerWeights third(given + 1, 1, other_packed);
  EXPECT_NE(third.content(), one.content());
  EXPECT_NE(third.packed(by_input(third, third.all()), third.all()).get_data_handle(),
            kept.get_data_handle());
}

TEST_F(LayerWeightsTest, AreReadBackFromKeptPartsBitForBit) {
  const at::Tensor given = at::randn({7, 3, 2, 2});
  const std::vector<std::vector<Share>> ways{{{0, 7}}, {{0, 3}, {3, 7}}, {{0, 1}, {1, 2}, {2, 7}}};
  for (const std::vector<Share>& parts : ways) {
    LayerWeights layer = weights(given.clone());
    const WeightContent content = layer.content();
    for (const Share& part : parts) layer.keep(layer.packed(by_input(layer, part), part), part);
    layer.drop_given(/*lossless=*/true);
    EXPECT_TRUE(layer.plain().equal(given));
    EXPECT_EQ(layer.content(), content);
    // Another layout is packed from what is left.
    const memory again = layer.packed(by_input(layer, {1, 4}), {1, 4});
    EXPECT_TRUE(unpacked(again, layer, {1, 4}).equal(given.narrow(0, 1, 3)));
  }
}

TEST_F(LayerWeightsTest, GivenOnesStayUnlessKeptOnesAreAsGood) {
  const at::Tensor given = at::randn({6, 3, 1, 1});
  LayerWeights lossy = weights(given.clone());
  lossy.keep(lossy.packed(by_input(lossy, lossy.all()), lossy.all()), lossy.all());
  lossy.drop_given(/*lossless=*/false);
  EXPECT_TRUE(lossy.plain().equal(given));
  LayerWeights part = weights(given.clone());
  part.keep(part.packed(by_input(part, {0, 4}), {0, 4}), {0, 4});
  part.drop_given(/*lossless=*/true);
  EXPECT_TRUE(part.plain().equal(given)) << "not all of them are kept";
  LayerWeights unkept = weights(given.clone());
  unkept.drop_given(/*lossless=*/true);
  unkept.drop_given(/*lossless=*/true);
  EXPECT_TRUE(unkept.plain().equal(given));
}

}  // namespace
}  // namespace pareto::runtime::kernels
