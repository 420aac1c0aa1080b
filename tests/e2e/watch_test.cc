// Devices as they are now: top and doctor, with real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns whether both stages of one pipeline have computed requests meanwhile.
bool shows_work(const json& line) {
  const json& pipelines = line["pipelines"];
  if (pipelines.size() != 1 || pipelines[0]["stages"].size() != 2) return false;
  const json& stages = pipelines[0]["stages"];
  return std::all_of(stages.begin(), stages.end(), [](const json& stage) {
    const json& rates = stage["rates"];
    // What is not known is null, and less than any number.
    return !rates.is_null() && rates["requests_per_s"] > 0 && rates["computing"] > 0 &&
           rates["compute_ms"]["p50"] > 0 && rates["bytes_in_per_s"] > 0;
  });
}

/// Two daemons, and an inventory with a third device that is not there.
class Watch : public EndToEnd {
 protected:
  Watch()
      : first_("first", folder()),
        second_("second", folder()),
        inventory_(inventory({{"first", first_.address()},
                              {"second", second_.address()},
                              {"third", "127.0.0.1:1"}})) {}

  /// Requests through both devices, one after the other, until it is signalled.
  std::unique_ptr<Process> load() const {
    const std::string two = path("two.yaml");
    std::ofstream(two) << "devices:\n  - {name: first, address: \"" << first_.address()
                       << "\"}\n  - {name: second, address: \"" << second_.address() << "\"}\n";
    std::vector<std::string> plan{"run",       "--split",     "after:features.3",
                                  "--devices", two,           "--transport",
                                  "tcp",       "--save-plan", path("plan.json")};
    for (const std::string& word : small_model()) plan.push_back(word);
    const auto planned = paretoctl(plan);
    EXPECT_EQ(planned.exit_code, 0) << planned.errors;
    write_requests();
    std::string line = std::string("exec ") + test::programs_folder() +
                       "/paretoctl deploy --plan " + path("plan.json") + " --devices " + two;
    for (const std::string& word : small_model()) line += " " + word;
    auto process = std::make_unique<Process>(
        std::vector<std::string>{"/bin/sh", "-c", line + " < " + path("names")});
    EXPECT_TRUE(process->wait_for_output(" ms\n")) << process->errors();
    return process;
  }

  Daemon first_;
  Daemon second_;
  std::string inventory_;

 private:
  /// One picture, named more often than a test takes.
  void write_requests() const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,3,64,64), }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::ofstream file(path("frame.npy"), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0'
         << header << std::string(std::size_t{3} * 64 * 64 * 4, '\0');
    std::ofstream names(path("names"));
    for (int i = 0; i < 200'000; ++i) names << path("frame.npy") << '\n';
  }
};

TEST_F(Watch, TopTellsWhatAPipelineDoesWhileItDoesIt) {
  const auto process = load();
  // On a busy machine it may be that nothing is done in an interval, or that a device answers late.
  const auto done =
      paretoctl({"top", "--devices", inventory_, "--json", "--count", "6", "--interval", "500ms"});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  const json schema = golden_schema("top");
  std::istringstream lines(done.output);
  int intervals = 0;
  json working;
  for (std::string text; std::getline(lines, text); ++intervals) {
    const json line = json::parse(text);
    EXPECT_THAT(violations(schema, line), IsEmpty()) << text;
    if (working.is_null() && shows_work(line)) working = line;
  }
  EXPECT_EQ(intervals, 6);
  ASSERT_FALSE(working.is_null()) << done.output;
  EXPECT_GT(working["devices"][0]["cpu"], 0);
  EXPECT_EQ(working["devices"][2]["well"], false);
  const json& pipeline = working["pipelines"][0];
  EXPECT_GT(pipeline["requests_per_s"], 0);
  EXPECT_NE(pipeline["bottleneck"]["limit"], "unknown");
  for (std::size_t i = 0; i < 2; ++i) {
    const json& stage = pipeline["stages"][i];
    EXPECT_EQ(stage["device"], i == 0 ? "first" : "second");
    EXPECT_EQ(stage["state"], "running");
  }
  EXPECT_EQ(pipeline["links"][1]["from"], "stage 0 on first");
  EXPECT_EQ(pipeline["links"][1]["to"], "stage 1 on second");
  EXPECT_GT(pipeline["links"][1]["round_trip_ms"], 0);
  const auto text = paretoctl({"top", first_.address(), second_.address(), "--once"});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr(" requests/s"), HasSubstr(" in flight"),
                                 HasSubstr("stage 0 on " + first_.address())));
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 0) << process->errors();
  const auto after = paretoctl({"top", "--devices", inventory_, "--once", "--interval", "100ms"});
  EXPECT_EQ(after.exit_code, 0) << after.errors;
  EXPECT_THAT(after.output,
              AllOf(HasSubstr("no pipeline runs on these devices"), HasSubstr("third  ")));
}

TEST_F(Watch, DoctorLooksAtEveryDeviceAndEveryWay) {
  const auto done =
      paretoctl({"doctor", "--devices", inventory_, "--store", path("results.db"), "--json"});
  EXPECT_EQ(done.exit_code, 3) << "the third is not there: " << done.errors;
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("doctor"), document), IsEmpty());
  EXPECT_EQ(document["well"], false);
  std::vector<std::string> ways;
  std::vector<std::string> of_third;
  for (const json& finding : document["findings"]) {
    const auto subject = finding["subject"].get<std::string>();
    const auto check = finding["check"].get<std::string>();
    if (subject.find(" to ") != std::string::npos) ways.push_back(subject + ", " + check);
    if (subject == "third")
      of_third.push_back(check + " " + finding["severity"].get<std::string>());
    const bool machine = check == "throttling" || check == "temperature";
    EXPECT_TRUE(subject == "third" || machine || finding["severity"] != "fail") << finding;
  }
  EXPECT_THAT(ways, testing::UnorderedElementsAre(
                        "this machine to first, tcp", "this machine to first, grpc",
                        "this machine to second, tcp", "this machine to second, grpc",
                        "first to second, tcp", "first to second, grpc", "second to first, tcp",
                        "second to first, grpc"));
  EXPECT_THAT(of_third, testing::ElementsAre("answers fail"));
}

TEST_F(Watch, CompanyIsNoticedByDevicesDoctorAndSweep) {
  const auto process = load();
  const auto devices = paretoctl({"devices", "--devices", path("two.yaml"), "--json"});
  EXPECT_EQ(devices.exit_code, 0) << devices.errors;
  for (const json& device : json::parse(devices.output)) {
    EXPECT_EQ(device["other_coordinators"], 1) << device;
    EXPECT_EQ(device["other_pipelines"], 1) << device;
  }
  const auto doctor =
      paretoctl({"doctor", "--devices", path("two.yaml"), "--store", path("results.db"), "--json"});
  int warned = 0;
  const json examined = json::parse(doctor.output);
  for (const json& finding : examined["findings"]) {
    if (finding["check"] != "company") continue;
    EXPECT_EQ(finding["severity"], "warn");
    EXPECT_THAT(finding["found"].get<std::string>(),
                HasSubstr("another coordinator runs a pipeline here"));
    ++warned;
  }
  EXPECT_EQ(warned, 2) << doctor.output << doctor.errors;
  std::vector<std::string> sweep{"sweep",    "--devices",        path("two.yaml"),
                                 "--splits", "percent:50",       "--rounds",
                                 "1",        "--requests",       "2",
                                 "--store",  path("results.db"), "--report",
                                 "none",     "--share",          "--json"};
  for (const std::string& word : small_model()) sweep.push_back(word);
  const auto swept = paretoctl(sweep);
  ASSERT_EQ(swept.exit_code, 0) << swept.errors;
  const json run = json::parse(swept.output);
  EXPECT_EQ(run["company"].size(), 2U) << run["company"];
  EXPECT_FALSE(run["machines"].empty());
  // Once nobody else is there, the stored run still says so.
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 0) << process->errors();
  const auto stored = paretoctl({"front", "last", "--store", path("results.db")});
  EXPECT_THAT(stored.output,
              HasSubstr("first: another coordinator ran a pipeline here, in 1 of 1"));
}

TEST_F(Watch, DoctorStartsDevicesOfItsOwn) {
  const auto done = paretoctl({"doctor", "--store", path("results.db")});
  EXPECT_THAT(done.output, AllOf(HasSubstr("paretod starts and answers"), HasSubstr("known to "),
                                 HasSubstr("governor"), HasSubstr(", warnings: ")));
}

TEST_F(Watch, TopEndsWithWhoeverReadsItsLines) {
  const std::string top = test::programs_folder() + "/paretoctl top --json --interval 1s";
  const auto left =
      run({"/bin/sh", "-c", "trap '' PIPE; " + top + " --devices " + inventory_ + " | head -n 1"});
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_EQ(std::count(left.output.begin(), left.output.end(), '\n'), 1);
  EXPECT_THAT(left.errors, HasSubstr("not all of the output could be written"));
}

}  // namespace
}  // namespace pareto::test
