#include "partitioner/model/zoo/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/partitioner/model/zoo/pickle_bytes.h"

namespace pareto::model::zoo {
namespace {

using test::pickled_text;
using testing::HasSubstr;

template <typename T>
const T& as(const PickleRef& item) {
  return std::get<T>(item->value);
}

PickleRef read(std::string_view bytes) {
  auto item = read_pickle(bytes);
  EXPECT_TRUE(item) << item.error().message;
  return item.value_or(std::make_shared<PickleItem>());
}

std::string problem(std::string_view bytes) {
  const auto item = read_pickle(bytes);
  EXPECT_FALSE(item) << bytes;
  if (item) return "";
  EXPECT_EQ(item.error().code, ErrorCode::kCorrupt);
  return item.error().message;
}

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Pickle, NumbersOfEverySizeAndSign) {
  using namespace std::string_literals;
  for (const auto& [bytes, number] : std::vector<std::pair<std::string, std::int64_t>>{
           {"K\xff."s, 255},
           {"M\xff\xff."s, 65535},
           {"J\xff\xff\xff\xff."s, -1},
           {"J\0\0\0\x80."s, INT32_MIN},
           {"\x8a\0."s, 0},
           {"\x8a\1\xff."s, -1},
           {"\x8a\1\x7f."s, 127},
           {"\x8a\2\xff\0."s, 255},
           {"\x8a\3\0\0\x80."s, -8388608},
           {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s, INT64_MAX},
           {"\x8a\x08\0\0\0\0\0\0\0\x80."s, INT64_MIN}}) {
    EXPECT_EQ(as<std::int64_t>(read(bytes)), number);
  }
  EXPECT_EQ(as<double>(read("G\x40\x09\x21\xfb\x54\x44\x2d\x18."s)), 3.141592653589793);
  EXPECT_EQ(as<std::string>(read("\x8a\x09"
                                 "123456789."s)),
            "123456789")
      << "too long for us";
}

TEST(Pickle, TextsAndLeaves) {
  EXPECT_EQ(as<std::string>(read("U\3abc.")), "abc");
  EXPECT_EQ(as<std::string>(read("\x8c\3abc.")), "abc");
  EXPECT_EQ(as<std::string>(read(pickled_text("K\xc3\xbc"
                                              "che") +
                                 ".")),
            "K\xc3\xbc"
            "che");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read("N.")->value));
  EXPECT_TRUE(as<bool>(read("\x88.")));
  EXPECT_FALSE(as<bool>(read("\x89.")));
}

TEST(Pickle, ContainersHoldWhatWasPutIntoThem) {
  EXPECT_EQ(as<PickleSequence>(read("(K\1K\2t.")).items.size(), 2U);
  EXPECT_EQ(as<PickleSequence>(read("].")).items.size(), 0U);
  EXPECT_EQ(as<PickleSequence>(read("](K\1K\2eK\3a.")).items.size(), 3U);
  EXPECT_EQ(as<PickleSequence>(read("K\1K\2K\3\x87.")).items.size(), 3U);
  const PickleRef dict = read("}(K\1NK\2NuK\3Ns.");
  ASSERT_EQ(as<PickleDict>(dict).items.size(), 3U);
  EXPECT_EQ(as<std::int64_t>(as<PickleDict>(dict).items[2].first), 3);
  EXPECT_EQ(dict->depth, 1);
  EXPECT_EQ(read("}K\1]s.")->depth, 2);
}

TEST(Pickle, WhatIsRememberedIsTheSameAgain) {
  const PickleRef list = read(std::string_view("]q\0K\1a]h\0a.", 11));
  const auto& items = as<PickleSequence>(list).items;
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(as<PickleSequence>(items[0]).items.size(), 1U);
  EXPECT_THAT(problem("h\x07."), HasSubstr("never remembered"));
  EXPECT_THAT(problem("q\x07."), HasSubstr("empty stack"));
}

TEST(Pickle, AStateDictsTensorsAreViews) {
  const std::string bytes =
      test::pickled({{"w", "0", 6, 1, {2, 2}, {3, 1}}, {"b", "1", 9, 0, {}, {}, "LongStorage"}});
  const PickleRef dict = read(bytes);
  const auto& items = as<PickleDict>(dict).items;
  ASSERT_EQ(items.size(), 2U);
  const auto& weight = as<PickleTensor>(items[0].second);
  EXPECT_EQ(weight.storage.key, "0");
  EXPECT_EQ(weight.storage.elements, 6);
  EXPECT_EQ(weight.offset, 1);
  EXPECT_EQ(weight.shape, (Shape{2, 2}));
  EXPECT_EQ(weight.strides, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(as<PickleTensor>(items[1].second).storage.dtype, DType::kInt64);
}

TEST(Pickle, NoOtherNamesAreKnown) {
  for (const char* const name : {"os\nsystem", "builtins\neval", "torch\nload", "torch\nStorage",
                                 "torch._utils\n_rebuild_qtensor", "collections\ndefaultdict"}) {
    EXPECT_THAT(problem("c" + std::string(name) + "\n."), HasSubstr("which no state_dict needs"));
  }
  EXPECT_THAT(problem("\x8c\2os\x8c\6system\x93."), HasSubstr("os.system"));
}

TEST(Pickle, CallsAreOfThreeFunctionsAndOnlyAsTorchCallsThem) {
  const std::string rebuild = "ctorch._utils\n_rebuild_tensor_v2\n";
  for (const std::string& call : std::vector<std::string>{
           std::string("ccollections\nOrderedDict\n(K\1tR"), rebuild + ")R", rebuild + "(NNNNtR",
           "ctorch\nFloatStorage\n)R", std::string("K\1)R"), "ccollections\nOrderedDict\nNR",
           "ctorch._utils\n_rebuild_parameter\n(K\1tR"}) {
    EXPECT_THAT(problem(call + "."), HasSubstr("calls ")) << call;
  }
  // A shape without as many strides.
  test::PickledTensor crooked{"w", "0", 6, 0, {2, 3}, {1}};
  EXPECT_THAT(problem(test::pickled({crooked})), HasSubstr("in a way no state_dict does"));
}

TEST(Pickle, StoragesAreNamedAsTorchNamesThem) {
  const auto storage = [](const std::string& tuple) { return "(" + tuple + "tQ."; };
  const std::string good =
      pickled_text("storage") + "ctorch\nFloatStorage\n" + pickled_text("0") + pickled_text("cpu");
  EXPECT_EQ(as<PickleStorage>(read(storage(good + "K\5"))).elements, 5);
  EXPECT_THAT(problem(storage(good)), HasSubstr("no storage"));
  EXPECT_THAT(problem(storage(good + "J\xff\xff\xff\xff")), HasSubstr("no storage"));
  EXPECT_THAT(problem(storage(pickled_text("storage") + "ccollections\nOrderedDict\n" +
                              pickled_text("0") + pickled_text("cpu") + "K\5")),
              HasSubstr("a storage of type collections OrderedDict"));
  EXPECT_THAT(problem("NQ."), HasSubstr("no storage"));
}

TEST(Pickle, NestsNoDeeperThanItMay) {
  EXPECT_EQ(read(")" + times(60, "\x85") + ".")->depth, 61);
  EXPECT_THAT(problem(")" + times(70, "\x85") + "."), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(problem(times(70, "]") + times(69, "a") + "."), HasSubstr("nested deeper"));
}

TEST(Pickle, IsReadFromTheFront) {
  std::string_view two("K\1.K\2.rest");
  EXPECT_EQ(as<std::int64_t>(read_pickle(two).value()), 1);
  EXPECT_EQ(as<std::int64_t>(read_pickle(two).value()), 2);
  EXPECT_EQ(two, "rest");
}

/// Whatever is put in place of its bytes: an item, or why not.
TEST(Pickle, DamagedAnywhereItIsAnswered) {
  const std::string whole =
      "\x80\x02]" + test::pickled(test::PickledTensor{"", "0", 6, 0, {2, 3}, {3, 1}}) + "a.";
  std::mt19937_64 random(5);
  int answered = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    for (std::uint64_t count = 1 + random() % 4; count > 0; --count) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    std::string_view rest = bytes;
    const auto item = read_pickle(rest);
    if (item) {
      ASSERT_NE(*item, nullptr);
    } else {
      ASSERT_EQ(item.error().code, ErrorCode::kCorrupt);
    }
    answered += item ? 1 : 0;
  }
  EXPECT_GT(answered, 100) << "not only refusals";
}

}  // namespace
}  // namespace pareto::model::zoo
