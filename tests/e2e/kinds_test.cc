// Models of the kinds that people write, run by real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Kinds : public EndToEnd {
 protected:
  Kinds() {
    const auto made =
        run({"/usr/bin/python3",
             std::string(PARETO_SOURCE_DIR) + "/tests/partitioner/model/emit/make_kinds.py",
             folder().string()});
    EXPECT_EQ(made.exit_code, 0) << "python3-torch is needed: " << made.errors;
    std::vector<std::pair<std::string, std::string>> devices;
    for (const char* name : {"first", "second"}) {
      daemons_.push_back(std::make_unique<Daemon>(name, folder()));
      devices.emplace_back(name, daemons_.back()->address());
    }
    inventory_ = inventory(devices);
  }

  std::vector<std::string> command(const std::string& name, const std::string& model,
                                   const std::string& shape,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{name,  "--model",   path(model + ".pt"), "--input-shape",
                                       shape, "--devices", inventory_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::string inventory_;
};

TEST_F(Kinds, GiveTheOutputsOfTheWholeModelWhereverTheyRun) {
  for (const auto& [model, shape] :
       {std::pair("numbers", "2x6x6:uint8"), std::pair("segmenter", "6"), std::pair("forks", "4"),
        std::pair("objects", "4"), std::pair("quantised", "3x8"), std::pair("gpu", "4")}) {
    const auto done = paretoctl(command("run", model, shape,
                                        {"--split", "percent:50", "--transport", "tcp",
                                         "--requests", "3", "--window", "1", "--json"}));
    ASSERT_EQ(done.exit_code, 0) << model << done.errors;
    const json error = json::parse(done.output)["trial"].value("output_error", json());
    EXPECT_LT(error.value("max", 1.0), 1e-4) << model << done.output;
  }
}

TEST_F(Kinds, StagesOfQuantisedModelsHaveTheirWeights) {
  const auto done = paretoctl(
      command("run", "quantised", "3x8",
              {"--split", "percent:50", "--transport", "tcp", "--requests", "3", "--window", "1"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("B of weights"), Not(HasSubstr(" 0 B of weights"))));
}

TEST_F(Kinds, DataThatTheModelRefusesAreNamed) {
  write_npy(path("bad.npy"), {1, 4}, -500);
  const auto done = paretoctl({"splits", "--model", path("checks.pt"), "--input", path("bad.npy")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, AllOf(HasSubstr("batch 1 on float32[1x4]"), HasSubstr("sensor fault"),
                                 HasSubstr("on the data of --input")));
}

TEST_F(Kinds, ACheckFailsItsRequestAloneWithTheModelsWords) {
  write_npy(path("good.npy"), {1, 4}, 0);
  write_npy(path("bad.npy"), {1, 4}, -500);
  const auto planned = paretoctl(
      command("run", "checks", "4",
              {"--split", "percent:50", "--input", path("good.npy"), "--output",
               path("expected.npy"), "--save-plan", path("plan.json"), "--transport", "tcp"}));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const auto done =
      paretoctl({"deploy", "--plan", path("plan.json"), "--devices", inventory_, "--json",
                 path("good.npy"), path("bad.npy"), path("good.npy"), "--output", path("results")});
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  std::istringstream lines(done.output);
  std::vector<json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 3U) << done.output << done.errors;
  EXPECT_TRUE(answers[0].contains("latency_ms")) << answers[0];
  EXPECT_THAT(answers[1].value("error", ""), HasSubstr("sensor fault")) << answers[1];
  EXPECT_TRUE(answers[2].contains("latency_ms")) << answers[2];
}

TEST_F(Kinds, ARequestThatRunsForEverFailsAloneAndOnce) {
  write_npy(path("good.npy"), {1, 4}, 0);
  write_npy(path("bad.npy"), {1, 4}, 5000);
  const auto planned = paretoctl(command("run", "endless", "4",
                                         {"--split", "op:2", "--requests", "1", "--save-plan",
                                          path("plan.json"), "--transport", "tcp"}));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const auto done =
      paretoctl({"deploy", "--plan", path("plan.json"), "--devices", inventory_, "--timeout", "1s",
                 "--json", path("good.npy"), path("bad.npy"), path("good.npy")});
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  std::istringstream lines(done.output);
  std::vector<json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 3U) << done.output << done.errors;
  EXPECT_TRUE(answers[0].contains("latency_ms")) << answers[0];
  EXPECT_THAT(answers[1].value("error", ""),
              AllOf(HasSubstr("no result in 1 s"),
                    HasSubstr("stage 1 on second has taken it and not sent it on")))
      << answers[1];
  EXPECT_TRUE(answers[2].contains("latency_ms")) << answers[2];
  const std::string lost = "the pipeline is lost";
  EXPECT_EQ(done.errors.find(lost), done.errors.rfind(lost)) << done.errors;
}

TEST_F(Kinds, NoticesAndErrorsSayWhatToDo) {
  const auto random = paretoctl({"verify", "--model", path("random.pt"), "--input-shape", "4"});
  EXPECT_EQ(random.exit_code, 0) << random.output << random.errors;
  EXPECT_THAT(random.errors, AllOf(HasSubstr("draws random numbers"), HasSubstr("randn_like"),
                                   HasSubstr("F.dropout")));
  const auto past = paretoctl({"splits", "--model", path("past.pt"), "--input-shape", "4"});
  EXPECT_THAT(past.errors, HasSubstr("writes into past as it runs"));
  const auto loop = paretoctl({"verify", "--model", path("only_loop.pt"), "--input-shape", "4"});
  EXPECT_EQ(loop.exit_code, 2);
  EXPECT_THAT(loop.errors, HasSubstr("the whole model is one loop"));
  const auto frontiers =
      paretoctl({"splits", "--model", path("only_loop.pt"), "--input-shape", "4", "--frontiers"});
  EXPECT_EQ(frontiers.exit_code, 2);
  EXPECT_THAT(frontiers.errors, AllOf(HasSubstr("only_loop cannot be cut"), HasSubstr("one loop")));
}

}  // namespace
}  // namespace pareto::test
