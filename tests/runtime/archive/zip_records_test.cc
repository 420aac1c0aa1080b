#include "runtime/archive/zip_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/runtime/archive/made_archive.h"

namespace pareto::runtime {
namespace {

using test::archive_of;
using test::Made;
using testing::HasSubstr;

/// Returns what is wrong with an archive, or with a record of it; empty: nothing.
std::string problem_of_archive(const std::string& archive) {
  const auto list = read_zip_list(archive);
  if (!list) return list.error().message;
  for (const ZipRecord& record : *list) {
    if (const auto content = read_zip_record(record); !content) return content.error().message;
  }
  return "";
}

TEST(ZipRecords, StoredAndCompressedRecordsAreRead) {
  const std::string text(10'000, 'a');
  const std::string archive = archive_of({{"a/data.pkl", "xyz"}, {"a/code/f.py", text, true}});
  const auto list = read_zip_list(archive);
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[0].name, "a/data.pkl");
  EXPECT_EQ(read_zip_record((*list)[0]).value(), "xyz");
  EXPECT_EQ((*list)[1].size, text.size());
  EXPECT_LT((*list)[1].bytes.size(), 100U);
  EXPECT_EQ(read_zip_record((*list)[1]).value(), text);
}

TEST(ZipRecords, WhatCanBeReadInTwoWaysIsRefused) {
  const Made good{"a/x", "0123456789"};
  ASSERT_EQ(problem_of_archive(archive_of({good, {"a/y", "0"}})), "");
  struct Case {
    std::string archive;
    const char* message;
  };
  const Made next{"a/y", "0"};
  Made renamed = good;
  renamed.listed_name = "a/z";
  Made behind_others = good;
  behind_others.shift = 3;
  Made moved = next;
  moved.shift = 3;
  Made larger = good;
  larger.said_size = 11;
  Made encrypted = good;
  encrypted.flags = 1;
  Made wrong = good;
  wrong.checksum ^= 1;
  const Made overlapping{"a/y", "0", false, "a/y", 1, -20};
  Made inflates_to_more{"a/y", std::string(1000, 'a'), true};
  inflates_to_more.said_size = 999;
  Made inflates_to_less = inflates_to_more;
  inflates_to_less.said_size = 1001;
  for (const Case& bad : {Case{"", "too short"},
                          Case{std::string(100, 'a'), "no list of records ends it"},
                          Case{archive_of({good}) + "a", "no list of records ends it"},
                          Case{archive_of({good}, "", 0, "comment"), "no list of records ends it"},
                          Case{archive_of({good}, "gap"), "not where its end says"},
                          Case{archive_of({good, {"a/y", "0"}}, "", -1), "shorter than it says"},
                          Case{archive_of({good}, "", 1), "something else in it"},
                          Case{archive_of({good, good}), "two records have one name"},
                          Case{archive_of({good, {"A/X", "0"}}), "two records have one name"},
                          Case{archive_of({renamed}), "not what the list says"},
                          Case{archive_of({behind_others}), "before its first record"},
                          Case{archive_of({good, moved}), "not what the list says"},
                          Case{archive_of({good, overlapping}), "records overlap"},
                          Case{archive_of({larger}), "two sizes"},
                          Case{archive_of({encrypted}), "encrypted"},
                          Case{archive_of({wrong}), "its checksum is another"},
                          Case{archive_of({inflates_to_more}), "damaged"},
                          Case{archive_of({inflates_to_less}), "damaged"},
                          Case{archive_of({{"../x", "0"}}), "strange name"},
                          Case{archive_of({{"/x", "0"}}), "strange name"},
                          Case{archive_of({{"a\\x", "0"}}), "strange name"},
                          Case{archive_of({{std::string("a\0x", 3), "0"}}), "strange name"},
                          Case{archive_of({{"", "0"}}), "strange name"}}) {
    EXPECT_THAT(problem_of_archive(bad.archive), HasSubstr(bad.message));
  }
}

TEST(ZipRecords, ABombIsRefusedBeforeItIsInflated) {
  Made bomb{"a/x", std::string(1 << 20, 'a'), true};
  bomb.said_size = kMostInflatedBytes;
  EXPECT_THAT(problem_of_archive(archive_of({bomb})), HasSubstr("damaged"));
  Made other = bomb;
  other.name = other.listed_name = "a/y";
  EXPECT_THAT(problem_of_archive(archive_of({bomb, other})),
              HasSubstr("64 MiB when they are inflated"));
  std::vector<Made> many;
  for (std::size_t i = 0; i <= kMostRecords; ++i) many.push_back({fmt::format("a/{}", i), ""});
  EXPECT_THAT(problem_of_archive(archive_of(many)), HasSubstr("10001 records; at most 10000"));
}

TEST(ZipRecords, ARecordThatIsHiddenIsNotFoundByItsName) {
  const std::string good = archive_of(
      {{"a/x.py", "code"}, {"a/x.py.debug_pkl", "0123"}, {"a/Y.PY.DEBUG_PKL", "4567", true}});
  std::string hidden = good;
  ASSERT_TRUE(hide_records(hidden, ".debug_pkl"));
  EXPECT_EQ(hidden.size(), good.size());
  // In the list only: who reads the archive by its list looks nowhere else for names.
  EXPECT_EQ(hidden.substr(0, hidden.find("PK\x01\x02")), good.substr(0, good.find("PK\x01\x02")));
  const std::string list = hidden.substr(hidden.find("PK\x01\x02"));
  EXPECT_THAT(list, HasSubstr("a/x.py"));
  EXPECT_THAT(list, testing::Not(HasSubstr(".debug_pkl")));
  EXPECT_THAT(list, testing::Not(HasSubstr(".DEBUG_PKL")));
  std::string none = archive_of({{"a/x.py", "code"}, {"a/debug_pkl", "0"}});
  const std::string before = none;
  ASSERT_TRUE(hide_records(none, ".debug_pkl"));
  EXPECT_EQ(none, before);
  std::string bad = "no archive";
  EXPECT_FALSE(hide_records(bad, ".debug_pkl"));
}

TEST(ZipRecords, NoDamageIsReadAsSomethingElse) {
  const std::string good =
      archive_of({{"a/x", "0123456789"}, {"a/y", std::string(300, 'b'), true}, {"a/z", "zzz"}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(read_zip_list(good.substr(0, size))) << size;
  }
  // Whatever is still an archive has the same contents: times and versions are of no account.
  for (std::size_t at = 0; at < good.size() * 8; ++at) {
    std::string flipped = good;
    flipped[at / 8] = static_cast<char>(flipped[at / 8] ^ 1 << at % 8);
    const auto list = read_zip_list(flipped);
    if (!list || list->size() != 3) {
      EXPECT_FALSE(list) << at;
      continue;
    }
    const auto first = read_zip_record((*list)[0]);
    const auto second = read_zip_record((*list)[1]);
    EXPECT_TRUE(!first || *first == "0123456789") << at;
    EXPECT_TRUE(!second || *second == std::string(300, 'b')) << at;
  }
}

}  // namespace
}  // namespace pareto::runtime
