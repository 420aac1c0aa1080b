// Archives of shards made byte by byte: records that no shard has, and what each may hold.
#include "runtime/archive/archive_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/archive/made_archive.h"

namespace pareto::runtime {
namespace {

using test::archive_of;
using test::Made;
using testing::HasSubstr;

const std::string kNonePickle = "\x80\x02N.";

/// Returns the pickle of a tensor's storage of some float32 numbers, in the record of that key.
std::string floats_pickle(char elements, const std::string& key = "0") {
  const auto text = [](const std::string& bytes) {
    return std::string("X") + static_cast<char>(bytes.size()) + std::string(3, '\0') + bytes;
  };
  return "\x80\x02(" + text("storage") + "ctorch\nFloatStorage\n" + text(key) + text("cpu") + "K" +
         std::string(1, elements) + "tQ.";
}

/// Returns an archive with what every shard has, and more.
std::string shard_with(const std::vector<Made>& more) {
  std::vector<Made> records{{"a/data.pkl", kNonePickle}, {"a/version", "3\n"}};
  records.insert(records.end(), more.begin(), more.end());
  return archive_of(records);
}

Error refusal_of_shard(const std::string& archive) {
  const auto checked = check_shard_archive(archive);
  return checked ? Error{ErrorCode::kInternal, "it was not refused"} : checked.error();
}

TEST(CheckShardArchive, TakesTheRecordsOfAModule) {
  for (const auto& more : std::vector<std::vector<Made>>{
           {},
           {{"a/constants.pkl", kNonePickle}, {"a/constants/0", "xyz"}, {"a/data/12", ""}},
           {{"a/byteorder", "little"}, {"a/.data/serialization_id", "123"}},
           {{"a/code/__torch__.py", "x = torch.relu(x)\n"},
            {"a/code/__torch__.py.debug_pkl", kNonePickle}},
           {{"a/code/__torch__/deep/er.py", std::string(5000, '\n'), /*compressed=*/true}}}) {
    const auto checked = check_shard_archive(shard_with(more));
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

TEST(CheckShardArchive, RefusesRecordsThatNoShardHas) {
  for (const char* const name :
       {"a/bytecode.pkl", "a/extra/notes.txt", "a/data/x", "a/data/0/1x", "a/data.pkl.pkl",
        "a/code/run.sh", "a/code", "a/mobile_debug_handles.pkl", "a/attributes.pkl", "a/DATA.PKL2",
        "a/constants/-1", "a/datax/1", "a/data/0/1", "a/constants/A/0"}) {
    const Error refused = refusal_of_shard(shard_with({{name, "x"}}));
    EXPECT_EQ(refused.code, ErrorCode::kPermission) << name << ": " << refused.message;
    EXPECT_THAT(refused.message, HasSubstr("no shard has a record")) << name;
  }
}

TEST(CheckShardArchive, RecordsHaveOneRoot) {
  const Error refused = refusal_of_shard(shard_with({{"b/data/0", "x"}}));
  EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.message, HasSubstr("of two archives"));
  EXPECT_FALSE(check_shard_archive(shard_with({{"version", "3"}})));
}

TEST(CheckShardArchive, EveryChecksumIsCompared) {
  for (const char* const name : {"a/data/0", "a/constants/3", "a/byteorder"}) {
    Made wrong{name, "0123456789"};
    wrong.checksum ^= 0x100;
    const Error refused = refusal_of_shard(shard_with({wrong}));
    EXPECT_EQ(refused.code, ErrorCode::kCorrupt) << name;
    EXPECT_THAT(refused.message, HasSubstr("checksum")) << name;
  }
}

TEST(CheckShardArchive, ATensorIsNoLargerThanItsRecord) {
  const auto archive_with = [](char elements, const std::string& record, const char* pickle) {
    const std::string folder = std::string(pickle).substr(0, std::string(pickle).rfind('.'));
    return archive_of(
        {{"a/" + std::string(pickle), floats_pickle(elements)}, {"a/" + folder + "/0", record}});
  };
  for (const char* const pickle : {"data.pkl", "constants.pkl"}) {
    EXPECT_TRUE(check_shard_archive(archive_with(4, std::string(16, 'x'), pickle)));
    EXPECT_TRUE(check_shard_archive(archive_with(4, std::string(17, 'x'), pickle)));
    EXPECT_TRUE(check_shard_archive(archive_with(0, "", pickle)));
    const Error refused = refusal_of_shard(archive_with(4, std::string(15, 'x'), pickle));
    EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.message, HasSubstr("a tensor of 16 bytes has 15"));
    EXPECT_THAT(refused.message, HasSubstr(pickle));
  }
  EXPECT_TRUE(check_archive(archive_with(4, std::string(16, 'x'), "data.pkl")));
  EXPECT_FALSE(check_archive(archive_with(4, std::string(15, 'x'), "data.pkl")));
}

TEST(CheckShardArchive, ATensorHasTheVeryRecordThatItNames) {
  // LibTorch takes a key to its first zero byte, and finds names without the size of letters.
  for (const auto& [key, record] : std::vector<std::pair<std::string, std::string>>{
           {std::string("0\0", 2), "0"}, {"a", "A"}, {"1", "0"}, {"", "0"}, {"x", "x"}}) {
    for (const char* const pickle : {"data", "constants", "DATA"}) {
      const auto archive =
          archive_of({{fmt::format("a/{}.pkl", pickle), floats_pickle(4, key)},
                      {fmt::format("a/{}/{}", pickle, record), std::string(16, 'x')}});
      const auto checked = check_archive(archive);
      ASSERT_FALSE(checked) << pickle << key;
      EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(checked.error().message, HasSubstr("a tensor of 16 bytes has no record in "));
      EXPECT_FALSE(check_shard_archive(archive)) << pickle << key;
    }
  }
  EXPECT_TRUE(check_archive(archive_of({{"a/data.pkl", floats_pickle(0, "7")}}))) << "it is empty";
  EXPECT_TRUE(check_archive(archive_of({{"a/bytecode.pkl", floats_pickle(4)}})))
      << "LibTorch does not read it";
}

TEST(CheckShardArchive, PicklesThatNestTooDeepAreRefusedByName) {
  const std::string deep = "\x80\x02)" + std::string(5000, '\x85') + ".";
  for (const char* const name : {"a/data.pkl", "a/constants.pkl", "a/code/f.py.debug_pkl"}) {
    const Error refused = refusal_of_shard(archive_of({{name, deep}}));
    EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.message, HasSubstr(std::string(name).substr(2))) << "without the root";
    EXPECT_THAT(refused.message, HasSubstr("nest deeper")) << name;
  }
}

TEST(CheckShardArchive, CodeIsReadAndNamed) {
  const auto with_code = [](const std::string& code) {
    return shard_with({{"a/code/__torch__.py", code}});
  };
  const Error calls = refusal_of_shard(with_code("x = ops.image.read_file(\"/etc/passwd\")\n"));
  EXPECT_EQ(calls.code, ErrorCode::kPermission);
  EXPECT_THAT(calls.message, HasSubstr("code/__torch__.py"));
  EXPECT_THAT(calls.message, HasSubstr("image::read_file"));
  EXPECT_EQ(refusal_of_shard(with_code("x = 'no end\n")).code, ErrorCode::kCorrupt);
  EXPECT_EQ(refusal_of_shard(with_code(std::string(100'000, '('))).code, ErrorCode::kCorrupt);
}

TEST(CheckShardArchive, CodeOfAllFilesTogetherHasABound) {
  // By what records say of themselves, before any is inflated.
  const auto of_size = [](const char* name, std::uint64_t bytes) {
    Made made{name, "x = 1\n", /*compressed=*/true};
    made.said_size = bytes;
    return made;
  };
  const Error one = refusal_of_shard(shard_with({of_size("a/code/x.py", kMostCodeBytes + 1)}));
  EXPECT_EQ(one.code, ErrorCode::kCorrupt);
  EXPECT_THAT(one.message, HasSubstr("its code has more than 16 MiB"));
  const Error most = refusal_of_shard(shard_with({of_size("a/code/x.py", kMostCodeBytes)}));
  EXPECT_THAT(most.message, HasSubstr("damaged")) << "it may have as much, and has not";
  const Error both = refusal_of_shard(
      shard_with({{"a/code/x.py", "x = 1\n"}, of_size("a/code/y.py", kMostCodeBytes - 5)}));
  EXPECT_THAT(both.message, HasSubstr("its code has more than 16 MiB"));
}

TEST(CheckShardArchive, WhatIsNoArchiveIsRefused) {
  const std::string good = shard_with({});
  for (const std::string& bytes :
       {std::string(), std::string("PK"), std::string(1000, '\0'), good + "x", "x" + good,
        good.substr(1), good.substr(0, good.size() - 1), good + good}) {
    EXPECT_EQ(refusal_of_shard(bytes).code, ErrorCode::kCorrupt);
  }
}

/// Returns an archive whose first record stands behind 24 bytes: "PK", then what marks LibTorch's
/// format for phones.
std::string marked_for_phones() {
  const std::string mark = "PK\x03\x04PTMF" + std::string(16, '\0');
  std::vector<Made> records{{"a/data.pkl", kNonePickle}, {"a/version", "3\n"}};
  for (Made& record : records) record.shift = static_cast<std::int64_t>(mark.size());
  std::string archive = mark + archive_of(records);
  // The place of the list, in front of the size of a comment.
  const std::size_t place = archive.size() - 6;
  const std::size_t list = archive.find("PK\x01\x02");
  archive.replace(place, 4, test::number(list, 4));
  return archive;
}

TEST(CheckShardArchive, AnArchiveBeginsWithARecord) {
  for (const std::string& archive : {archive_of({}), marked_for_phones()}) {
    EXPECT_EQ(refusal_of_shard(archive).code, ErrorCode::kCorrupt);
  }
  EXPECT_THAT(refusal_of_shard(marked_for_phones()).message, HasSubstr("before its first record"));
}

TEST(CheckArchive, AFileOfTheFormatForPhonesIsRefused) {
  for (const std::string& archive : {marked_for_phones(), std::string("\0\0\0\0PTMF", 8),
                                     std::string("PK\x03\x04PTMF and so on")}) {
    const auto checked = check_archive(archive);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checked.error().message, HasSubstr("format for phones"));
  }
  EXPECT_TRUE(check_archive("PTMF"));
}

TEST(CheckArchive, LeavesToLibTorchWhatCannotBeRead) {
  for (const std::string& bytes :
       {std::string(), std::string("PK"), std::string(1000, '\0'), shard_with({}).substr(5)}) {
    EXPECT_TRUE(check_archive(bytes));
  }
}

TEST(CheckArchive, TakesWhatOnlyModelsHave) {
  EXPECT_TRUE(
      check_archive(shard_with({{"a/extra/notes.txt", "x"}, {"a/bytecode.pkl", kNonePickle}})));
  EXPECT_TRUE(check_archive(
      shard_with({{"a/code/__torch__.py", "x = ops.image.read_file(\"/etc/passwd\")\n"}})))
      << "a user's own model may call anything";
  EXPECT_FALSE(check_archive(shard_with({{"a/code/__torch__.py", std::string(100'000, '(')}})));
  EXPECT_FALSE(check_archive(shard_with({{"a/code/__torch__.PY", std::string(100'000, '(')}})))
      << "LibTorch compares names without the size of letters";
}

}  // namespace
}  // namespace pareto::runtime
