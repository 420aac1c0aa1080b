#include "daemon/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"

namespace pareto::daemon {
namespace {

using testing::ElementsAre;

TEST(Journal, AStreamIsKnownByItsDeviceAndInode) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  struct stat file {};
  ASSERT_EQ(::fstat(write_end.get(), &file), 0);
  const std::string stream = std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
  EXPECT_TRUE(is_journal_stream(write_end.get(), stream.c_str()));
  EXPECT_FALSE(is_journal_stream(write_end.get(), nullptr));
  EXPECT_FALSE(is_journal_stream(write_end.get(), ""));
  EXPECT_FALSE(is_journal_stream(write_end.get(), (stream + "0").c_str()));
  EXPECT_FALSE(is_journal_stream(-1, stream.c_str()));
}

TEST(Journal, AnEntryHasTextLevelPlaceAndFields) {
  const std::vector<LogField> fields{{"PARETO_PIPELINE", "00000000000000ff"}, {"NOTE", "a=b\nc"}};
  const LogLine line{LogLevel::kWarn, "it failed", fields, {"stage.cc", 12, "end"}};
  EXPECT_THAT(journal_entry("paretod", line),
              ElementsAre("MESSAGE=it failed", "PRIORITY=4", "SYSLOG_IDENTIFIER=paretod",
                          "CODE_FILE=stage.cc", "CODE_LINE=12", "CODE_FUNC=end",
                          "PARETO_PIPELINE=00000000000000ff", "NOTE=a=b\nc"));
}

TEST(Journal, LevelsAreSyslogsAndAnUnknownPlaceIsLeftOut) {
  const auto entry = [](LogLevel level) { return journal_entry("p", {level, "m", {}, {}}); };
  EXPECT_THAT(entry(LogLevel::kDebug),
              ElementsAre("MESSAGE=m", "PRIORITY=7", "SYSLOG_IDENTIFIER=p"));
  EXPECT_EQ(entry(LogLevel::kInfo)[1], "PRIORITY=6");
  EXPECT_EQ(entry(LogLevel::kError)[1], "PRIORITY=3");
}

}  // namespace
}  // namespace pareto::daemon
