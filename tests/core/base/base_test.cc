#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/counted.h"
#include "core/base/cpu_time.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json_reason.h"
#include "core/base/log.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Expected<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::kInvalidArgument, "{} is odd", number);
  return number / 2;
}

Expected<int> quarter(int number) {
  PARETO_ASSIGN(const int first, with_context(half(number), "halving {}", number));
  PARETO_TRY(half(first));
  return half(first);
}

TEST(Error, TravelsUpWithContext) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(5).error().message, "halving 5: 5 is odd");
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
}

TEST(Error, CodesHaveNamesThatReadBack) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_from_string(to_string(code)), code);
  }
  EXPECT_EQ(error_code_from_string("no such code"), ErrorCode::kInternal);
}

TEST(Text, NearestNamesSortByDistanceAndLeaveFarOnesOut) {
  const std::vector<std::string> names{"mobilenetv2", "resnet50", "resnet18", "vgg16"};
  EXPECT_THAT(nearest_names("resnet5", names), ElementsAre("resnet50", "resnet18"));
  EXPECT_EQ(did_you_mean("mobilnet", names), " (did you mean mobilenetv2?)");
  EXPECT_EQ(did_you_mean("zzz", names), "");
}

TEST(Text, CountsHaveTheirNumber) {
  EXPECT_EQ(counted(1, "plan"), "1 plan");
  EXPECT_EQ(counted(std::size_t{0}, "plan"), "0 plans");
  EXPECT_EQ(counted(1, "batch", "batches"), "1 batch");
  EXPECT_EQ(counted(2, "batch", "batches"), "2 batches");
}

TEST(Json, WhatIsWrongIsSaidWithoutTheLibrarysNames) {
  const auto reason = [](const char* text) -> std::string {
    try {
      return nlohmann::json::parse(text).at("a").get<std::string>();
    } catch (const nlohmann::json::exception& error) {
      return json_reason(error);
    }
  };
  EXPECT_THAT(reason("import x"), testing::StartsWith("no JSON at line 1, column 1: "));
  EXPECT_EQ(reason("{\"b\": 1}"), "\"a\" is missing");
  EXPECT_EQ(reason("{\"a\": 1}"), "type must be string, but is number");
  EXPECT_EQ(reason("[]"), "an object is expected where a list is");
  EXPECT_EQ(reason("7"), "a list or an object is expected where there is a number");
}

TEST(Text, IsWrappedBetweenWords) {
  EXPECT_THAT(wrapped("a\u0308 bc  def\ngh", 5), ElementsAre("a\u0308 bc", "def", "gh"));
  EXPECT_THAT(wrapped("four five5 x", 4), ElementsAre("four", "five5", "x"));
  EXPECT_THAT(wrapped(" of any  length ", 0), ElementsAre("of any length"));
  EXPECT_THAT(wrapped(" ", 5), testing::IsEmpty());
  EXPECT_EQ(display_width("°C"), 2U);
}

TEST(Text, Quantities) {
  EXPECT_EQ(parse_bytes("512").value(), 512U);
  EXPECT_EQ(parse_bytes("1.5 GiB").value(), 1610612736U);
  EXPECT_EQ(parse_bytes("2KB").value(), 2000U);
  EXPECT_FALSE(parse_bytes("-1"));
  EXPECT_FALSE(parse_bytes("12 parsecs"));
  EXPECT_FALSE(parse_bytes("1e300"));
  EXPECT_EQ(parse_duration("1.5ms")->count(), 1500000);
  EXPECT_EQ(parse_duration("0")->count(), 0);
  EXPECT_THAT(parse_duration("60").error().message, HasSubstr("such as 60s"));
  EXPECT_THAT(parse_duration("soon").error().message, HasSubstr("such as 20ms"));
  EXPECT_EQ(*parse_rate("1.5 mbit"), 1'500'000U);
  EXPECT_EQ(*parse_rate("9600bit"), 9600U);
  EXPECT_FALSE(parse_rate("100"));
  EXPECT_DOUBLE_EQ(*parse_share("0.5%"), 0.005);
  EXPECT_EQ(*parse_share("0"), 0);
  EXPECT_FALSE(parse_share("0.5"));
  EXPECT_EQ(to_percentage(*parse_share("0.5%")), "0.5%");
  EXPECT_EQ(to_percentage(*parse_share("5.54%")), "5.54%");
  for (int i = 0; i <= 10'000; ++i) {
    const double share = *parse_share(fmt::format("{}%", i / 100.0));
    EXPECT_EQ(*parse_share(to_percentage(share)), share) << i;
  }
  EXPECT_FALSE(parse_share("101%"));
  EXPECT_FALSE(parse_rate("100Mbps"));
  EXPECT_EQ(*parse_power("2.5W"), 2500);
  EXPECT_EQ(*parse_power("800 mW"), 800);
  EXPECT_FALSE(parse_power("5"));
  EXPECT_FALSE(parse_power("0W"));
  EXPECT_FALSE(parse_power("1.1kW"));
  EXPECT_EQ(format_bytes(412), "412 B");
  EXPECT_EQ(format_bytes(150 << 10), "150 KiB");
  EXPECT_EQ(format_bytes(13421773), "12.8 MiB");
  EXPECT_THAT(split_list(" a, b,,c "), ElementsAre("a", "b", "c"));
}

TEST(Digest, KnownAnswers) {
  // FIPS 180-4, the one-block message "abc".
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sha256(std::string_view("abc")).hex(), abc);
  Hasher hasher;
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(hasher.finish().hex(), abc);
  EXPECT_EQ(parse_digest(abc).value(), sha256(std::string_view("abc")));
  EXPECT_FALSE(parse_digest("abc"));
  EXPECT_FALSE(parse_digest(std::string(64, 'g')));
}

TEST(File, WritesWholeAndReadsBack) {
  auto folder = TemporaryFolder::create("pareto-test");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "a.txt";
  ASSERT_TRUE(write_file_atomically(path, std::string_view("first")));
  ASSERT_TRUE(write_file_atomically(path, std::string_view("second")));
  EXPECT_EQ(read_file(path).value(), "second");
  EXPECT_EQ(read_file(path, 3).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(read_file(folder->path()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_file(folder->path() / "b").error().code, ErrorCode::kNotFound);
  std::filesystem::create_symlink("loop", folder->path() / "loop");
  EXPECT_EQ(read_file(folder->path() / "loop").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(write_file_atomically(folder->path() / "no" / "b", std::string_view("")).error().code,
            ErrorCode::kNotFound);
}

TEST(File, KeepsItsModeAndANewOneHasTheUsers) {
  namespace fs = std::filesystem;
  const auto folder = TemporaryFolder::create("file");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "a";
  const mode_t before = ::umask(027);
  EXPECT_TRUE(write_file_atomically(path, std::string_view("new")));
  ::umask(before);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  fs::permissions(path, fs::perms(0600));
  ASSERT_TRUE(write_file_atomically(path, std::string_view("newer")));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
}

/// A folder whose files are looked at in the middle of a write.
struct HalfWritten {
  static inline std::filesystem::path folder_;
  static inline std::vector<unsigned> modes_;

  static void look(int /*signal*/) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      modes_.push_back(static_cast<unsigned>(entry.status().permissions()));
    }
  }
};

TEST(File, APrivateFileIsPrivateWhileItIsWritten) {
  const auto folder = TemporaryFolder::create("file").value();
  const auto path = folder.path() / "key";
  ASSERT_TRUE(write_file_atomically(path, std::string_view("old")));
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  HalfWritten::folder_ = folder.path();
  HalfWritten::modes_.clear();
  const mode_t mask = ::umask(0);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{16, before.rlim_max};
  // The kernel calls it behind the first 16 bytes, from within the write.
  const auto handler = std::signal(SIGXFSZ, HalfWritten::look);
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_FALSE(write_file_atomically(path, std::string_view(std::string(1000, 'x'))));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ::umask(mask);
  EXPECT_THAT(HalfWritten::modes_, ElementsAre(0600U, 0600U)) << "the old file and the new one";
}

TEST(File, ALinkIsFollowed) {
  namespace fs = std::filesystem;
  const auto folder = TemporaryFolder::create("file");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "a";
  fs::create_symlink("b", path);
  for (const char* text : {"made", "replaced"}) {
    ASSERT_TRUE(write_file_atomically(path, std::string_view(text)));
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_EQ(read_file(folder->path() / "b").value(), text);
  }
}

TEST(File, WhatIsNoFileIsWrittenToAndStaysWhatItIs) {
  const auto folder = TemporaryFolder::create("file");
  ASSERT_TRUE(folder);
  const std::string path = folder->path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto reading = std::async(std::launch::async, [&] { return read_file(path); });
  EXPECT_TRUE(write_file_atomically(path, std::string_view("through")));
  EXPECT_EQ(reading.get().value(), "through");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(write_file_atomically(folder->path(), std::string_view("")).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(File, AFailedWriteLeavesTheOldFileAndNoOther) {
  auto folder = TemporaryFolder::create("pareto-test");
  const auto path = folder->path() / "a.txt";
  ASSERT_TRUE(write_file_atomically(path, std::string_view("old")));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{16, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto result = write_file_atomically(path, std::string_view(std::string(1000, 'x')));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(read_file(path).value(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder->path()), {}), 1);
}

TEST(FolderLock, BelongsToOneAtATime) {
  const auto folder = TemporaryFolder::create("pareto-test");
  const auto path = folder->path() / "a";
  EXPECT_EQ(FolderLock::try_take(path).error().code, ErrorCode::kNotFound);
  std::filesystem::create_directory(path);
  auto lock = FolderLock::try_take(path);
  ASSERT_TRUE(lock && *lock);
  EXPECT_EQ(FolderLock::try_take(path).value(), std::nullopt);
  (*lock).reset();
  EXPECT_NE(FolderLock::try_take(path).value(), std::nullopt);
}

TEST(TemporaryFolder, OfAKilledProcessIsRemovedByTheNext) {
  const std::string prefix = "pareto-test-" + std::to_string(::getpid());
  const auto own = TemporaryFolder::create(prefix);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto left_behind = TemporaryFolder::create(prefix);
    const std::string path = left_behind->path().string();
    (void)!::write(ends[1], path.data(), path.size());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::string path(512, '\0');
  path.resize(static_cast<std::size_t>(::read(ends[0], path.data(), path.size())));
  ASSERT_TRUE(std::filesystem::is_directory(path)) << path;
  const auto next = TemporaryFolder::create(prefix);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(own->path())) << "its owner lives";
}

TEST(TemporaryFolder, SaysWhatIsWrongWithTmpdir) {
  const char* set = std::getenv("TMPDIR");
  const std::optional<std::string> before =
      set != nullptr ? std::optional<std::string>(set) : std::nullopt;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto made = TemporaryFolder::create("pareto-test");
  if (before) {
    ::setenv("TMPDIR", before->c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(made.error().message, HasSubstr("TMPDIR=/no/such/folder"));
}

TEST(CpuTime, CountsWorkOfThisThreadOnly) {
  const Nanoseconds start = thread_cpu_time();
  Nanoseconds elsewhere{};
  std::jthread([&] {
    const Nanoseconds begin = thread_cpu_time();
    while (thread_cpu_time() - begin < std::chrono::milliseconds(20)) {
    }
    elsewhere = thread_cpu_time() - begin;
  }).join();
  EXPECT_GE(elsewhere, std::chrono::milliseconds(20));
  const Nanoseconds here = thread_cpu_time() - start;
  EXPECT_GT(here, Nanoseconds(0));
  EXPECT_LT(here, std::chrono::milliseconds(20)) << "the other thread's work was counted";
}

TEST(Log, UnknownLevelNamesTheLevels) {
  EXPECT_THAT(set_up_logging("test", "loud").error().message, HasSubstr("info"));
  EXPECT_THAT(set_log_level("quiet").error().message, HasSubstr("info"));
  EXPECT_TRUE(set_up_logging("test", "warn"));
}

TEST(Log, AnOutputIsGivenFieldsAndPlacesWithTheText) {
  std::vector<std::string> lines;
  ASSERT_TRUE(set_up_logging("test", "info", [&](const LogLine& line) {
    std::string text = fmt::format("{}|{}|{}|{}", static_cast<int>(line.level), line.text,
                                   line.place.file, line.place.function);
    for (const LogField& field : line.fields)
      text += fmt::format("|{}={}", field.name, field.value);
    EXPECT_GT(line.place.line, 0);
    lines.push_back(std::move(text));
  }));
  log_about({{"PIPELINE", "2a"}, {"STAGE", "1"}}, LogLevel::kWarn, "{} is no format");
  log_about({}, LogLevel::kDebug, "below the level");
  ASSERT_TRUE(set_log_level("debug"));
  log_about({}, LogLevel::kDebug, "at the level");
  ASSERT_TRUE(set_up_logging("test", "warn"));
  EXPECT_THAT(lines, ElementsAre("2|{} is no format|base_test.cc|TestBody|PIPELINE=2a|STAGE=1",
                                 "0|at the level|base_test.cc|TestBody"));
}

TEST(Log, WhatAPeerWroteBeginsNoLineAndControlsNoTerminal) {
  const std::string name = "net\n2026-01-01T00:00:00.000 paretod error forged\r\x1b[2J\xc2\x9b";
  const std::string clean = "net 2026-01-01T00:00:00.000 paretod error forged  [2J";
  std::vector<std::string> lines;
  ASSERT_TRUE(set_up_logging("test", "info", [&](const LogLine& line) {
    lines.push_back(
        fmt::format("{}|{}", line.text, line.fields.empty() ? "" : line.fields.front().value));
  }));
  log_about({{"MODEL", name}}, LogLevel::kInfo, "loaded " + name);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("loaded " + clean));
  EXPECT_THAT(lines[0], HasSubstr("|" + clean));
  EXPECT_TRUE(is_printable(lines[0]));

  testing::internal::CaptureStderr();
  ASSERT_TRUE(set_up_logging("test", "info"));
  log_about({}, LogLevel::kInfo, "loaded " + name);
  std::string written = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(written.ends_with(clean + "  \n") || written.ends_with(clean + " \n")) << written;
  written.pop_back();
  EXPECT_TRUE(is_printable(written)) << written;
  ASSERT_TRUE(set_up_logging("test", "warn"));
}

}  // namespace
}  // namespace pareto
