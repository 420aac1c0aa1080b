#include "runtime/archive/packed_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/archive/archive_check.h"
#include "runtime/archive/pickle_check.h"
#include "tests/runtime/archive/made_archive.h"
#include "tests/runtime/archive/made_pickle.h"

namespace pareto::runtime {
namespace {

using test::floats;
using test::numbers;
using test::refusal_of_values;
using test::storage;
using test::tensor;
using test::text;
using testing::HasSubstr;

constexpr char kSettings = 11;  ///< a convolution of pictures has that many
const std::string kZero("K\0", 2);

/// Returns settings in a record of their own.
std::string settings(char count = kSettings) {
  return tensor(storage("ShortStorage", "3", count), kZero, numbers({count}), numbers({1}));
}

/// Returns a list of tensors.
std::string tensors(const std::string& elements) {
  return "ctorch.jit._pickle\nbuild_tensorlist\n](" + elements + "e\x85R";
}

std::string state_of(const std::string& listed) {
  return "(" + text("2") + tensors(listed) + "]Nat";
}

/// Returns a packed convolution of that state.
std::string packed(const std::string& state, const std::string& dimensions = "2") {
  return "c__torch__.torch.classes.quantized\nConv" + dimensions + "dPackedParamsBase\n)\x81" +
         state + "b";
}

const std::string kWeight = floats(6, 0, {6}, {1});

TEST(PackedLayers, TellWhereTheirSettingsAre) {
  const auto flat = check_values(test::pickle(packed(state_of(settings() + kWeight))));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(flat->settings, (ConvolutionSettings{{"3", {2, false}}}));
  const auto deep = check_values(test::pickle(packed(state_of(settings(15) + kWeight), "3")));
  ASSERT_TRUE(deep) << deep.error().message;
  EXPECT_EQ(deep->settings, (ConvolutionSettings{{"3", {3, false}}}));
  EXPECT_EQ(refusal_of_values("c__torch__\ntorch.classes.quantized.Conv2dPackedParamsBase\n)\x81" +
                              state_of(settings() + kWeight) + "b"),
            "")
      << "a class may be written in other lines";
}

TEST(PackedLayers, HaveAllTheirParts) {
  const std::string both = tensors(settings() + kWeight);
  for (const std::string& state :
       {"(" + text("2") + "t", "(" + text("2") + both + "t", "(" + text("2") + both + "]]t",
        "(" + text("1") + both + "]t", "(K\2" + both + "]t", "(" + text("2") + "}]t",
        "(" + text("2") + settings() + "]t", std::string(")"), std::string("N"),
        // The forms before and after the one that PyTorch writes.
        "(" + settings() + "N]]]" + settings() + "t", std::string("(K\3](K\1K\2e]t")}) {
    EXPECT_THAT(refusal_of_values(packed(state)), HasSubstr("a packed layer without its")) << state;
  }
}

TEST(PackedLayers, HaveWeights) {
  const std::string nothing = floats(6, 0, kZero.substr(1), {1});
  for (const std::string& listed : {settings() + nothing, settings() + "N", settings()}) {
    EXPECT_THAT(refusal_of_values(packed(state_of(listed))),
                HasSubstr("a packed layer without a weight"));
  }
  const auto linear = [](const std::string& state) {
    return refusal_of_values("c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81" +
                             state + "b");
  };
  EXPECT_EQ(linear("(" + kWeight + "Nt"), "");
  for (const std::string& state : {"(" + nothing + "Nt", std::string("(NNt"), std::string("N")}) {
    EXPECT_THAT(linear(state), HasSubstr("a packed layer without a weight"));
  }
  EXPECT_EQ(refusal_of_values("c__torch__.torch.classes.rnn\nCellParamsBase\n)\x81Nb"), "")
      << "others have other parts";
}

TEST(PackedLayers, HaveSettingsOfTheirOwn) {
  const std::string record = storage("ShortStorage", "3", 11);
  const std::string longer = storage("ShortStorage", "3", 12);
  for (const std::string& other : {settings(10), settings(12), std::string("N"), record,
                                   tensor(record, kZero, numbers({11}), "(" + kZero + "t"),
                                   tensor(record, kZero, numbers({1, 11}), numbers({11, 1})),
                                   tensor(longer, "K\1", numbers({11}), numbers({1})),
                                   tensor(longer, kZero, numbers({11}), numbers({1}))}) {
    EXPECT_THAT(refusal_of_values(packed(state_of(other + kWeight))),
                HasSubstr("whose settings are no record of their own"))
        << other;
  }
  EXPECT_THAT(refusal_of_values(packed(state_of(settings() + kWeight), "3")),
              HasSubstr("whose settings are no record of their own"));
  EXPECT_THAT(refusal_of_values("(" + packed(state_of(settings() + kWeight)) +
                                packed(state_of(settings(15) + kWeight), "3") + "t"),
              HasSubstr("whose settings are no record of their own"))
      << "they are those of another";
}

/// Returns numbers as a record has them.
std::string record_of(const std::vector<int>& values) {
  std::string record;
  for (const int value : values) record += test::number(static_cast<std::uint64_t>(value), 2);
  return record;
}

TEST(PackedLayers, HaveABiasOfPlainNumbers) {
  const auto linear = [](const std::string& bias) {
    return refusal_of_values("c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81(" +
                             kWeight + bias + "tb");
  };
  const auto convolution = [](const std::string& bias) {
    return refusal_of_values(
        packed("(" + text("2") + tensors(settings() + kWeight) + "]" + bias + "at"));
  };
  const std::string plain = floats(2, 0, {2}, {1});
  EXPECT_EQ(linear(plain), "");
  EXPECT_EQ(convolution(plain), "");
  const std::string one = storage("FloatStorage", "0", 1);
  for (const std::string& other :
       {tensor(storage("HalfStorage", "5", 2), kZero, numbers({2}), numbers({1})),
        tensor(one, kZero, numbers({2}), "(" + kZero + "t"),
        tensor(one, kZero, numbers({1, 1}), numbers({1, 1})),
        "ctorch._utils\n_rebuild_parameter\n(" + plain + "\x89)tR", std::string("K\1")}) {
    EXPECT_THAT(linear(other), HasSubstr("a packed layer whose bias is not of float32"));
    EXPECT_THAT(convolution(other), HasSubstr("a packed layer whose bias is not of float32"));
  }
}

TEST(PackedLayers, HaveScalesOfTheirOutputs) {
  const auto weight = [](const std::string& axis) {
    const std::string scales = floats(4, 0, {4}, {1});
    return "ctorch._utils\n_rebuild_qtensor\n(" + storage("QInt8Storage", "1", 8) + kZero +
           numbers({4, 2}) + numbers({2, 1}) + "(ctorch\nper_channel_affine\n" + scales + scales +
           axis + "t\x89" + "ccollections\nOrderedDict\n)RtR";
  };
  EXPECT_EQ(refusal_of_values(packed(state_of(settings() + weight(kZero)))), "");
  EXPECT_THAT(refusal_of_values(packed(state_of(settings() + weight("K\1")))),
              HasSubstr("a packed layer whose scales are not those of its outputs"));
  const std::vector<int> transposed{2, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  EXPECT_TRUE(check_convolution_settings(record_of(transposed), {2, false}));
  EXPECT_FALSE(check_convolution_settings(record_of(transposed), {2, true}));
  EXPECT_FALSE(
      check_convolution_settings(record_of({3, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1}), {3}));
}

TEST(PackedLayers, HaveSettingsThatCanBeComputedWith) {
  const std::vector<int> good{2, 1, 2, 0, 1, 1, 2, 0, 0, 4, 0};
  EXPECT_TRUE(check_convolution_settings(record_of(good), {2}));
  for (std::size_t i = 1; i < 10; ++i) {
    const bool is_padding = i == 3 || i == 4 || i == 7 || i == 8;
    std::vector<int> changed = good;
    changed[i] = 0;
    EXPECT_EQ(check_convolution_settings(record_of(changed), {2}).has_value(), is_padding) << i;
    changed[i] = -1;
    const auto refused = check_convolution_settings(record_of(changed), {2});
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("setting {} is -1", i)));
  }
  EXPECT_TRUE(
      check_convolution_settings(record_of({3, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0}), {3}));
  EXPECT_FALSE(
      check_convolution_settings(record_of({3, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0}), {3}));
  EXPECT_FALSE(check_convolution_settings(record_of({2, 1, 1}), {2})) << "they are too few";
}

TEST(PackedLayers, OfAnArchiveAreChecked) {
  const auto archive_with = [](int groups) {
    const std::string values = test::pickle(packed(state_of(settings() + kWeight)));
    return test::archive_of({{"a/data.pkl", values},
                             {"a/data/0", std::string(24, 'x')},
                             {"a/data/3", record_of({2, 1, 1, 0, 0, 1, 1, 0, 0, groups, 0})}});
  };
  EXPECT_TRUE(check_shard_archive(archive_with(1)));
  EXPECT_TRUE(check_archive(archive_with(1)));
  for (const auto& checked :
       {check_shard_archive(archive_with(0)), check_archive(archive_with(0))}) {
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checked.error().message,
                HasSubstr("data.pkl: its values have a packed layer whose setting 9 is 0"));
  }
}

}  // namespace
}  // namespace pareto::runtime
