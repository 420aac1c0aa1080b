#include "core/base/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto {
namespace {

using testing::HasSubstr;

TEST(ConfigReader, ReadsEveryKindAndKeepsDefaults) {
  auto file = ConfigReader::from_text(
      "name: pi-1\nstore:\n  limit: 256MiB\n  keep: true\nwait: 20ms\nports: [a, b]\nthreads: 3\n"
      "data:\n  tcp: 0.0.0.0:1\n  grpc: 0.0.0.0:2\n",
      "x.yaml");
  ASSERT_TRUE(file);
  auto root = file->root();
  std::string name;
  std::string untouched = "default";
  int threads = 0;
  std::chrono::nanoseconds wait{};
  std::vector<std::string> ports;
  root.optional("name", name);
  root.optional("absent", untouched);
  root.optional("threads", threads);
  root.optional_duration("wait", wait);
  root.optional("ports", ports);
  std::uint64_t limit = 0;
  bool keep = false;
  auto store = root.section("store");
  ASSERT_TRUE(store);
  store->optional_bytes("limit", limit);
  store->optional("keep", keep);
  const auto data = root.section("data")->entries();
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(name, "pi-1");
  EXPECT_EQ(untouched, "default");
  EXPECT_EQ(threads, 3);
  EXPECT_EQ(wait, std::chrono::milliseconds(20));
  EXPECT_EQ(ports, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(limit, 256U << 20);
  EXPECT_TRUE(keep);
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[1], (std::pair<std::string, std::string>("grpc", "0.0.0.0:2")));
}

TEST(ConfigReader, AnUnknownKeyNamesFileLineAndNeighbour) {
  auto file = ConfigReader::from_text("name: a\nstore:\n  limt: 1GiB\n", "paretod.yaml");
  auto root = file->root();
  std::string name;
  std::uint64_t limit = 0;
  root.optional("name", name);
  root.section("store")->optional_bytes("limit", limit);
  const auto result = file->finish();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message,
            "paretod.yaml:3: unknown key \"store.limt\" (did you mean limit?)");
}

TEST(ConfigReader, EveryProblemIsReportedAtOnce) {
  auto file = ConfigReader::from_text("threads: many\nwait: 20\nstore: 3\n", "x.yaml");
  auto root = file->root();
  int threads = 7;
  std::chrono::nanoseconds wait{};
  std::string device;
  root.optional("threads", threads);
  root.optional_duration("wait", wait);
  root.required("device", device);
  root.section("store");
  const auto result = file->finish();
  ASSERT_FALSE(result);
  EXPECT_EQ(threads, 7);
  EXPECT_THAT(result.error().message, HasSubstr("x.yaml:1: \"threads\": should be a whole number"));
  EXPECT_THAT(result.error().message, HasSubstr("x.yaml:2: \"wait\": \"20\" is not a quantity"));
  EXPECT_THAT(result.error().message, HasSubstr("the key \"device\" is missing"));
  EXPECT_THAT(result.error().message, HasSubstr(": store should be a mapping"));
}

TEST(ConfigReader, AKeyThatStandsTwiceIsRefused) {
  auto file = ConfigReader::from_text("a: 1\nb: {c: 1, c: 2}\na: 2\n", "x.yaml");
  ASSERT_TRUE(file);
  auto root = file->root();
  int a = 0;
  int c = 0;
  root.optional("a", a);
  root.section("b")->optional("c", c);
  const auto done = file->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "x.yaml:3: \"a\" stands here again\nx.yaml:2: \"b.c\" stands here again");
}

TEST(ConfigReader, ListsOfNothingAreSeen) {
  auto file = ConfigReader::from_text("a: []\nb: [x]\nc: text\nd:\n", "x.yaml");
  ASSERT_TRUE(file);
  auto root = file->root();
  EXPECT_TRUE(root.has_empty_list("a"));
  for (const char* key : {"b", "c", "d", "e"}) EXPECT_FALSE(root.has_empty_list(key)) << key;
}

TEST(ConfigReader, DeepNestingIsRefusedInWords) {
  for (const std::string& text : {std::string(100'000, '['), std::string(100'000, '{')}) {
    const auto file = ConfigReader::from_text(text, "x.yaml");
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr("nested too deeply"));
  }
}

TEST(ConfigReader, NotYamlNamesLineAndColumn) {
  const auto file = ConfigReader::from_text("a: [1, 2\nb: }", "x.yaml");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("x.yaml:2:"));
}

TEST(ConfigReader, AMissingFileSaysSo) {
  const auto file = ConfigReader::from_file("/nonexistent/paretod.yaml");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
}

TEST(ConfigReader, ASectionReadTwiceIsOneSection) {
  auto file = ConfigReader::from_text("store:\n  a: x\n  b: y\n", "x.yaml");
  auto root = file->root();
  std::string a;
  std::string b;
  root.section("store")->optional("a", a);
  root.section("store")->optional("b", b);
  EXPECT_TRUE(file->finish());
}

}  // namespace
}  // namespace pareto
