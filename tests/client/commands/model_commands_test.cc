// Commands about a model alone: models, splits, verify.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "client/program.h"
#include "core/base/cores.h"
#include "tests/client/support/program.h"
#include "tests/coordinator/support/small_model.h"
#include "tests/support/json_schema.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Program, ModelsListsThemForPeopleAndPrograms) {
  const Done table = run({"models"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("mobilenetv2"), HasSubstr("3x224x224")));
  const json list = json::parse(run({"models", "--json"}).out);
  EXPECT_EQ(list.size(), 16U);
  EXPECT_EQ(list.back()["model"], "yolov8n");
  EXPECT_EQ(list.back()["input"], "3x640x640");
  EXPECT_EQ(list.back()["classes"], 80);
}

TEST_F(Program, SplitsMeasuresBothSidesWhereAsked) {
  const json timed = json::parse(run(small("splits", {"--time", "--json"})).out);
  const json& first = timed["splits"].front();
  const double whole = first["ms_before"].get<double>() + first["ms_after"].get<double>();
  EXPECT_GT(whole, 0);
  double last = 0;
  for (const json& point : timed["splits"]) {
    EXPECT_GT(point["ms_before"].get<double>(), last);
    last = point["ms_before"];
    EXPECT_NEAR(last + point["ms_after"].get<double>(), whole, 1e-9 * whole);
  }
  EXPECT_THAT(run(small("splits", {"--time"})).out, HasSubstr("ms before"));
  EXPECT_THAT(run(small("splits")).out, Not(HasSubstr("ms before")));
}

TEST_F(Program, SplitsRefusesFlagsThatItWouldNotFollow) {
  for (const char* const flag : {"--splits", "--frontier"}) {
    refused(small("splits", {"--all", flag, "op:3"}), kExitUsage,
            AllOf(HasSubstr("--all"), HasSubstr(std::string("does not go with ") + flag)));
    refused(small("splits", {"--frontiers", "2", flag, "op:3"}), kExitUsage,
            AllOf(HasSubstr("--frontiers"), HasSubstr(flag)));
  }
  refused(small("splits", {"--all", "--trainable"}), kExitUsage, HasSubstr("--trainable"));
}

TEST_F(Program, SplitsShowsEveryPointAndItsCosts) {
  const json all = json::parse(run(small("splits", {"--json", "--all", "--batch", "2"})).out);
  EXPECT_EQ(all["splits"].size(), all["positions"].get<std::size_t>());
  EXPECT_EQ(all["operators"].get<std::size_t>(), all["splits"].size() + 1);
  std::size_t legal = 0;
  double last_flops = 0;
  for (const json& point : all["splits"]) {
    legal += point["legal"].get<bool>() ? 1 : 0;
    EXPECT_EQ(point["legal"].get<bool>(), point["reason"].get<std::string>().empty()) << point;
    EXPECT_GE(point["flops_before"].get<double>(), last_flops);
    last_flops = point["flops_before"];
    EXPECT_LE(
        point["weight_bytes_before"].get<double>() + point["weight_bytes_after"].get<double>(),
        1.01 * all["weight_bytes"].get<double>());
    EXPECT_FALSE(point["boundary"].empty());
  }
  const Done table = run(small("splits"));
  EXPECT_EQ(table.code, kExitDone) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("after:features.3 "), HasSubstr("float32[Bx"),
                               HasSubstr(std::to_string(legal) + " of them allowed")));
  const json one =
      json::parse(run(small("splits", {"--splits", "after:features.3", "--json"})).out);
  ASSERT_EQ(one["splits"].size(), 1U);
  EXPECT_EQ(one["splits"][0]["name"], "after:features.3");
}

TEST_F(Program, SplitsListsFrontiersByTheirBytes) {
  const json all = json::parse(run(small("splits", {"--frontiers", "all", "--json"})).out);
  const auto count = all["frontiers"].get<std::size_t>();
  EXPECT_EQ(all["splits"].size(), count);
  double last = 0;
  std::set<std::string> names;
  for (const json& cut : all["splits"]) {
    EXPECT_GE(cut["boundary_bytes"].get<double>(), last);
    last = cut["boundary_bytes"];
    names.insert(cut["name"].get<std::string>());
    EXPECT_GT(cut["before"]["parameters"].get<std::int64_t>(), 0);
    EXPECT_EQ(cut["after"]["trainable_parameters"], cut["after"]["parameters"]) << "none is frozen";
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_TRUE(names.contains("only:features.3.expand3x3_activation"));
  const Done table = run(small("splits", {"--frontiers", "5", "--time"}));
  ASSERT_EQ(table.code, kExitDone) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("trainable after"), HasSubstr("ms before"),
                               HasSubstr(std::to_string(count) + " frontiers to cut at (5 that")));
  const json usual = json::parse(run(small("splits", {"--frontiers", "--json"})).out);
  EXPECT_EQ(usual["splits"].size(), 20U);
  const json one = json::parse(
      run(small("splits",
                {"--splits", "after:features.3.expand1x1+features.3.expand3x3", "--json"}))
          .out);
  ASSERT_EQ(one["splits"].size(), 1U);
  EXPECT_EQ(one["splits"][0]["operators"], json::parse("[[0,6],[7,8]]"));
  refused(small("splits", {"--frontiers", "few"}), kExitUsage, HasSubstr("--frontiers few"));
  refused(small("splits", {"--frontiers", "--splits", "all"}), kExitUsage, HasSubstr("--splits"));
}

TEST_F(Program, SplitsShowsWhatSidesTakeOnProfiledDevices) {
  const model::Model model = test::small_model();
  plan::DeviceProfile profile;
  profile.device = "pi-1";
  profile.model = model.name();
  profile.model_digest = model.digest().hex();
  profile.batch = 2;
  profile.measured = "2026-01-31T10:15:02Z";
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  profile.operators.assign(static_cast<std::size_t>(operators), std::chrono::milliseconds(1));
  const auto shard = [&](std::int64_t begin, std::int64_t end) {
    const Nanoseconds time = (end - begin) * std::chrono::milliseconds(1);
    profile.shards.push_back({begin, end, time, time, 0, 0});
  };
  shard(0, 20);
  shard(0, operators);
  shard(20, operators);
  const auto store = results::ResultStore::open(path("results.db")).value();
  ASSERT_TRUE(store->put_profile("new", profile));
  profile.measured = "2025-01-31T10:15:02Z";
  profile.operators.assign(static_cast<std::size_t>(operators), std::chrono::milliseconds(5));
  ASSERT_TRUE(store->put_profile("old", profile));
  profile.device = "other";
  profile.model_digest = std::string(64, 'a');
  ASSERT_TRUE(store->put_profile("other", profile));
  const json shown = json::parse(
      run(small("splits", {"--batch", "2", "--profiled", "--json", "--frontiers", "all"})).out);
  for (const json& cut : shown["splits"]) {
    ASSERT_EQ(cut["profiled"].size(), 1U);
    const json& sides = cut["profiled"][0];
    EXPECT_EQ(sides["device"], "pi-1");
    const auto before = cut["position"].get<double>();
    EXPECT_NEAR(sides["ms_before"].get<double>(), before, 1e-3) << cut["name"];
    EXPECT_NEAR(sides["ms_after"].get<double>(), static_cast<double>(operators) - before, 1e-3);
  }
  const Done table = run(small("splits", {"--batch", "2", "--profiled", "--splits", "op:20"}));
  EXPECT_THAT(table.out, AllOf(HasSubstr("pi-1 ms before"), HasSubstr("20.00")));
  refused(small("splits", {"--profiled"}), kExitUsage,
          AllOf(HasSubstr("at batch 1"), HasSubstr("paretoctl profile")));
}

TEST_F(Program, PlanSaysThatItCutsAtFrontiersByItself) {
  refused(small("plan", {"--splits", "after:features.3.expand1x1+features.4"}), kExitUsage,
          HasSubstr("--cuts ideals"));
}

TEST_F(Program, CutsWithoutAnythingToTrainBehindThemAreLeftOut) {
  const json all = json::parse(run(small("splits", {"--json"})).out);
  const json trainable = json::parse(run(small("splits", {"--trainable", "--json"})).out);
  EXPECT_LT(trainable["splits"].size(), all["splits"].size());
  for (const json& cut : trainable["splits"]) {
    EXPECT_GT(cut["after"]["trainable_parameters"].get<std::int64_t>(), 0) << cut["name"];
  }
  const std::string last = all["splits"].back()["name"];
  refused(small("splits", {"--trainable", "--splits", last}), kExitUsage,
          HasSubstr("no parameter behind it is trainable"));
}

TEST_F(Program, VerifyComparesFrontiersTogether) {
  const Done done =
      run(small("verify", {"--splits", "frontiers", "--batch", "2", "--engine", "plain"}));
  EXPECT_EQ(done.code, kExitDone) << done.out << done.err;
  const json all = json::parse(run(small("splits", {"--frontiers", "all", "--json"})).out);
  const std::string count = all["frontiers"].dump();
  EXPECT_THAT(done.out,
              HasSubstr(count + " of " + count + " cuts equal the whole model bit for bit"));
  ASSERT_TRUE(write_file_atomically(path("cut.yaml"), "ranges: [0-5, 8]\n"));
  refused(small("verify", {"--frontier", path("cut.yaml")}), kExitUsage,
          AllOf(HasSubstr(path("cut.yaml")), HasSubstr("which it needs: value")));
}

TEST_F(Program, TrainRefusesASetThatLearnsOtherBits) {
  const Done done = run({"train", "--model", "googlenet", "--input-shape", "3x32x32",
                         "--num-classes", "10", "--data", "synthetic:10", "--batch", "2",
                         "--epochs", "1", "--in-process", "--split", "only:inception3a.branch2"});
  EXPECT_EQ(done.code, kExitUsage) << done.out;
  EXPECT_THAT(done.err, HasSubstr("no cut to train at \"only:inception3a.branch2\": at batch 2 its "
                                  "two halves do not learn what the whole model does: the gradient "
                                  "of "));
}

TEST_F(Program, VerifyComparesTrainingToo) {
  const Done done = run(small(
      "verify", {"--splits", "frontiers", "--trainable", "--batch", "1,4", "--engine", "plain"}));
  EXPECT_EQ(done.code, kExitDone) << done.out << done.err;
  const json all =
      json::parse(run(small("splits", {"--frontiers", "all", "--trainable", "--json"})).out);
  const std::string count = std::to_string(all["splits"].size());
  EXPECT_THAT(done.out, HasSubstr("batch 4: a step of training at " + count + " of " + count +
                                  " cuts has the whole model's loss, gradients and parameters"));
  const json shown = json::parse(
      run(small("verify", {"--splits", "modules", "--trainable", "--batch", "4", "--json"})).out);
  ASSERT_GT(shown["trained"].size(), 0U);
  for (const json& row : shown["trained"]) {
    EXPECT_EQ(row["bit_equal"], true) << row;
    EXPECT_EQ(row["batch"], 4);
    EXPECT_EQ(row["difference"], "");
  }
}

TEST_F(Program, VerifyComparesAndSaysHowMany) {
  const Done done = run(small("verify", {"--splits", "modules", "--batch", "1,2"}));
  EXPECT_EQ(done.code, kExitDone) << done.out << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("batch 1"), HasSubstr("batch 2"), HasSubstr("bit for bit"),
                              HasSubstr("engine auto")));
}

TEST_F(Program, ScheduleShowsWhoRunsWhatAndWhatItGains) {
  const std::vector<std::string> pictures{"html", "svg", "dot", "trace"};
  std::vector<std::string> flags{"--policy", "clusters", "--workers", "2",     "--repeats",
                                 "2",        "--engine", "prepacked", "--json"};
  for (const std::string& picture : pictures) {
    flags.push_back("--" + picture);
    flags.push_back(path(picture));
  }
  const Done done = run(small("schedule", flags));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("schedule"), document), testing::IsEmpty());
  EXPECT_EQ(document["schedule"], "clusters");
  EXPECT_EQ(document["calls"]["nodes"], 66) << "as published of squeezenet";
  EXPECT_EQ(document["calls"]["clusters"], 9);
  EXPECT_EQ(document["calls"]["merged_clusters"], 2);
  EXPECT_EQ(document["workers"].size(), 2U);
  EXPECT_GT(document["measured_ms"], 0);
  EXPECT_GT(document["peak_bytes"], 0);
  std::set<std::size_t> units;
  for (const json& turn : document["turns"]) units.insert(turn["unit"].get<std::size_t>());
  EXPECT_EQ(units.size(), document["units"].size()) << "each had a turn";
  for (const std::string& picture : pictures) {
    EXPECT_THAT(done.err, HasSubstr(picture + ": " + path(picture)));
    EXPECT_TRUE(read_file(path(picture)).has_value()) << picture;
  }
  EXPECT_EQ(read_file(path("dot")).value().substr(0, 8), "digraph ");
}

TEST_F(Program, ScheduleRunsAProgramOfAUsers) {
  const std::string file = path("mine.yaml");
  ASSERT_TRUE(write_file_atomically(file,
                                    "units:\n"
                                    "  - {modules: [\"features.*\"], tags: [compute]}\n"));
  const Done done =
      run(small("schedule", {"--program", file, "--workers", "2", "--repeats", "2", "--show"}));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("by schedule program"), HasSubstr("compute"),
                              HasSubstr("features.3"), HasSubstr("times as fast")));
  ASSERT_TRUE(write_file_atomically(file, "units:\n  - {modules: [\"branches.*\"]}\n"));
  refused(small("schedule", {"--program", file, "--workers", "2", "--repeats", "1"}), kExitUsage,
          AllOf(HasSubstr("--program " + file), HasSubstr("marks nothing")));
  ASSERT_TRUE(write_file_atomically(file, "most_memory: 1\n"));
  refused(small("schedule", {"--program", file, "--workers", "2", "--repeats", "1"}), kExitUsage,
          AllOf(HasSubstr("--program " + file), HasSubstr("most_memory allows 1 B")));
}

TEST_F(Program, ScheduleSaysIfWorkersHaveNoCoresOfTheirOwn) {
  for (const char* workers : {"0", "65", "1000"}) {
    refused(
        small("schedule", {"--workers", workers}), kExitUsage,
        AllOf(HasSubstr(std::string("--workers ") + workers), HasSubstr("1 to 64 are possible")));
  }
  std::string program = "workers:\n";
  for (int i = 0; i < 64; ++i) program += fmt::format("  - {{name: w{}}}\n", i);
  const std::string file = path("many.yaml");
  ASSERT_TRUE(write_file_atomically(file, program));
  const Done done = run(small("schedule", {"--program", file, "--workers", "1", "--repeats", "1"}));
  EXPECT_EQ(done.code, kExitDone) << done.err;
  const bool are_told = done.err.find("64 workers share ") != std::string::npos;
  EXPECT_EQ(are_told, usable_cores().size() < 64) << done.err;
}

}  // namespace
}  // namespace pareto::client::commands
