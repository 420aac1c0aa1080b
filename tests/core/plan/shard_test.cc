#include "core/plan/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pareto::plan {
namespace {

using testing::HasSubstr;

Shard sample_shard() {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor.dims = {{0, 1}, {3, 0}};
  Shard shard;
  shard.model = "tiny";
  shard.begin = 2;
  shard.end = 5;
  shard.archive = "archive";
  shard.weights = {{"fc.weight", sha256(std::string_view("w")), DType::kFloat32, {4, 3}, true}};
  shard.inputs = {{"x", spec}};
  shard.outputs = {{"y", spec}};
  shard.scopes = {"fc", "fc", ""};
  shard.torch_version = "1.13.1";
  return shard;
}

TEST(Shard, LoadingTakesWeightsTheirCopyTheArchiveAndBothBoundaries) {
  // 48 bytes of weights, an archive of 7, boundaries of three floats a sample.
  EXPECT_EQ(boundary_bytes(sample_shard().inputs, 2), 24U);
  EXPECT_EQ(loading_bytes(sample_shard(), 1), 2U * 48 + 7 + 4 * (12 + 12));
  EXPECT_EQ(loading_bytes(sample_shard(), 2), 2U * 48 + 7 + 4 * (24 + 24));
}

TEST(Shard, ManifestReadsBackAndDigestsAgree) {
  const Shard shard = sample_shard();
  const auto again = shard_from_manifest(manifest_json(shard), shard.archive);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->digest(), shard.digest());
  EXPECT_EQ(again->weight_bytes(), 48U);
  Shard other = shard;
  other.archive += "x";
  EXPECT_NE(other.digest(), shard.digest());
}

TEST(Shard, PackedWeightsCountAndNeedNotBeSaid) {
  Shard shard = sample_shard();
  EXPECT_EQ(manifest_json(shard).find("packed_bytes"), std::string::npos) << "as it was before";
  shard.packed_bytes = 100;
  const auto again = shard_from_manifest(manifest_json(shard), shard.archive);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->packed_bytes, 100U);
  EXPECT_EQ(again->weight_bytes(), 148U);
  EXPECT_EQ(again->digest(), shard.digest());
}

TEST(Shard, NumbersThatNoIntegerHoldsAreRefused) {
  const auto problem = [](auto change) {
    auto json = nlohmann::json::parse(manifest_json(sample_shard()));
    change(json);
    const auto read = shard_from_manifest(json.dump(), "");
    return read ? std::string() : read.error().message;
  };
  for (const double number : {1e300, -1e300, 0.5, 18446744073709551616.0}) {
    for (const char* const key : {"format", "begin", "end", "packed_bytes"}) {
      EXPECT_EQ(problem([&](auto& j) { j[key] = number; }),
                fmt::format("shard manifest: \"{}\" must be a whole number within its range", key));
    }
    EXPECT_THAT(problem([&](auto& j) { j["weights"][0]["shape"] = {number}; }),
                HasSubstr(": impossible shape"));
  }
  // Cut down to 32 bits it would be this build's format.
  EXPECT_NE(problem([](auto& j) { j["format"] = (1LL << 32) + 1; }), "");
}

TEST(Shard, AManifestThatWouldTakeMuchMemoryIsRefusedEarly) {
  const auto problem = [](const std::string& text) {
    return shard_from_manifest(text, "").error().message;
  };
  EXPECT_THAT(problem(std::string(5'000'000, '[')), HasSubstr("nested deeper than 64 levels"));
  std::string many = "[";
  for (int i = 0; i < 600'000; ++i) many += "[],";
  EXPECT_THAT(problem(many + "1]"), HasSubstr("more than 524288 values"));
  EXPECT_THAT(problem("{\"format\": "), HasSubstr("shard manifest"));
}

TEST(Shard, AnotherArchiveThanTheManifestsIsRefused) {
  const Shard shard = sample_shard();
  const auto read = shard_from_manifest(manifest_json(shard), shard.archive + "x");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("is not the one of its manifest"));
}

TEST(Shard, ForeignManifestsAreChecked) {
  const auto refused = [](auto change) {
    auto json = nlohmann::json::parse(manifest_json(sample_shard()));
    change(json);
    const auto read = shard_from_manifest(json.dump(), sample_shard().archive);
    return !read && read.error().code == ErrorCode::kCorrupt;
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& j) { j["format"] = 2; }));
  EXPECT_TRUE(refused([](auto& j) { j["end"] = 2; }));
  EXPECT_TRUE(refused([](auto& j) { j.erase("weights"); }));
  EXPECT_TRUE(refused([](auto& j) { j["weights"] = "many"; }));
  EXPECT_TRUE(refused([](auto& j) { j["weights"].push_back(j["weights"][0]); }));
  EXPECT_TRUE(refused([](auto& j) { j["weights"][0]["digest"] = "00"; }));
  EXPECT_TRUE(refused([](auto& j) { j["weights"][0]["shape"] = {-1}; }));
  EXPECT_TRUE(refused([](auto& j) { j["weights"][0]["shape"] = {1LL << 40, 1LL << 40}; }));
  EXPECT_TRUE(refused([](auto& j) { j["packed_bytes"] = -1; }));
  EXPECT_TRUE(refused([](auto& j) { j["packed_bytes"] = 1LL << 50; }));
  EXPECT_TRUE(refused([](auto& j) { j["packed_bytes"] = "many"; }));
  EXPECT_TRUE(refused([](auto& j) { j["scopes"] = 3; }));
  EXPECT_TRUE(refused([](auto& j) { j["archive_sha256"] = "00"; }));
  EXPECT_TRUE(refused([](auto& j) { j["archive_sha256"] = 3; }));
  EXPECT_TRUE(refused([](auto& j) { j["archive_sha256"] = std::string(64, '0'); }));
  EXPECT_FALSE(refused([](auto& j) { j.erase("archive_sha256"); })) << "of an earlier version";
  EXPECT_TRUE(refused([](auto& j) { j["inputs"][0]["spec"]["tensor"] = "float33"; }));
}

}  // namespace
}  // namespace pareto::plan
