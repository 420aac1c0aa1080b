#include "coordinator/cluster/state_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kFloats = static_cast<std::uint32_t>(DType::kFloat32);

control::v1::StateChunk chunk(const std::string& name, const std::vector<std::int64_t>& shape,
                              std::uint64_t bytes, const std::string& data) {
  control::v1::StateChunk made;
  made.set_name(name);
  made.set_dtype(kFloats);
  for (const std::int64_t size : shape) made.add_shape(size);
  made.set_size_bytes(bytes);
  made.set_data(data);
  return made;
}

control::v1::StateChunk more(const std::string& data) {
  control::v1::StateChunk made;
  made.set_data(data);
  return made;
}

TEST(StateReader, PutsChunksTogether) {
  StateReader reader(1200);
  ASSERT_TRUE(reader.take(chunk("w", {2}, 8, "abcde")));
  ASSERT_TRUE(reader.take(more("fgh")));
  ASSERT_TRUE(reader.take(chunk("empty", {0}, 0, "")));
  ASSERT_TRUE(reader.take(chunk("s", {}, 4, "1234")));
  const auto state = std::move(reader).finish();
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_EQ(state->size(), 3U);
  EXPECT_EQ(state->at(0).name, "w");
  EXPECT_EQ(std::memcmp(state->at(0).tensor.bytes().data(), "abcdefgh", 8), 0);
  EXPECT_EQ(state->at(1).tensor.size_bytes(), 0U);
}

std::string error_of(const std::vector<control::v1::StateChunk>& chunks) {
  StateReader reader(1200);
  for (const auto& one : chunks) {
    if (auto taken = reader.take(one); !taken) return taken.error().message;
  }
  const auto state = std::move(reader).finish();
  return state ? "none" : state.error().message;
}

TEST(StateReader, ForeignChunksAreChecked) {
  EXPECT_THAT(error_of({more("a")}), HasSubstr("belongs to no tensor"));
  EXPECT_THAT(error_of({chunk("w", {2}, 8, "a"), chunk("x", {2}, 8, "a")}),
              HasSubstr("before the last one is complete"));
  EXPECT_THAT(error_of({chunk("w", {2}, 8, "a")}), HasSubstr("w is not complete"));
  EXPECT_THAT(error_of({chunk("w", {2}, 8, "abcdefghi")}), HasSubstr("more bytes than it has"));
  EXPECT_THAT(error_of({chunk("w", {2}, 9, "a")}), HasSubstr("not the 8 of its shape"));
  EXPECT_THAT(error_of({chunk("w", {1 << 20}, 4 << 20, "a")}), HasSubstr("more bytes than"));
  EXPECT_THAT(error_of({chunk("w", {-1}, 8, "a")}), testing::Not("none"));
  auto unknown = chunk("w", {2}, 8, "a");
  unknown.set_dtype(300);
  EXPECT_THAT(error_of({unknown}), HasSubstr("unknown dtype"));
}

}  // namespace
}  // namespace pareto::cluster
