#include "runtime/segment_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/shard_module.h"
#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Profiles a shard with those numbers of operators before it, on [2, 3] and a number.
ShardProfile profiled(const std::string& body, std::int64_t operators, std::int64_t begin = 0,
                      const std::vector<std::int64_t>& cuts = {}, int repeats = 3,
                      const at::Tensor& x = torch::ones({2, 3})) {
  test::HandMadeShard shard;
  shard.input("x", from_torch(torch::ones({2, 3})).value())
      .input("n", std::int64_t{1})
      .code("def run(self, x, n: int):\n" + body);
  shard.shard().begin = begin;
  shard.shard().end = begin + operators;
  shard.shard().scopes = {"stem"};
  const WeightSource none = [](const Digest&) -> Expected<Tensor> {
    return fail(ErrorCode::kNotFound, "no weights");
  };
  const auto module = load_module(shard.shard(), none, c10::kCPU, WrittenWeights::kCopied).value();
  return profile_segments(module, shard.shard(), {x, std::int64_t{2}}, repeats, cuts);
}

constexpr const char* kThree = "    a = torch.relu(x)\n    b = a * n\n    return (b.sum(), a, x)\n";

TEST(ProfileSegments, EachOperatorHasItsPlaceAndItsWork) {
  const ShardProfile profile = profiled(kThree, 3, 10);
  ASSERT_EQ(profile.operators.size(), 3U);
  EXPECT_EQ(profile.operators[0].position, 10);
  EXPECT_EQ(profile.operators[2].position, 12);
  EXPECT_EQ(profile.operators[0].kind, "aten::relu");
  EXPECT_EQ(profile.operators[0].scope, "stem");
  EXPECT_EQ(profile.operators[1].scope, "") << "fewer paths than operators";
  EXPECT_THAT(profile.operators[0].what, testing::StartsWith("aten::relu(Float[2, 3]"));
  EXPECT_THAT(profile.operators[1].what, HasSubstr("Float[2, 3], 2"));
  for (const OperatorTime& one : profile.operators) EXPECT_GT(one.median, Nanoseconds{});
}

TEST(ProfileSegments, CutsPartTheOperators) {
  const auto bounds = [](const ShardProfile& profile) {
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (const SegmentTime& segment : profile.segments) {
      list.emplace_back(segment.begin, segment.end);
    }
    return list;
  };
  EXPECT_THAT(bounds(profiled(kThree, 3, 10)), ElementsAre(std::pair(10, 13)));
  EXPECT_THAT(bounds(profiled(kThree, 3, 10, {11, 12})),
              ElementsAre(std::pair(10, 11), std::pair(11, 12), std::pair(12, 13)));
  // With one repeat the median of sums is the sum of medians.
  const ShardProfile once = profiled(kThree, 3, 0, {2}, 1);
  EXPECT_EQ(once.segments[0].median, once.operators[0].median + once.operators[1].median);
  EXPECT_EQ(once.segments[1].median, once.operators[2].median);
}

TEST(ProfileSegments, TellsWhenEachOutputIsThere) {
  EXPECT_THAT(profiled(kThree, 3).operators_until_output, ElementsAre(3, 1, 0));
  EXPECT_THAT(profiled("    return (x, n)\n", 0).operators_until_output, ElementsAre(0, 0));
}

TEST(ProfileSegments, AShardWithoutOperatorsHasAnEmptySegment) {
  const ShardProfile profile = profiled("    return (x, n)\n", 0, 5);
  EXPECT_TRUE(profile.operators.empty());
  ASSERT_EQ(profile.segments.size(), 1U);
  EXPECT_EQ(profile.segments[0].begin, 5);
  EXPECT_EQ(profile.segments[0].end, 5);
  EXPECT_EQ(profile.segments[0].median, Nanoseconds{});
}

TEST(ProfileSegments, WorkIsToldApartByWhatItIsGiven) {
  const auto what = [](const std::string& body, const at::Tensor& x = torch::ones({2, 3})) {
    return profiled(body, 1, 0, {}, 1, x).operators.at(0).what;
  };
  const std::string relu = "    return (torch.relu(x),)\n";
  EXPECT_EQ(what(relu), what(relu, torch::zeros({2, 3}))) << "numbers of a tensor do not count";
  EXPECT_NE(what(relu), what(relu, torch::ones({3, 2})));
  EXPECT_NE(what(relu), what(relu, torch::ones({2, 3}, torch::kDouble)));
  EXPECT_NE(what(relu), what(relu, torch::ones({3, 2}).t())) << "strides count";
  EXPECT_NE(what("    return (x.sum(0),)\n"), what("    return (x.sum(1),)\n"));
  EXPECT_NE(what("    return (x + 1,)\n"), what("    return (x + n,)\n"));
  const std::string branch =
      profiled(
          "    if n > 1:\n        y = torch.relu(x)\n    else:\n        y = x\n    return (y,)\n",
          2, 0, {}, 1)
          .operators.back()
          .what;
  EXPECT_THAT(branch, Not(HasSubstr("\n"))) << "in one line";
}

TEST(ProfileSegments, LongWorkIsToldByItsDigest) {
  const auto what = [](int count, const std::string& last) {
    std::string list = "[x";
    for (int i = 0; i < count; ++i) list += ", x";
    return profiled("    return (torch.cat(" + list + ", " + last + "]),)\n", 2, 0, {}, 1)
        .operators.back()
        .what;
  };
  EXPECT_LT(what(500, "x").size(), 600U);
  EXPECT_THAT(what(500, "x"), HasSubstr("... "));
  EXPECT_EQ(what(500, "x"), what(500, "x"));
  EXPECT_NE(what(500, "x"), what(501, "x")) << "though they begin alike";
}

}  // namespace
}  // namespace pareto::runtime
