// The machine's clock is stepped while something is measured. All programs of the machine have that
// clock, so PARETO_STEP_CLOCK=1 has to allow it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/file_descriptor.h"
#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"
#include "tests/support/text_count.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

Nanoseconds time_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

/// The wall clock of this machine. Its right time is found by the monotonic clock again, at the
/// latest by a process that waits until this one ends, however it does. Threads: one owner.
class WallClock {
 public:
  WallClock() : ahead_(time_of(CLOCK_REALTIME) - time_of(CLOCK_MONOTONIC)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    const FileDescriptor read_end(ends[0]);
    write_end_ = FileDescriptor(ends[1]);
    guard_ = ::fork();
    if (guard_ != 0) return;
    // Signals of the test's process group end the test, and not this one.
    ::setsid();
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    static_cast<void>(set(seconds(0)));
    ::_exit(0);
  }
  ~WallClock() {
    write_end_ = FileDescriptor();
    if (guard_ > 0) ::waitpid(guard_, nullptr, 0);
  }
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

  /// Sets it that much before or after the right time. Returns an errno; 0: it is set.
  int set(seconds away) const {
    const Nanoseconds time = time_of(CLOCK_MONOTONIC) + ahead_ + away;
    const seconds whole = std::chrono::floor<seconds>(time);
    const timespec then{.tv_sec = whole.count(), .tv_nsec = (time - whole).count()};
    return ::clock_settime(CLOCK_REALTIME, &then) == 0 ? 0 : errno;
  }
  bool is_guarded() const { return guard_ > 0; }

 private:
  const Nanoseconds ahead_;
  FileDescriptor write_end_;
  pid_t guard_ = -1;
};

class ClockFaults : public FaultTest {
 protected:
  /// Steps of 10 s each: where the clock is after them.
  static constexpr std::array kAway{seconds(10), seconds(0), seconds(-10), seconds(0)};
  static constexpr double kLongest = 2000;  ///< ms of a request; no step is as short

  void SetUp() override {
    const char* allowed = std::getenv("PARETO_STEP_CLOCK");
    if (allowed == nullptr || std::string(allowed) != "1") {
      GTEST_SKIP() << "it steps the clock of this machine: PARETO_STEP_CLOCK=1 allows it";
    }
    clock_.emplace();
    ASSERT_TRUE(clock_->is_guarded());
    if (const int error = clock_->set(seconds(0))) {
      GTEST_SKIP() << "the clock may not be set: " << std::strerror(error);
    }
    start("first");
    start("second");
  }

  void step(std::size_t number) const {
    ASSERT_EQ(clock_->set(kAway.at(number % kAway.size())), 0);
  }

  /// Waits until a sweep has measured more than when this was called last.
  bool another_round(const std::string& store) {
    const Deadline deadline = deadline_after(std::chrono::minutes(1));
    for (int before = rounds_; std::chrono::steady_clock::now() < *deadline;) {
      const auto front = paretoctl({"front", "--store", store, "--json", "last"});
      const json run = json::parse(front.output, nullptr, /*allow_exceptions=*/false);
      if (!run.is_object()) continue;
      rounds_ = 0;
      for (const json& trial : run["trials"]) rounds_ += trial.value("rounds", 0);
      if (rounds_ > before) return true;
    }
    return false;
  }

  std::optional<WallClock> clock_;
  int rounds_ = 0;  ///< rounds of all trials together
};

/// Figures of a trial, and how far its rounds were apart.
struct Measured {
  double latency = 0, low = 0, high = 0;  ///< ms
  double rate = 0;                        ///< samples/s
};

std::map<std::string, Measured> figures_of(const json& run) {
  std::map<std::string, Measured> figures;
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial;
    if (trial["status"] != "ok") continue;
    const json& latency = trial["latency_ms"];
    figures[trial["id"]] = {.latency = latency["p50"],
                            .low = latency["ci95"][0],
                            .high = latency["ci95"][1],
                            .rate = trial["throughput"]["samples_per_s"]};
  }
  return figures;
}

/// Finds durations that are negative, or that a step could be part of. `limit`: in the unit of the
/// name.
void expect_durations(const json& value, const std::string& name, double longest_ms) {
  if (value.is_structured()) {
    for (const auto& [key, one] : value.items()) {
      // A list's numbers are those of its name.
      expect_durations(one, value.is_array() ? name : name + "." + key, longest_ms);
    }
    return;
  }
  if (!value.is_number()) return;
  const bool is_duration = name.find("_ms") != std::string::npos;
  if (!is_duration) return;
  EXPECT_GE(value.get<double>(), 0) << name;
  EXPECT_LT(value.get<double>(), longest_ms) << name;
}

TEST_F(ClockFaults, StepsDuringASweepChangeNoFigure) {
  FaultRow row{.fault = "the clock is stepped by ± 10 s during a sweep",
               .expected =
                   "figures as without, within the interval; no duration negative or off by "
                   "seconds; no device lost",
               .cycles = cycles(2, 20)};
  // A step waits until rounds have been stored, which takes several of each of the six plans.
  const std::size_t rounds = 3 * row.cycles / 2;
  const auto sweep = [&](const std::string& store) {
    std::vector<std::string> arguments{
        "sweep",        "--store",    path(store), "--rounds", std::to_string(rounds),
        "--exhaustive", "--requests", "10",        "--splits", "after:features.3",
        "--transport",  "tcp,grpc",   "--report",  "none",     "--json",
        "--insecure"};
    const auto where = devices();
    arguments.insert(arguments.end(), where.begin(), where.end());
    return with_model(arguments);
  };
  const auto quiet = paretoctl(sweep("quiet.db"));
  ASSERT_EQ(quiet.exit_code, 0) << quiet.errors;
  auto arguments = sweep("stepped.db");
  arguments.insert(arguments.begin(), "paretoctl");
  Process stepped(arguments);
  const Nanoseconds began = time_of(CLOCK_MONOTONIC);
  for (std::size_t i = 0; i < row.cycles; ++i) {
    ASSERT_TRUE(another_round(path("stepped.db"))) << stepped.errors();
    ASSERT_NO_FATAL_FAILURE(step(i));
  }
  ASSERT_EQ(stepped.wait(), 0) << stepped.errors();
  const double took_ms = to_milliseconds(time_of(CLOCK_MONOTONIC) - began);
  EXPECT_THAT(stepped.errors(), Not(HasSubstr("lost")));
  const json before = json::parse(quiet.output);
  const json after = json::parse(stepped.output());
  expect_durations(after["trials"], "trials", kLongest);
  for (const auto& [name, value] : after["time"].items()) {
    if (!name.ends_with("_s")) continue;
    EXPECT_GE(value.get<double>(), 0) << name;
    EXPECT_LE(value.get<double>() * 1000, took_ms) << name;
  }
  const auto expected = figures_of(before);
  const auto seen = figures_of(after);
  ASSERT_EQ(seen.size(), expected.size());
  for (const auto& [id, one] : seen) {
    ASSERT_TRUE(expected.contains(id));
    const Measured& other = expected.at(id);
    // Other programs of the machine may make either slower.
    EXPECT_GT(one.latency, other.low / 3) << id;
    EXPECT_LT(one.latency, other.high * 3) << id;
    EXPECT_GT(one.rate, other.rate / 3) << id;
    EXPECT_LT(one.rate, other.rate * 3) << id;
  }
  row.add("trials", seen.size());
  row.add("latency without", expected.begin()->second.latency, "ms");
  row.add("latency with", seen.begin()->second.latency, "ms");
  row.add("rate without", expected.begin()->second.rate, "samples/s");
  row.add("rate with", seen.begin()->second.rate, "samples/s");
  record(row);
}

TEST_F(ClockFaults, StepsDuringAStreamLoseNobody) {
  FaultRow row{.fault = "the clock is stepped by ± 10 s during a stream (deploy)",
               .expected =
                   "no loss of the pipeline; none lost, duplicated, reordered, wrong; no latency "
                   "negative or off by seconds",
               .cycles = cycles(2, 20)};
  make_plan(devices(), "after:features.3", "tcp+grpc+tcp");
  const auto names = requests(std::chrono::milliseconds(10));
  Process deploy(stream(devices(), "--on-loss wait"));
  ASSERT_TRUE(deploy.wait_for_output("ready: 2 stages")) << deploy.errors();
  for (std::size_t i = 0; i < row.cycles; ++i) {
    ASSERT_TRUE(more_answers(20)) << deploy.errors();
    ASSERT_NO_FATAL_FAILURE(step(i));
    // Each step lasts for longer than a peer may be silent.
    ASSERT_TRUE(more_answers(250)) << deploy.errors();
  }
  const auto seen = paretoctl({"devices", devices()[0], devices()[1], "--json"});
  EXPECT_EQ(seen.exit_code, 0) << seen.errors;
  EXPECT_THAT(seen.output, HasSubstr("\"deploy\"")) << "its lease holds";
  deploy.signal(SIGINT);
  EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
  EXPECT_THAT(deploy.errors(), Not(HasSubstr("the pipeline is lost")));
  std::vector<double> latencies;
  std::ifstream log(path("log"));
  for (std::string line; std::getline(log, line);) {
    latencies.push_back(json::parse(line).value("latency_ms", -1.0));
    EXPECT_GT(latencies.back(), 0) << line;
    EXPECT_LT(latencies.back(), kLongest) << line;
  }
  ASSERT_FALSE(latencies.empty());
  Histories histories;
  histories.add(check_history());
  row.add("latency, longest", std::ranges::max(latencies), "ms");
  histories.add_to(row);
  record(row);
}

}  // namespace
}  // namespace pareto::test
