// The modes of a model in this process: interpreted, and measured plain and optimised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "client/program.h"
#include "core/base/file.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Program, RunInterpretsACutModelWithoutDevices) {
  const std::vector<std::string> arguments =
      small("run", {"--mode", "interpret", "--split", "after:features.3,after:features.6"});
  const Done text = run(arguments);
  EXPECT_EQ(text.code, kExitDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("cut at after:features.3+after:features.6"),
                              HasSubstr("stage       2:"), HasSubstr("compared are equal"),
                              HasSubstr("those of the model as it was loaded, bit for bit")));
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const json document = json::parse(run(as_json).out);
  EXPECT_THAT(test::violations(test::golden_schema("interpret"), document), IsEmpty());
  EXPECT_EQ(document["differing"], 0);
  EXPECT_TRUE(document["first_difference"].is_null());
  EXPECT_EQ(document["operators"].back()["stage"], 2);
}

TEST_F(Program, ModesRefuseWhatTheyLeaveNothingToDo) {
  refused(small("run", {"--mode", "lazy"}), kExitUsage, HasSubstr("--mode lazy: no such mode"));
  refused(small("run", {"--mode", "eagre"}), kExitUsage, HasSubstr("did you mean eager"));
  refused(small("run", {"--mode", "eager", "--engine", "onednn"}), kExitUsage,
          HasSubstr("leave --engine out"));
  refused(small("run", {"--mode", "interpret", "--precision", "bf16"}), kExitUsage,
          HasSubstr("leave --precision bf16 out"));
  refused(small("run", {"--mode", "interpret", "--schedule", "clusters"}), kExitUsage,
          HasSubstr("leave --schedule clusters out"));
  for (const char* const flag :
       {"--output", "--trace", "--save-plan", "--codec", "--transport", "--requests", "--devices",
        "--window", "--batch-range", "--timeout", "--store"}) {
    refused(small("run", {"--mode", "interpret", flag, "7"}), kExitUsage,
            HasSubstr(std::string(flag) + ": --mode interpret compares values in this process"));
  }
}

TEST_F(Program, BenchModesMeasuresBothModesOfEachPart) {
  const std::vector<std::string> arguments =
      small("bench-modes", {"--engine", "onednn", "--duration", "1ms"});
  const Done text = run(arguments);
  EXPECT_EQ(text.code, kExitDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("squeezenet1_0 cut at after:"), HasSubstr("over direct"),
                              HasSubstr("prefix + suffix"), HasSubstr("8 requests of each")));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--json", "--split", "after:features.6"});
  const json document = json::parse(run(as_json).out);
  EXPECT_THAT(test::violations(test::golden_schema("modes"), document), IsEmpty());
  EXPECT_EQ(document["split"], "after:features.6");
  EXPECT_GE(document["rows"].size(), 8U);
  const auto folder = TemporaryFolder::create("pareto-modes").value();
  const std::string frontier = (folder.path() / "cut.yaml").string();
  std::ofstream(frontier) << "modules: [features.3.squeeze]\n";
  as_json = arguments;
  as_json.insert(as_json.end(), {"--json", "--frontier", frontier, "--no-training"});
  EXPECT_EQ(json::parse(run(as_json).out)["split"], "after:features.3.squeeze")
      << "in place of the usual cut";
  refused(small("bench-modes", {"--split", "none"}), kExitUsage, HasSubstr("one cut is needed"));
  refused(small("bench-modes", {"--split", "after:features.3,after:features.6"}), kExitUsage,
          HasSubstr("one cut is needed, not 2"));
  refused(small("bench-modes", {"--duration", "2h"}), kExitUsage, HasSubstr("--duration 2h"));
}

TEST_F(Program, SplitsShowsWhatFollowsTheSizesOfPictures) {
  const Done text =
      run({"splits", "--model", "squeezenet1_0", "--num-classes", "10", "--input-shape",
           "3x64..96/16x64..96/16", "--splits", "after:features.3,after:features.12"});
  EXPECT_EQ(text.code, kExitDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("float32[Bx128x(H-8)/4x(W-8)/4]"),
                              HasSubstr("H: 64 to 96, every 16")));
  refused({"splits", "--model", "squeezenet1_0", "--input-shape", "3x96..64x64"}, kExitUsage,
          HasSubstr("\"96..64\" is no range of sizes"));
  const Done verified =
      run({"verify", "--model", "squeezenet1_0", "--num-classes", "10", "--input-shape",
           "3x64..96/16x64..96/16", "--splits", "after:features.3,after:features.6", "--batch", "2",
           "--engine", "plain"});
  EXPECT_EQ(verified.code, kExitDone) << verified.err;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("batch 2, H = 64, W = 64: 2 of 2 cuts equal"),
                                  HasSubstr("batch 2, H = 96, W = 96: 2 of 2 cuts equal")));
}

}  // namespace
}  // namespace pareto::client::commands
