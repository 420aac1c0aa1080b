#include "runtime/archive/pickle_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/runtime/archive/made_archive.h"
#include "tests/runtime/archive/made_pickle.h"
#include "tests/runtime/archive/times.h"

namespace pareto::runtime {
namespace {

using test::floats;
using test::numbers;
using test::pickle;
using test::refusal_of_values;
using test::storage;
using test::text;
using testing::HasSubstr;

TEST(PickleCheck, TellsWhatTensorsTakeForGranted) {
  const std::vector<std::pair<std::string, std::uint64_t>> types{
      {"FloatStorage", 4}, {"DoubleStorage", 8}, {"HalfStorage", 2},          {"BoolStorage", 1},
      {"LongStorage", 8},  {"ByteStorage", 1},   {"ComplexDoubleStorage", 16}};
  for (const auto& [type, size] : types) {
    const auto claimed = check_values(pickle(storage(type, "7", 5)));
    ASSERT_TRUE(claimed) << claimed.error().message;
    EXPECT_EQ(claimed->bytes, (ClaimedBytes{{"7", 5 * size}})) << type;
  }
  // Of a class that nobody knows the most that an element may have.
  EXPECT_EQ(check_values(pickle(storage("NewStorage", "7", 5)))->bytes.at("7"), 80U);
}

TEST(PickleCheck, OfSeveralTensorsInARecordTheLargestCounts) {
  const auto claimed =
      check_values(pickle("(" + storage("FloatStorage", "0", 5) + storage("DoubleStorage", "0", 3) +
                          storage("ByteStorage", "0", 9) + storage("FloatStorage", "1", 2) + "t"));
  ASSERT_TRUE(claimed) << claimed.error().message;
  EXPECT_EQ(claimed->bytes, (ClaimedBytes{{"0", 24}, {"1", 8}}));
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

/// Returns a quantised tensor of four channels of two.
std::string channels(const std::string& scales, const std::string& zero_points,
                     const std::string& axis) {
  return "ctorch._utils\n_rebuild_qtensor\n(" + storage("QInt8Storage", "1", 8) + "K" +
         std::string(1, '\0') + numbers({4, 2}) + numbers({2, 1}) +
         "(ctorch\nper_channel_affine\n" + scales + zero_points + axis + "t" + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

TEST(PickleCheck, TensorsLieWithinTheirStorage) {
  const std::string zero(1, '\0');
  for (const std::string& good :
       {floats(4, 0, {4}, {1}), floats(4, 2, {2}, {1}), floats(4, 0, {2, 2}, {2, 1}),
        floats(4, 3, "", ""), floats(4, 0, {100, 4}, zero + "\1"),
        floats(0, 9, zero + "\7", "\7\1"), floats(4, "K\1", "K\3\x85", "K\1\x85"),
        floats(4, std::string("K\0", 2), "K\2K\2\x86", "K\2K\1\x86"), floats(4, "K\3", ")", ")")}) {
    EXPECT_EQ(refusal_of_values(good), "");
  }
  const std::string whole("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
  for (const std::string& bad :
       {floats(4, 0, {5}, {1}), floats(4, 1, {4}, {1}), floats(4, 0, {2}, {4}),
        floats(4, 4, "", ""), floats(0, 0, "", ""), floats(4, whole, numbers({1}), numbers({1})),
        floats(4, "K\1", "(K\2t", "(" + whole + "t"),
        floats(4, std::string("K\0", 2), "(" + whole + whole + "t", numbers(zero + zero))}) {
    EXPECT_THAT(refusal_of_values(bad), HasSubstr("larger than its bytes"));
  }
  const std::string minus("J\xff\xff\xff\xff");
  for (const std::string& unknown :
       {floats(4, minus, numbers({1}), numbers({1})),
        floats(4, "K\1", "(" + minus + "t", numbers({1})),
        floats(4, "K\1", numbers({1}), "(" + minus + "t"),
        floats(4, "N", numbers({1}), numbers({1})), floats(4, "K\1", "](K\1e", numbers({1})),
        floats(4, 1, {1}, {1, 1}), floats(4, "K\1", "(ctorch\nFloatStorage\nt", numbers({1})),
        floats(4, "K\1", numbers(std::string(65, '\1')), numbers(std::string(65, '\1')))}) {
    EXPECT_THAT(refusal_of_values(unknown), HasSubstr("its values have a tensor "));
  }
  EXPECT_THAT(refusal_of_values("ctorch._utils\n_rebuild_tensor_v2\n(NK\1(t(ttR"),
              HasSubstr("without a storage"));
  EXPECT_THAT(refusal_of_values("ctorch._utils\n_rebuild_tensor_v2\n(" + floats(4, 0, {4}, {1}) +
                                "K\1(t(ttR"),
              HasSubstr("without a storage"));
}

TEST(PickleCheck, ChannelsHaveAsManyScalesAndZeroPoints) {
  const std::string four = floats(4, 0, {4}, {1});
  const std::string axis("K\0", 2);
  EXPECT_EQ(refusal_of_values(channels(four, four, axis)), "");
  EXPECT_EQ(refusal_of_values(channels(four, four, "K\1")), "") << "more than there are channels";
  const std::string three = floats(4, 0, {3}, {1});
  for (const std::string& bad :
       {channels(three, four, axis), channels(four, three, axis), channels("N", four, axis),
        channels(storage("FloatStorage", "0", 4), four, axis), channels(four, four, "K\2"),
        channels(four, four, "N"), channels(four, four, "J\xff\xff\xff\xff")}) {
    EXPECT_THAT(refusal_of_values(bad), HasSubstr("its values have a tensor "));
  }
  // One scale for all.
  EXPECT_EQ(
      refusal_of_values("ctorch._utils\n_rebuild_qtensor\n(" + storage("QInt8Storage", "1", 8) +
                        axis + numbers({8}) + numbers({1}) + "(ctorch\nper_tensor_affine\nG" +
                        std::string(8, '\0') + axis + "t\x89NtR"),
      "");
}

TEST(PickleCheck, TensorsThatNobodyKnowsAreRefused) {
  EXPECT_THAT(refusal_of_values("ctorch._utils\n_rebuild_sparse_tensor\n"),
              HasSubstr("_rebuild_sparse_tensor"));
  EXPECT_THAT(refusal_of_values("ctorch._tensor\n_rebuild_from_type_v2\n"),
              HasSubstr("_rebuild_from_type_v2"));
}

TEST(PickleCheck, WhatIsCalledHasAName) {
  // LibTorch takes any number for the function of that number.
  const std::string function = "ctorch._utils\n_rebuild_tensor_v2\n";
  for (const std::string& values :
       {function + std::string("K\0)R", 4), function + std::string("K\0)b", 4),
        function + std::string("K\0)\x81)b", 6), function + "ctorch\nByteStorage\n)R",
        std::string("K\1\x85N\x81")}) {
    EXPECT_THAT(refusal_of_values(values), HasSubstr("call what is no function"));
  }
  EXPECT_EQ(refusal_of_values("c__torch__\nA\nq\1)\x81}(" + text("x") + "K\1ub" + "h\1)\x81}(" +
                              text("x") + "K\1ub\x86"),
            "")
      << "two objects of one class";
}

TEST(PickleCheck, NothingHoldsItself) {
  const std::string same = "ctorch.jit._pickle\nbuild_intlist\n(";
  for (const std::string& values : {std::string("]q\1]h\1aa"), "]q\1" + same + "h\1tR]h\1aa",
                                    same + "]tR]a", std::string("c__main__\nIntList\n]R]a")}) {
    EXPECT_THAT(refusal_of_values(values), HasSubstr("after it was put into another")) << values;
  }
}

TEST(PickleCheck, WhatIsHeldInManyPlacesCountsInEach) {
  // Pairs of one and the same pair, as a module of two attributes that are one module.
  std::string twice = "N";
  for (char place = 0; place < 60; ++place) {
    twice += "q" + std::string(1, place) + "h" + std::string(1, place) + "\x86";
  }
  EXPECT_THAT(refusal_of_values(twice), HasSubstr("counted in each place"));
  std::string lists = "]";
  for (char place = 0; place < 60; ++place) {
    const std::string number(1, place);
    lists += "q" + number + "](h" + number + "h" + number + "e";
  }
  EXPECT_THAT(refusal_of_values(lists), HasSubstr("counted in each place"));
  EXPECT_EQ(refusal_of_values("](" + times(100'000, "N") + "eq\1(" + times(100, "h\1") + "t"), "");
}

TEST(PickleCheck, TheTypeOfAListIsTheSecondArgument) {
  const std::string deep = times(1000, "List[") + "int" + times(1000, "]");
  EXPECT_THAT(refusal_of_values("ctorch.jit._pickle\nrestore_type_tag\n(]X" +
                                test::number(deep.size(), 4) + deep + text("int") + "tR"),
              HasSubstr("a type: "));
}

TEST(PickleCheck, AStorageSaysHowManyElementsItHas) {
  for (const std::string& elements : {std::string("N"), std::string("ctorch\nFloatStorage\n")}) {
    EXPECT_THAT(refusal_of_values("(" + text("storage") + "ctorch\nByteStorage\n" + text("0") +
                                  text("cpu") + elements + "tQ"),
                HasSubstr("how many elements"));
  }
  EXPECT_THAT(refusal_of_values("NQ"), HasSubstr("how many elements"));
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
