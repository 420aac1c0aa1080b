#include "partitioner/model/zoo/state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/base/file.h"
#include "tests/partitioner/model/zoo/pickle_bytes.h"

namespace pareto::model::zoo {
namespace {

using test::PickledTensor;
using testing::ElementsAre;
using testing::HasSubstr;

/// Makes storage "0": that number of floats, each its own place.
std::shared_ptr<std::vector<float>> counted(std::size_t elements) {
  auto numbers = std::make_shared<std::vector<float>>(elements);
  for (std::size_t i = 0; i < elements; ++i) (*numbers)[i] = static_cast<float>(i);
  return numbers;
}

Expected<Entries> entries_in(const std::string& pickle, std::size_t elements = 24) {
  const auto numbers = counted(elements);
  std::string_view text = pickle;
  PARETO_ASSIGN(const PickleRef root, read_pickle(text));
  return entries_of(root, [&](const PickleStorage& storage) -> Expected<StorageBytes> {
    if (storage.key != "0") return fail(ErrorCode::kCorrupt, "has no storage {}", storage.key);
    return StorageBytes{reinterpret_cast<const std::byte*>(numbers->data()), numbers->size() * 4,
                        numbers};
  });
}

Expected<Entries> entries_of_view(const std::vector<std::int64_t>& shape,
                                  const std::vector<std::int64_t>& strides,
                                  std::int32_t offset = 0) {
  return entries_in(test::pickled({{"w", "0", 24, offset, shape, strides}}));
}

std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> numbers(tensor.size_bytes() / 4);
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.bytes().data(), tensor.size_bytes());
  return numbers;
}

TEST(StateDict, ViewsOfAnyStridesAreReadRowByRow) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::int64_t> shape(random() % 4);
    std::vector<std::int64_t> strides;
    std::int64_t last = static_cast<std::int64_t>(random() % 3);
    const auto offset = static_cast<std::int32_t>(last);
    for (std::int64_t& size : shape) {
      size = 1 + static_cast<std::int64_t>(random() % 3);
      strides.push_back(static_cast<std::int64_t>(random() % 4));
      last += (size - 1) * strides.back();
    }
    const auto entries = entries_of_view(shape, strides, offset);
    ASSERT_EQ(entries.has_value(), last < 24) << i;
    if (!entries) continue;
    std::vector<float> expected;
    std::vector<std::int64_t> index(shape.size(), 0);
    for (;;) {
      std::int64_t at = offset;
      for (std::size_t d = 0; d < shape.size(); ++d) at += index[d] * strides[d];
      expected.push_back(static_cast<float>(at));
      std::size_t d = shape.size();
      while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
      if (d == 0) break;
    }
    ASSERT_EQ(floats(entries->at(0).second), expected) << i;
    ASSERT_EQ(entries->at(0).second.shape(), shape) << i;
  }
}

TEST(StateDict, RowsThatLieSoAreNotCopied) {
  const auto numbers = counted(24);
  const std::string pickle =
      test::pickled({{"row", "0", 24, 4, {2, 3}, {3, 1}}, {"column", "0", 24, 0, {3, 2}, {1, 3}}});
  std::string_view text = pickle;
  const auto entries = entries_of(read_pickle(text).value(), [&](const PickleStorage&) {
    return Expected<StorageBytes>(
        {reinterpret_cast<const std::byte*>(numbers->data()), 24 * 4, numbers});
  });
  ASSERT_TRUE(entries) << entries.error().message;
  const auto* const begin = reinterpret_cast<const std::byte*>(numbers->data());
  EXPECT_EQ(entries->at(0).second.bytes().data(), begin + 4 * 4);
  EXPECT_NE(entries->at(1).second.bytes().data(), begin);
  EXPECT_GT(numbers.use_count(), 1) << "the storage lives as long as what borrows it";
}

TEST(StateDict, ViewsThatLeaveTheirStorageAreRefused) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  for (const auto& [shape, strides, offset] :
       std::vector<std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>, std::int32_t>>{
           {{25}, {1}, 0},
           {{24}, {1}, 1},
           {{1}, {1}, 24},
           {{1}, {1}, -1},
           {{2}, {-1}, 5},
           {{2}, {kFar}, 0},
           {{3, 3}, {kFar, kFar}, 0},
           {{kFar, kFar}, {0, 0}, 0},
           {{-1}, {1}, 0}}) {
    const auto entries = entries_of_view(shape, strides, offset);
    ASSERT_FALSE(entries) << to_string(shape);
    EXPECT_NE(entries.error().code, ErrorCode::kInternal);
  }
}

TEST(StateDict, AStorageThatIsShorterThanItSaysIsRefused) {
  const auto entries = entries_in(test::pickled({{"w", "0", 24, 0, {2}, {1}}}), 23);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().message, "w: storage 0 has 92 bytes, not 24 elements of float32");
  // Of larger elements it has fewer.
  EXPECT_FALSE(entries_in(test::pickled({{"w", "0", 24, 0, {2}, {1}, "DoubleStorage"}})));
  EXPECT_TRUE(entries_in(test::pickled({{"w", "0", 12, 0, {2}, {1}, "DoubleStorage"}})));
}

TEST(StateDict, NothingOfAnythingIsNothing) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  for (const auto& shape : std::vector<Shape>{{0}, {3, 0}, {0, kFar}, {kFar, 0, 7}}) {
    const auto entries =
        entries_of_view(shape, std::vector<std::int64_t>(shape.size(), kFar), 1 << 30);
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(entries->at(0).second.size_bytes(), 0U);
    EXPECT_EQ(entries->at(0).second.shape(), shape);
  }
}

/// A pickle of a few hundred bytes may not ask for more memory than the machine has.
TEST(StateDict, RepeatedElementsTakeNoMoreMemoryThanIsSound) {
  const auto bomb = entries_of_view({std::int64_t{1} << 36}, {0});
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(bomb.error().message, HasSubstr("repeats elements of its storage"));
  // Nor may a thousand tensors that are each small enough.
  std::vector<PickledTensor> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back({"w" + std::to_string(i), "0", 24, 0, {1 << 20}, {0}});
  }
  EXPECT_FALSE(entries_in(test::pickled(many)));
  // What is expanded a little is what models have.
  const auto expanded = entries_of_view({1000, 3}, {0, 1});
  ASSERT_TRUE(expanded) << expanded.error().message;
  EXPECT_EQ(floats(expanded->at(0).second)[2999], 2);
}

TEST(StateDict, IsFoundBesideOtherThings) {
  const std::string inner = test::pickled({{"w", "0", 24, 0, {2}, {1}}});
  const std::string body = inner.substr(2, inner.size() - 3);
  for (const char* const name : {"state_dict", "model"}) {
    const auto entries = entries_in("\x80\x02}(" + test::pickled_text("epoch") + "K\3" +
                                    test::pickled_text(name) + body + "u.");
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(entries->at(0).first, "w");
  }
  for (const std::string& none :
       {std::string("\x80\x02}."), std::string("\x80\x02]."), std::string("\x80\x02K\1."),
        "\x80\x02}" + test::pickled_text("a") + "K\1s."}) {
    const auto entries = entries_in(none);
    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().code, ErrorCode::kCorrupt);
  }
}

class Legacy : public testing::Test {
 protected:
  /// Writes what torch.save wrote before 1.6, and reads it.
  Expected<Entries> read(const std::string& state, const std::vector<std::string>& keys,
                         const std::string& storages) {
    std::string file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    file += "\x80\x02M\xe9\x03.\x80\x02}.";
    file += state + "\x80\x02](";
    for (const std::string& key : keys) file += test::pickled_text(key);
    file += "e." + storages;
    const std::string path = (folder_.path() / "old.pth").string();
    EXPECT_TRUE(write_file_atomically(path, file));
    return read_legacy_checkpoint(path);
  }
  static std::string storage(std::uint64_t elements, const std::vector<float>& numbers) {
    std::string bytes(8 + numbers.size() * 4, '\0');
    std::memcpy(bytes.data(), &elements, 8);
    std::memcpy(bytes.data() + 8, numbers.data(), numbers.size() * 4);
    return bytes;
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("pareto-state").value();
};

TEST_F(Legacy, StoragesLieInTheOrderOfTheirKeys) {
  const std::string state = test::pickled({{"a", "x", 2, 0, {2}, {1}}, {"b", "y", 1, 0, {1}, {1}}});
  const auto entries = read(state, {"y", "x"}, storage(1, {7}) + storage(2, {8, 9}));
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_THAT(floats(entries->at(0).second), ElementsAre(8, 9));
  EXPECT_THAT(floats(entries->at(1).second), ElementsAre(7));
}

TEST_F(Legacy, StoragesThatAreNotThereAreRefused) {
  const std::string state = test::pickled({{"a", "x", 2, 0, {2}, {1}}});
  EXPECT_FALSE(read(state, {}, ""));
  EXPECT_FALSE(read(state, {"x"}, ""));
  EXPECT_FALSE(read(state, {"x"}, storage(2, {8})));
  EXPECT_FALSE(read(state, {"x"}, storage(std::uint64_t{1} << 62, {8, 9})));
  EXPECT_FALSE(read(state, {"x"}, storage(1, {8}))) << "fewer than the tensor says";
  EXPECT_FALSE(read(state, {"z"}, storage(2, {8, 9})));
}

}  // namespace
}  // namespace pareto::model::zoo
