#include "runtime/archive/pickle_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/runtime/archive/times.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

std::string text(const std::string& bytes) {
  std::string size(4, '\0');
  size[0] = static_cast<char>(bytes.size());
  return "X" + size + bytes;
}

std::string pickle(const std::string& values) { return "\x80\x02" + values + "."; }

/// A tensor's storage as LibTorch writes it, of elements in one byte.
std::string storage(const std::string& type, const std::string& record, char elements) {
  return "(" + text("storage") + "ctorch\n" + type + "\n" + text(record) + text("cpu") + "K" +
         std::string(1, elements) + "tQ";
}

TEST(PickleCheck, TellsWhatTensorsTakeForGranted) {
  const std::vector<std::pair<std::string, std::uint64_t>> types{
      {"FloatStorage", 4}, {"DoubleStorage", 8}, {"HalfStorage", 2},          {"BoolStorage", 1},
      {"LongStorage", 8},  {"ByteStorage", 1},   {"ComplexDoubleStorage", 16}};
  for (const auto& [type, size] : types) {
    const auto claimed = check_values(pickle(storage(type, "7", 5)));
    ASSERT_TRUE(claimed) << claimed.error().message;
    EXPECT_EQ(*claimed, (ClaimedBytes{{"7", 5 * size}})) << type;
  }
  // Of a class that nobody knows the most that an element may have.
  EXPECT_EQ(check_values(pickle(storage("NewStorage", "7", 5)))->at("7"), 80U);
}

TEST(PickleCheck, OfSeveralTensorsInARecordTheLargestCounts) {
  const auto claimed =
      check_values(pickle("(" + storage("FloatStorage", "0", 5) + storage("DoubleStorage", "0", 3) +
                          storage("ByteStorage", "0", 9) + storage("FloatStorage", "1", 2) + "t"));
  ASSERT_TRUE(claimed) << claimed.error().message;
  EXPECT_EQ(*claimed, (ClaimedBytes{{"0", 24}, {"1", 8}}));
}

TEST(PickleCheck, ElementsThatNoFileHasAreRefused) {
  for (const std::string& number : {std::string("J\xff\xff\xff\xff", 5),
                                    std::string("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"),
                                    std::string("\x8a\x08\0\0\0\0\0\0\0\x80", 10)}) {
    const auto claimed = check_values(pickle("(" + text("storage") + "ctorch\nDoubleStorage\n" +
                                             text("0") + text("cpu") + number + "tQ"));
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(claimed.error().message, HasSubstr("a tensor of "));
  }
}

TEST(PickleCheck, NestingIsCountedHoweverItIsMade) {
  const std::size_t many = kDeepestValue + 10;
  for (const std::string& deep :
       {")" + times(many, "\x85"), times(many, "(") + times(many, "t"),
        times(many, "]") + times(many - 1, "a"), "N" + times(many, "\x85"),
        times(many, "}K\1") + "N" + times(many, "s")}) {
    const auto claimed = check_values(pickle(deep));
    ASSERT_FALSE(claimed) << deep.substr(0, 8);
    EXPECT_THAT(claimed.error().message, HasSubstr("nest deeper than 2000 levels"));
  }
  EXPECT_TRUE(check_values(pickle(")" + times(kDeepestValue - 2, "\x85"))));
}

TEST(PickleCheck, ValuesBesideEachOtherNestNothing) {
  EXPECT_TRUE(check_values(pickle("](" + times(50'000, "K\1") + "e")));
  EXPECT_TRUE(check_values(pickle("}(" + times(50'000, "K\1N") + "u")));
}

TEST(PickleCheck, AValueIsDoneOnceAnotherHoldsIt) {
  // A list in a list, which then gets more.
  EXPECT_FALSE(check_values(pickle("]q\1]q\2h\1ah\1h\2a")));
  EXPECT_TRUE(check_values(pickle("]q\1K\1a]h\1a")));
}

TEST(PickleCheck, WhatLibTorchDoesNotKnowEndsTheCheck) {
  EXPECT_TRUE(check_values(""));
  EXPECT_TRUE(check_values("no pickle"));
  EXPECT_TRUE(check_values(pickle("\xff" + times(5000, "\x85"))));
}

TEST(PickleCheck, TypesInWordsNestNoDeeperThanCode) {
  const auto tagged = [](const std::string& type) {
    return pickle("ctorch.jit._pickle\nrestore_type_tag\n(]" + text(type) + "tR");
  };
  EXPECT_TRUE(check_values(tagged("Dict[str, List[Tensor]]")));
  std::string deep = times(40, "List[") + "int" + times(40, "]");
  deep.resize(243, ' ');
  EXPECT_TRUE(check_values(tagged(deep)));
}

/// Whatever the instructions: an answer, and memory that is no multiple of what the pickle has.
TEST(PickleCheck, RandomInstructionsAreAnswered) {
  std::mt19937_64 random(3);
  const std::string instructions = "().}]NKMJXRQbasetuqhrj\x85\x86\x87\x88\x89\x81\x8a\x80";
  int passed = 0;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string values;
    for (std::uint64_t count = random() % 40; count > 0; --count) {
      values += instructions[random() % instructions.size()];
      if (random() % 3 == 0) values += static_cast<char>(random() % 4);
    }
    const auto claimed = check_values(pickle(values));
    (claimed ? passed : refused) += 1;
    if (!claimed) {
      ASSERT_EQ(claimed.error().code, ErrorCode::kCorrupt);
    }
  }
  EXPECT_GT(passed, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace pareto::runtime
