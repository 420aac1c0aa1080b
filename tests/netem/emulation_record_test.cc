#include "netem/emulation_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "netem/interface_emulation.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EmulationRecord example_record() {
  return {.interface = "eth1",
          .index = 3,
          .name = "lte",
          .boot = "b",
          .pid = 812,
          .started = 91823,
          .kept = true,
          .ifb = "pifb3",
          .most_segments = 65535,
          .joins_incoming = true};
}

TEST(EmulationRecord, IsReadAsItIsWritten) {
  const auto read = parse_emulation_record(to_json(example_record()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example_record());
}

TEST(EmulationRecord, GarbageIsCorrupt) {
  EmulationRecord harmful = example_record();
  harmful.ifb = "eth0";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"format": 2})"),
        std::string(R"({"format": 1, "interface": 3})"), to_json(harmful)}) {
    const auto read = parse_emulation_record(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

TEST(EmulationRecord, NumbersThatNoIntegerHoldsAreRefusedByName) {
  for (const char* const key : {"format", "index", "pid", "started", "most_segments"}) {
    for (const char* const number : {"1e300", "-1e300", "18446744073709551616", "2.5", "null"}) {
      auto json = nlohmann::json::parse(to_json(example_record()));
      json[key] = nlohmann::json::parse(number);
      const auto read = parse_emulation_record(json.dump());
      ASSERT_FALSE(read) << key << " " << number;
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(read.error().message,
                  HasSubstr(fmt::format("\"{}\" must be a whole number", key)));
    }
  }
  // A process of another number is not the one that the record names.
  auto json = nlohmann::json::parse(to_json(example_record()));
  json["pid"] = (std::int64_t{1} << 32) + 812;
  EXPECT_FALSE(parse_emulation_record(json.dump()));
}

TEST(EmulationRecord, KnowsWhetherItsOwnerIsThere) {
  auto record = record_of_this_process();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_TRUE(owner_lives(*record));
  ++record->started;
  EXPECT_FALSE(owner_lives(*record)) << "another process of that number";
  --record->started;
  record->boot = "another";
  EXPECT_FALSE(owner_lives(*record));
}

TEST(RecordFolder, IsNotWaitedForForEver) {
  const auto folder = TemporaryFolder::create("pareto-netem");
  ASSERT_TRUE(folder);
  const auto held = RecordFolder::hold(folder->path());
  ASSERT_TRUE(held) << held.error().message;
  const auto other = RecordFolder::hold(folder->path(), milliseconds(1));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(other.error().message, HasSubstr((folder->path() / "lock").string()));
}

TEST(RecordFolder, AGarbledRecordOfAnInterfaceThatIsGoneIsForgotten) {
  constexpr const char* kGone = "pareto-gone0";
  const auto folder = TemporaryFolder::create("pareto-netem");
  ASSERT_TRUE(folder);
  EmulationRecord record = example_record();
  record.interface = kGone;
  ASSERT_TRUE(RecordFolder::hold(folder->path())->write(record));
  for (const auto& file : std::filesystem::directory_iterator(folder->path())) {
    if (file.path().extension() == ".json") std::ofstream(file.path()) << "{";
  }
  const auto cleared = clear_stale(folder->path());
  ASSERT_TRUE(cleared) << cleared.error().message;
  EXPECT_THAT(*cleared, ElementsAre(kGone));
  EXPECT_THAT(list_emulations(folder->path()).value(), IsEmpty());
}

}  // namespace
}  // namespace pareto::netem
