#include "partitioner/model/zoo/pickle_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "partitioner/model/zoo/pickle.h"

namespace pareto::model::zoo {
namespace {

Tensor numbered(DType dtype, Shape shape,
                pareto::MemoryLayout layout = pareto::MemoryLayout::kRowMajor) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape), layout).value();
  std::uint8_t next = 1;
  for (std::byte& byte : tensor.mutable_bytes()) byte = std::byte{next++};
  return tensor;
}

/// Returns the same bytes as another type.
Tensor same_bytes(const Tensor& tensor, DType dtype, Shape shape) {
  return Tensor::borrow(dtype, std::move(shape), tensor.bytes().data(), tensor.owner()).value();
}

/// Returns the tensors that a pickle of a state_dict has, by name, in its order.
std::vector<std::pair<std::string, PickleTensor>> read_back(const std::string& pickle) {
  std::vector<std::pair<std::string, PickleTensor>> list;
  std::string_view rest = pickle;
  const auto item = read_pickle(rest);
  EXPECT_TRUE(item) << item.error().message;
  if (!item) return list;
  EXPECT_TRUE(rest.empty());
  const auto* const dict = std::get_if<PickleDict>(&(*item)->value);
  EXPECT_NE(dict, nullptr);
  if (dict == nullptr) return list;
  for (const auto& [key, value] : dict->items) {
    list.emplace_back(std::get<std::string>(key->value), std::get<PickleTensor>(value->value));
  }
  return list;
}

TEST(PickleState, IsReadBackAsItWas) {
  std::mt19937 random(5);
  constexpr DType kTypes[]{DType::kFloat32, DType::kFloat64, DType::kInt64,   DType::kInt32,
                           DType::kUInt8,   DType::kBool,    DType::kFloat16, DType::kBFloat16};
  for (int round = 0; round < 60; ++round) {
    Entries entries;
    for (std::size_t i = random() % 6; i > 0; --i) {
      Shape shape(random() % 4);
      for (std::int64_t& size : shape) size = static_cast<std::int64_t>(random() % 20);
      entries.emplace_back("layer." + std::to_string(i), numbered(kTypes[random() % 8], shape));
    }
    const auto state = pickle_state(entries);
    ASSERT_TRUE(state) << state.error().message;
    const auto list = read_back(state->pickle);
    ASSERT_EQ(list.size(), entries.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Tensor& tensor = entries[i].second;
      EXPECT_EQ(list[i].first, entries[i].first);
      EXPECT_EQ(list[i].second.shape, tensor.shape());
      EXPECT_EQ(list[i].second.offset, 0);
      EXPECT_EQ(list[i].second.storage.dtype, tensor.dtype());
      EXPECT_EQ(list[i].second.storage.elements, element_count(tensor.shape()).value());
      const std::size_t storage = std::stoul(list[i].second.storage.key);
      ASSERT_LT(storage, state->storages.size());
      EXPECT_TRUE(std::ranges::equal(state->storages[storage].bytes(), tensor.bytes()));
    }
  }
}

TEST(PickleState, TensorsThatShareTheirBytesShareAStorage) {
  const Tensor one = numbered(DType::kFloat32, {2, 3});
  const auto state = pickle_state({{"a", one},
                                   {"b", same_bytes(one, DType::kFloat32, {6})},
                                   {"c", numbered(DType::kFloat32, {2, 3})}});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->storages.size(), 2U);
  const auto list = read_back(state->pickle);
  EXPECT_EQ(list[0].second.storage.key, list[1].second.storage.key);
  EXPECT_NE(list[0].second.storage.key, list[2].second.storage.key);
}

TEST(PickleState, AStorageHasOneType) {
  // torch.load gives all tensors of a storage the type of the first.
  const Tensor zeros = numbered(DType::kInt64, {});
  const auto state = pickle_state({{"count", zeros},
                                   {"bias", same_bytes(zeros, DType::kFloat32, {2})},
                                   {"none", numbered(DType::kFloat32, {0})},
                                   {"nothing", numbered(DType::kInt64, {0})}});
  ASSERT_TRUE(state);
  std::map<std::string, DType> types;
  for (const auto& [name, tensor] : read_back(state->pickle)) {
    const auto [known, fresh] = types.try_emplace(tensor.storage.key, tensor.storage.dtype);
    EXPECT_EQ(known->second, tensor.storage.dtype) << name;
  }
}

TEST(PickleState, PicturesAreWrittenRowByRow) {
  const Tensor picture = numbered(DType::kUInt8, {1, 2, 2, 2}, pareto::MemoryLayout::kChannelsLast);
  const auto state = pickle_state({{"x", picture}});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->storages[0].layout(), pareto::MemoryLayout::kRowMajor);
  EXPECT_TRUE(bit_equal(state->storages[0], picture));
  EXPECT_EQ(read_back(state->pickle)[0].second.strides, (std::vector<std::int64_t>{8, 4, 2, 1}));
}

TEST(PickleState, NumbersOfEverySizeAreWritten) {
  for (const std::int64_t size :
       {std::int64_t{255}, std::int64_t{256}, std::int64_t{1} << 31, std::int64_t{1} << 40}) {
    const auto state = pickle_state({{"x", numbered(DType::kUInt8, {0, size})}});
    ASSERT_TRUE(state) << size;
    EXPECT_EQ(read_back(state->pickle)[0].second.shape, (Shape{0, size}));
  }
}

TEST(PickleState, NamesMayBeAnything) {
  for (const std::string& name : {std::string(), std::string("a\n\0b", 4),
                                  std::string("\xc3\xa4.w"), std::string(70'000, 'n')}) {
    const auto state = pickle_state({{name, numbered(DType::kBool, {1})}});
    ASSERT_TRUE(state);
    EXPECT_EQ(read_back(state->pickle)[0].first, name);
  }
}

TEST(PickleState, OfNothingIsAnEmptyDictionary) {
  const auto state = pickle_state({});
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->storages.empty());
  EXPECT_TRUE(read_back(state->pickle).empty());
}

}  // namespace
}  // namespace pareto::model::zoo
