// Deployments that change their plan while requests go through them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/file_descriptor.h"
#include "tests/e2e/fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

class Resplit : public EndToEnd {
 protected:
  static constexpr std::array kSplits{"after:features.3", "percent:60", "after:features.7"};

  Resplit() {
    // The socket of a deployment lies in this test's folder.
    ::setenv("XDG_RUNTIME_DIR", folder().c_str(), 1);
    std::vector<std::pair<std::string, std::string>> devices;
    for (const char* name : {"first", "second"}) {
      daemons_.push_back(std::make_unique<Daemon>(name, folder()));
      devices.emplace_back(name, daemons_.back()->address());
    }
    inventory_ = inventory(devices);
    for (int i = 0; i < 4; ++i) {
      write_npy(path(fmt::format("f{}.npy", i)), {1, 3, 64, 64}, static_cast<float>(i));
    }
    std::vector<std::string> arguments{
        "run",      "--engine",    "plain",           "--split",    kSplits[0], "--devices",
        inventory_, "--save-plan", path("plan.json"), "--requests", "1"};
    const auto model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
  }

  std::string deploy(const std::string& more) const {
    return fmt::format("{}/paretoctl deploy --plan {} --devices {} {}", test::programs_folder(),
                       path("plan.json"), inventory_, more);
  }
  /// Starts a deployment that reads names from a fifo, which never ends.
  std::unique_ptr<Process> start(const std::string& more) const {
    EXPECT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
    return std::make_unique<Process>(
        std::vector<std::string>{"/bin/sh", "-c", "exec " + deploy(more) + " <> " + path("names")});
  }

  /// Says a line to a deployment. Returns its answer.
  json ask(int pid, const json& question) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string file = path(fmt::format("pareto-edge/deploy-{}.sock", pid));
    EXPECT_LT(file.copy(address.sun_path, sizeof address.sun_path - 1), sizeof address.sun_path);
    const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    const std::string line = question.dump() + "\n";
    EXPECT_EQ(::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL), std::ssize(line));
    std::string answer;
    std::array<char, 4096> part{};
    while (!answer.ends_with('\n')) {
      const ssize_t count = ::recv(socket.get(), part.data(), part.size(), 0);
      if (count <= 0) break;
      answer.append(part.data(), static_cast<std::size_t>(count));
    }
    return json::parse(answer, nullptr, /*allow_exceptions=*/false);
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::string inventory_;
};

TEST_F(Resplit, ListsDeploymentsAndRefusesWhatCannotBe) {
  const auto none = paretoctl({"resplit", "--split", kSplits[1]});
  EXPECT_EQ(none.exit_code, 2) << none.errors;
  EXPECT_THAT(none.errors, HasSubstr("no deploy of this user runs here"));
  const auto process = start("--name camera");
  ASSERT_TRUE(process->wait_for_output("ready")) << process->errors();
  const json listed = json::parse(paretoctl({"resplit", "--json"}).output);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0]["name"], "camera");
  EXPECT_EQ(listed[0]["pid"], process->pid());
  EXPECT_EQ(listed[0]["splits"], json({kSplits[0]}));
  EXPECT_EQ(listed[0]["epoch"], 1);
  const auto unknown = paretoctl({"resplit", "--split", "after:nothing"});
  EXPECT_NE(unknown.exit_code, 0);
  EXPECT_THAT(unknown.errors, HasSubstr("after:nothing"));
  EXPECT_THAT(paretoctl({"resplit", "--split", kSplits[1], "--deployment", "other"}).errors,
              HasSubstr("there are camera (process "));
  // A plan for devices that are not there: the one that runs goes on.
  json plan = json::parse(slurp(path("plan.json")));
  plan["stages"][1]["device"] = "third";
  std::ofstream(path("other.json")) << plan;
  const auto elsewhere = paretoctl({"resplit", "--plan", path("other.json")});
  EXPECT_NE(elsewhere.exit_code, 0);
  EXPECT_THAT(elsewhere.errors, HasSubstr("third"));
  EXPECT_TRUE(process->wait_for_output("not changed, the plan before goes on"));
  const auto idle = paretoctl({"resplit", "--split", kSplits[2], "--json"});
  ASSERT_EQ(idle.exit_code, 0) << idle.errors;
  EXPECT_EQ(json::parse(idle.output)["splits"], json({kSplits[2]}));
  EXPECT_EQ(json::parse(idle.output)["epoch"], 2);
  std::ofstream(path("names")) << path("f0.npy") << std::endl;
  ASSERT_TRUE(process->wait_for_output(" ms\n")) << process->errors();
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 0) << process->errors();
  EXPECT_EQ(json::parse(paretoctl({"resplit", "--json"}).output), json::array());
}

class ResplitFaults : public Resplit {};

TEST_F(ResplitFaults, UnderLoad) {
  FaultRow row{.fault = "the plan is changed under load (`resplit`)",
               .expected = "0 lost, duplicated, reordered; same bits; gap ≤ period + latency",
               .cycles = cycles(20, 1000)};
  // What is right, by the plan before any change.
  std::string files;
  for (int i = 0; i < 4; ++i) files += path(fmt::format("f{}.npy ", i));
  ASSERT_EQ(
      run({"/bin/sh", "-c",
           deploy("--json --output " + path("right") + " " + files) + " > " + path("right.jsonl")})
          .exit_code,
      0);
  const auto process = start("--json --output " + path("results") + " > " + path("log.jsonl"));
  ASSERT_TRUE(process->wait_for_output("ready")) << process->errors();
  std::atomic<bool> enough{false};
  std::jthread feeding([&] {
    std::ofstream names(path("names"));
    for (int i = 0; !enough; ++i) names << path(fmt::format("f{}.npy", i % 4)) << std::endl;
  });
  std::vector<Nanoseconds> gaps;
  std::vector<Nanoseconds> bounds;
  std::size_t within = 0;
  const auto time_at = [](const json& done, const char* name) {
    return from_nanoseconds(done[name].get<double>() * 1e6);
  };
  for (std::size_t i = 0; i < row.cycles; ++i) {
    // As `paretoctl resplit` does, without the time that a program takes to start.
    const json answered =
        ask(process->pid(), {{"ask", "resplit"}, {"split", kSplits[(i + 1) % kSplits.size()]}});
    EXPECT_TRUE(answered.contains("done")) << answered << process->errors();
    if (!answered.contains("done")) break;
    const json& answer = answered["done"];
    EXPECT_EQ(answer["epoch"], i + 2);
    EXPECT_EQ(answer["sent_again"], 0);
    if (answer["gap_ms"].is_null() || answer["period_ms"].is_null()) continue;
    gaps.push_back(time_at(answer, "gap_ms"));
    bounds.push_back(time_at(answer, "period_ms") + time_at(answer, "latency_ms"));
    within += gaps.back() <= bounds.back() ? 1 : 0;
  }
  // The pipe is not left without a reader.
  enough = true;
  feeding.join();
  process->signal(SIGINT);
  EXPECT_THAT(process->wait(), AnyOf(0, 4)) << process->errors();
  EXPECT_EQ(gaps.size(), row.cycles) << "requests came at each change";
  EXPECT_THAT(process->errors(), HasSubstr(", 0 failed"));
  const auto checked =
      paretoctl({"history", path("log.jsonl"), "--expected", path("right.jsonl"), "--json"});
  ASSERT_FALSE(checked.output.empty()) << checked.errors;
  const json verdict = json::parse(checked.output);
  EXPECT_TRUE(verdict["holds"]) << verdict;
  EXPECT_GT(verdict["compared"], row.cycles);
  row.add("requests", verdict["answered"].get<std::size_t>());
  row.add("lost", verdict["lost"].get<std::size_t>());
  row.add("duplicated", verdict["duplicated"].get<std::size_t>());
  row.add("out of order", verdict["reordered"].get<std::size_t>());
  row.add("wrong", verdict["wrong"].get<std::size_t>());
  row.add("gap", gaps);
  row.add("period + latency", bounds);
  row.add("gaps within that", within);
  record(row);
}

}  // namespace
}  // namespace pareto::test
