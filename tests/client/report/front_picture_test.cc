#include "client/report/front_picture.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Returns the width (at 0) or height (at 4) in the header of a PNG.
unsigned size_in(const std::string& png, std::size_t at) {
  unsigned value = 0;
  for (std::size_t i = 16 + at; i < 20 + at; ++i) {
    value = value << 8 | static_cast<unsigned char>(png.at(i));
  }
  return value;
}

/// Returns a program of `lines` to be taken for a browser.
std::string script(const TemporaryFolder& folder, const std::string& lines) {
  const auto path = folder.path() / "browser";
  EXPECT_TRUE(write_file_atomically(path, "#!/bin/sh\n" + lines + "\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

/// A pipe with a name, for scripts to write to. Open here as `mode` says; reading it does not wait.
struct NamedPipe {
  NamedPipe(const TemporaryFolder& folder, const std::string& name, int mode)
      : path((folder.path() / name).string()) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    end = FileDescriptor(::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(end);
  }
  std::string path;
  FileDescriptor end;
};

/// Returns whether nobody has it open for writing, now or before long.
bool nobody_writes(const NamedPipe& pipe) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  char byte = 0;
  while (::read(pipe.end.get(), &byte, 1) != 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

TEST(FrontPicture, HasTheSizeAskedFor) {
  const auto png =
      front_picture(test::synthetic_run(), {.width = 1200, .height = 800}, PictureFormat::kPng, {});
  ASSERT_TRUE(png) << png.error().message;
  EXPECT_THAT(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(size_in(*png, 0), 1200U);
  EXPECT_EQ(size_in(*png, 4), 800U);
}

TEST(FrontPicture, DrawsTheFrontOfTheNetworkAskedFor) {
  const results::RunRecord run = test::synthetic_network_sweep();
  const auto svg = front_picture(run, {.condition = "20-near"}, PictureFormat::kSvg, {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, AllOf(StartsWith("<svg"), HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""),
                          HasSubstr("latency, p50 ms")));
  std::size_t named = 0;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.on_front && trial.batch == 1 && trial.condition == "20-near" && trial.split) {
      named += svg->find(trial.split->name) != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GE(named, 2U) << "plans on the front are named, where names do not hide each other";
}

TEST(FrontPicture, IsADrawingHoweverManyPlansThereAre) {
  results::RunRecord run = test::synthetic_large_sweep();
  const std::vector<results::TrialRecord> once = run.trials;
  // More than the page draws as shapes.
  for (int copy = 0; run.trials.size() <= 1500; ++copy) {
    for (results::TrialRecord trial : once) {
      trial.id += fmt::format("-{}", copy);
      run.trials.push_back(std::move(trial));
    }
  }
  const auto svg = front_picture(run, {}, PictureFormat::kSvg, {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, AllOf(StartsWith("<svg"), HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""),
                          HasSubstr("latency, p50 ms")));
}

TEST(FrontPicture, WhatWasNotMeasuredIsNotDrawn) {
  const results::RunRecord run = test::synthetic_network_sweep();
  for (const PictureOptions& options :
       {PictureOptions{.condition = "wifi"}, PictureOptions{.condition = "1-far"},
        PictureOptions{.batch = 3}}) {
    const auto png = front_picture(run, options, PictureFormat::kPng, {"/nonexistent"});
    ASSERT_FALSE(png);
    EXPECT_EQ(png.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(png.error().message, AllOf(HasSubstr("network \"4-near\" at batch 8"),
                                           Not(HasSubstr("\"1-far\" at batch"))));
  }
  const auto unknown =
      front_picture(run, {.condition = "lta", .batch = 3}, PictureFormat::kPng, {"/none"});
  EXPECT_THAT(unknown.error().message, HasSubstr("at network \"lta\" and batch 3; it has network"));
  results::RunRecord empty = run;
  empty.trials.clear();
  const auto none = front_picture(empty, {}, PictureFormat::kPng, {"/nonexistent"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no plan measured"));
}

TEST(FrontPicture, ABrowserIsNeededAndNamed) {
  const auto png =
      front_picture(test::synthetic_run(), {}, PictureFormat::kPng, {"no-such-browser"});
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(png.error().message,
              AllOf(HasSubstr("no-such-browser"), HasSubstr("apt install chromium"),
                    HasSubstr("--browser")));
}

TEST(FrontPicture, ABrowserThatFailsIsHeard) {
  const TemporaryFolder folder = TemporaryFolder::create("front-picture").value();
  const auto png = front_picture(test::synthetic_run(), {}, PictureFormat::kPng,
                                 {script(folder, "echo no memory left >&2; exit 3")});
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(png.error().message, AllOf(HasSubstr("ended with 3"), HasSubstr("no memory left")));
  // One that says that all went well and drew nothing.
  const auto silent = front_picture(test::synthetic_run(), {}, PictureFormat::kSvg,
                                    {script(folder, "echo '<html></html>'")});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::kInternal);
}

TEST(FrontPicture, ABrowserThatHangsIsEndedWithAllOfItsProcesses) {
  const TemporaryFolder folder = TemporaryFolder::create("front-picture").value();
  const NamedPipe held(folder, "held", O_RDONLY);
  // However far the script comes in that second.
  const auto png = front_picture(
      test::synthetic_run(), {}, PictureFormat::kPng,
      {script(folder, "exec 3>" + held.path + "; sleep 1000 & wait"), std::chrono::seconds(1)});
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(nobody_writes(held)) << "it still runs";
}

TEST(FrontPicture, ABrowserThatIsStoppedIsEndedWithAllOfItsProcessesAndItsFolder) {
  const TemporaryFolder folder = TemporaryFolder::create("front-picture").value();
  const NamedPipe held(folder, "held", O_RDONLY);
  // Readable once the script has written its home there, and not for want of writers.
  const NamedPipe stop(folder, "stop", O_RDWR);
  const auto png = front_picture(
      test::synthetic_run(), {}, PictureFormat::kPng,
      {.program = script(folder, "exec 3>" + held.path + "; sleep 1000 & printf %s \"$HOME\" >" +
                                     stop.path + "; wait"),
       .stop = stop.end.get()});
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::kClosed);
  EXPECT_EQ(png.error().message, "stopped");
  EXPECT_TRUE(nobody_writes(held)) << "it still runs";
  std::string home(4096, '\0');
  const ssize_t length = ::read(stop.end.get(), home.data(), home.size());
  ASSERT_GT(length, 0);
  home.resize(static_cast<std::size_t>(length));
  EXPECT_THAT(home, HasSubstr("pareto-picture."));
  EXPECT_FALSE(std::filesystem::exists(home));
}

}  // namespace
}  // namespace pareto::report
