#include "tests/e2e/fault_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/clock.h"
#include "core/base/file_descriptor.h"
#include "core/base/poll.h"

namespace pareto::test {
namespace {

/// The smallest that there is: few requests are left when it ends.
constexpr int kFifoBytes = 4096;

/// A request that hangs is given up after half a minute, and then sent again.
constexpr std::chrono::minutes kMostPatience{2};

constexpr std::array kCounts{"answered", "failed", "lost", "duplicated", "reordered", "wrong"};

}  // namespace

void Histories::add(const nlohmann::json& verdict) {
  for (const char* name : kCounts) counts_[name] += verdict[name].get<std::size_t>();
}

void Histories::add_to(FaultRow& row) const {
  for (const char* name : kCounts) row.add(name, counts_.at(name));
}

EndlessRequests::EndlessRequests(const std::string& fifo, std::vector<std::string> names,
                                 Nanoseconds pace)
    // Open for reading too, it is there before its reader, and its end is seen at end() only.
    : fifo_(::open(fifo.c_str(), O_RDWR | O_CLOEXEC)),
      writer_([number = fifo_, lines = std::move(names), pace](const std::stop_token& stop) {
        ::fcntl(number, F_SETPIPE_SZ, kFifoBytes);
        ::fcntl(number, F_SETFL, O_NONBLOCK);
        for (std::size_t i = 0; !stop.stop_requested(); ++i) {
          if (i > 0 && pace > Nanoseconds(0)) std::this_thread::sleep_for(pace);
          const std::string line = lines[i % lines.size()] + "\n";
          while (::write(number, line.data(), line.size()) < 0 && !stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }
      }) {}

void EndlessRequests::end() {
  if (!writer_.joinable()) return;
  writer_.request_stop();
  writer_.join();
  ::close(fifo_);
}

FaultTest::FaultTest() {
  for (int i = 0; i < kRequests; ++i) {
    write_npy(path(fmt::format("f{}.npy", i)), {1, 3, 64, 64}, static_cast<float>(i));
  }
}

std::vector<std::string> FaultTest::with_model(std::vector<std::string> arguments) {
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  return arguments;
}

std::vector<std::string> FaultTest::files() const {
  std::vector<std::string> names;
  for (int i = 0; i < kRequests; ++i) names.push_back(path(fmt::format("f{}.npy", i)));
  return names;
}

Daemon& FaultTest::start(const std::string& name) {
  const auto known = std::ranges::find(addresses_, name, [](const auto& one) { return one.first; });
  std::vector<std::string> flags;
  if (known != addresses_.end()) flags = {"--listen", known->second};
  std::erase_if(daemons_, [&](const auto& one) { return one.first == name; });
  daemons_.emplace_back(name, std::make_unique<Daemon>(name, folder(), flags));
  Daemon& daemon = *daemons_.back().second;
  if (known == addresses_.end()) addresses_.emplace_back(name, daemon.address());
  return daemon;
}

Daemon& FaultTest::daemon(const std::string& name) const {
  return *std::ranges::find(daemons_, name, [](const auto& one) -> const std::string& {
            return one.first;
          })->second;
}

std::vector<std::string> FaultTest::devices() const { return {"--devices", inventory(addresses_)}; }

void FaultTest::make_plan(const std::vector<std::string>& where, const std::string& split,
                          const std::string& transport) {
  std::vector<std::string> arguments{"run",     "--engine",    "plain",
                                     "--split", split,         "--transport",
                                     transport, "--save-plan", path("plan.json")};
  arguments.insert(arguments.end(), where.begin(), where.end());
  const auto made = paretoctl(with_model(arguments));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  arguments = {"deploy", "--plan", path("plan.json"), "--json", "--output", path("right")};
  arguments.insert(arguments.end(), where.begin(), where.end());
  const auto names = files();
  arguments.insert(arguments.end(), names.begin(), names.end());
  const auto right = paretoctl(arguments);
  ASSERT_EQ(right.exit_code, 0) << right.errors;
  std::ofstream(path("right.jsonl")) << right.output;
}

std::vector<std::string> FaultTest::stream(const std::vector<std::string>& where,
                                           const std::string& flags) const {
  return {"/bin/sh", "-c",
          fmt::format("exec {}/paretoctl deploy --plan {} {} --json --output {} {} < {} > {}",
                      test::programs_folder(), path("plan.json"), fmt::join(where, " "),
                      path("results"), flags, path("names"), path("log"))};
}

std::unique_ptr<EndlessRequests> FaultTest::requests(Nanoseconds pace) {
  std::error_code ignored;
  std::filesystem::remove(path("names"), ignored);
  std::filesystem::remove_all(path("results"), ignored);
  EXPECT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
  lines_.emplace(path("log"), "\n");
  return std::make_unique<EndlessRequests>(path("names"), files(), pace);
}

testing::AssertionResult FaultTest::more_answers(std::size_t count) {
  const FileDescriptor changed(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ::inotify_add_watch(changed.get(), path("log").c_str(), IN_MODIFY);
  const std::size_t wanted = lines_->count() + count;
  const Deadline deadline = deadline_after(kMostPatience);
  while (lines_->count() < wanted) {
    pollfd polled{changed.get(), POLLIN, 0};
    if (!poll_until({&polled, 1}, deadline)) {
      return testing::AssertionFailure() << lines_->count() << " lines, not " << wanted;
    }
    char events[4096];
    while (::read(changed.get(), events, sizeof events) > 0) {
    }
  }
  return testing::AssertionSuccess();
}

nlohmann::json FaultTest::check_history() const {
  const auto done =
      paretoctl({"history", path("log"), "--expected", path("right.jsonl"), "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  auto verdict = nlohmann::json::parse(done.output);
  if (verdict["failed"] != 0) {
    std::ifstream log(path("log"));
    for (std::string line; std::getline(log, line);) {
      if (line.find("\"error\"") != std::string::npos) ADD_FAILURE() << line;
    }
  }
  return verdict;
}

}  // namespace pareto::test
