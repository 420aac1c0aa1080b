// Arguments that are refused before anything starts, and the words for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "client/program.h"
#include "core/tensor/npy.h"
#include "tests/client/support/program.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Program, WrongWordsAreAnsweredWithTheNearest) {
  refused({"sweeep"}, kExitUsage, HasSubstr("did you mean sweep"));
  refused({"sweep", "--modle", "mobilenetv2"}, kExitUsage,
          HasSubstr("sweep does not know --modle (did you mean --model"));
  refused({"sweep", "--jsno=1", "--quick"}, kExitUsage, HasSubstr("--jsno (did you mean --json"));
  refused({"sweep", "--model", "mobilenetv2", "--max-latency", "0ms"}, kExitUsage,
          HasSubstr("--max-latency 0ms: more than 0 is needed"));
  for (const char* command : {"sweep", "plan"}) {
    refused({command, "--model", "mobilenetv2", "--max-latency", "50"}, kExitUsage,
            HasSubstr("--max-latency: \"50\" has no unit: write it as in \"50ms\""));
  }
  refused({"sweep", "--model", "mobilenetv2", "--max-latency", "soon"}, kExitUsage,
          HasSubstr("--max-latency"));
  refused({"sweep", "mobilenetv2"}, kExitUsage,
          AllOf(HasSubstr("mobilenetv2"), HasSubstr("(paretoctl sweep --help)")));
  refused({"run", "--model", "m.pt", "--input", "a.npy", "b.npy"}, kExitUsage,
          HasSubstr("b.npy (several values are one word, with commas: --input a.npy,b.npy)"));
  refused({"run", "--model", "m.pt", "--json", "b.npy"}, kExitUsage,
          Not(HasSubstr("several values")));
  refused({"--verson"}, kExitUsage,
          HasSubstr("paretoctl does not know --verson (did you mean "
                    "--version?) (paretoctl --help)"));
  refused({"splits"}, kExitUsage, HasSubstr("--model"));
  refused({"splits", "--model", "mobilnetv2"}, kExitUsage, HasSubstr("mobilenetv2"));
  refused(small("splits", {"--splits", "after:features.33"}), kExitUsage,
          HasSubstr("after:features.3"));
  refused(small("sweep", {"--transport", "tpc"}), kExitUsage, HasSubstr("there are tcp, grpc"));
  refused(small("sweep", {"--engine", "plane"}), kExitUsage, HasSubstr("did you mean plain"));
  for (const char* const command : {"sweep", "run", "plan", "profile", "verify"}) {
    refused(small(command, {"--schedule", "clustres"}), kExitUsage,
            HasSubstr("--schedule clustres: no schedule \"clustres\" (did you mean clusters?)"));
  }
  refused(small("sweep", {"--objectives", "latency,accuracy"}), kExitUsage,
          HasSubstr("name them with --dataset"));
  refused(small("schedule", {"--policy", "mixd"}), kExitUsage, HasSubstr("did you mean mixed"));
}

TEST_F(Program, ASweepIsRefusedANameThatIsNone) {
  refused(small("sweep", {"--name", "last"}), kExitUsage, HasSubstr("--name last"));
  const results::RunRecord first = stored_run({.batches = {1}, .split_points = 1});
  ASSERT_EQ(run({"runs", "tag", first.id, "kitchen"}).code, 0);
  refused(small("sweep", {"--name", "kitchen"}), kExitUsage, HasSubstr(first.id));
}

TEST_F(Program, NumbersOutOfRange) {
  for (const char* flag :
       {"--batch", "--micro-batch", "--window", "--requests", "--rounds", "--stages"}) {
    refused(small("sweep", {flag, "0"}), kExitUsage, HasSubstr(std::string(flag) + " 0"));
  }
  refused(small("sweep", {"--threads", "257"}), kExitUsage, HasSubstr("--threads 257"));
  refused(small("sweep", {"--batch", "1,two"}), kExitUsage, HasSubstr("two"));
  refused(small("run", {"--batch", "2", "--micro-batch", "3"}), kExitUsage,
          HasSubstr("not above the batch of 2"));
  refused(small("sweep", {"--precision", "fp7"}), kExitUsage, HasSubstr("fp7"));
  refused(small("sweep", {"--metrics", "7074"}), kExitUsage, HasSubstr("metrics: \"7074\""));
  refused(small("verify", {"--batch", "0"}), kExitUsage, HasSubstr("--batch 0"));
  refused(small("splits", {"--batch", "-1"}), kExitUsage, HasSubstr("-1"));
}

TEST_F(Program, CodecsOfATrainingWithoutLinks) {
  const auto training = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--data", "synthetic:10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return small("train", arguments);
  };
  refused(training({"--codec", "fp16"}), kExitUsage,
          HasSubstr("--codec fp16 does not go with a model that is not cut: nothing crosses"));
  refused(training({"--gradient-codec", "int8", "--split", "after:features.3", "--in-process"}),
          kExitUsage,
          HasSubstr("--gradient-codec int8 does not go with --in-process: nothing crosses"));
}

TEST_F(Program, CertificatesThatMetricsCannotBeServedWith) {
  refused(small("sweep", {"--metrics-certificate", "/c.pem"}), kExitUsage,
          AllOf(HasSubstr("--metrics-certificate"), HasSubstr("--metrics")));
  const auto serving = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--metrics", "127.0.0.1:0"});
    return small("sweep", more);
  };
  refused(serving({"--metrics-key", "/k.pem"}), kExitUsage, HasSubstr("/k.pem is named alone"));
  refused(serving({"--metrics-certificate", path("c.pem"), "--metrics-key", path("k.pem")}),
          kExitUsage, HasSubstr("metrics: certificate: " + path("c.pem")));
}

TEST_F(Program, NobodyIsAskedWhoCouldNotBeWrittenDown) {
  std::ofstream(path("inventory.yaml")) << "mine";
  refused({"discover", "--write", path("inventory.yaml"), "--timeout", "60s"}, kExitUsage,
          AllOf(HasSubstr("--write"), HasSubstr("is there already")));
  for (const char* timeout : {"0", "61s", "soon"}) {
    refused({"discover", "--timeout", timeout}, kExitUsage, HasSubstr("--timeout"));
  }
}

TEST_F(Program, FlagsThatAPlanSaysItself) {
  for (const char* flag :
       {"--split", "--transport", "--codec", "--micro-batch", "--window", "--batch", "--engine",
        "--precision", "--max-error", "--threads", "--schedule"}) {
    refused({"run", "--plan", path("plan.json"), flag, "2"}, kExitUsage,
            AllOf(HasSubstr(std::string(flag) + " does not go with --plan: a plan file says that"),
                  HasSubstr("leave --plan out")));
  }
  const auto key = [&](const char* flag, const char* words) {
    refused({"run", "--plan", path("plan.json"), flag, "2"}, kExitUsage, HasSubstr(words));
  };
  key("--transport", "as \"transport\" or \"transports\"");
  key("--micro-batch", "as \"micro_batch\"");
  key("--codec", "as \"codecs\"");
  refused({"run", "--plan", path("plan.json"), "--requests", "0"}, kExitUsage,
          HasSubstr("--requests 0"));
}

TEST_F(Program, FlagsThatWouldBeForgotten) {
  const auto excluded = [&](const std::vector<std::string>& arguments, const std::string& one,
                            const std::string& other) {
    refused(arguments, kExitUsage,
            AllOf(HasSubstr(one), HasSubstr(" does not go with "), HasSubstr(other)));
  };
  excluded(small("sweep", {"--exhaustive", "--budget", "30s"}), "--exhaustive", "--budget");
  for (const char* command : {"plan", "profile"}) {
    excluded(small(command, {"--local", "3", "--devices", path("inventory.yaml")}), "--local",
             "--devices");
    excluded(small(command, {"--local", "3", "--testbed", "two-pi4"}), "--local", "--testbed");
  }
  refused(small("verify", {"--engine", "plain", "--precision", "bf16"}), kExitUsage,
          AllOf(HasSubstr("--precision bf16"), HasSubstr("leave --engine out")));
}

TEST_F(Program, WrongValuesAreAnsweredInItsOwnWords) {
  refused(small("sweep", {"--rounds", "many"}), kExitUsage,
          StartsWith("paretoctl: --rounds many: a number is needed (paretoctl sweep --help)"));
  refused(small("sweep", {"--rounds", "1.5"}), kExitUsage,
          HasSubstr("--rounds 1.5: a whole number is needed"));
  refused({"report", "--svg"}, kExitUsage, HasSubstr("--svg needs a value: --svg FILE "));
  refused({"front", "--store"}, kExitUsage, HasSubstr("--store needs a value: --store FILE "));
  refused(
      small("run", {"--split", "none", "--transport", "shm,tcp"}), kExitUsage,
      AllOf(HasSubstr("--transport shm,tcp: one is taken here"), HasSubstr("--transport shm+tcp")));
}

TEST_F(Program, FoldersThatAreNotThereAreNotMade) {
  for (const char* command : {"sweep", "plan", "profile"}) {
    refused(small(command, {"--store", path("absent/folder/r.db")}), kExitUsage,
            AllOf(HasSubstr("--store"), HasSubstr(path("absent/folder"))));
  }
  EXPECT_FALSE(std::filesystem::exists(path("absent")));
}

TEST_F(Program, TestBedsThatAreNotUpAreNamedWithWhatToDo) {
  const auto hint = HasSubstr("(paretoctl testbed up nosuch.yaml), or name its file");
  refused(small("sweep", {"--testbed", "nosuch"}), kExitUsage, hint);
  refused({"doctor", "--testbed", "nosuch"}, kExitUsage, hint);
  refused({"testbed", "down", "nosuch"}, kExitUsage,
          HasSubstr("test bed nosuch was not up: paretoctl testbed status lists"));
}

TEST_F(Program, OnlySomeCommandsTakeSeveralSettings) {
  const auto several = [&](const std::string& command, const std::string& flag,
                           const std::string& list) {
    refused(small(command, {flag, list}), kExitUsage,
            AllOf(HasSubstr(flag), HasSubstr(list + ": one value is taken here")));
  };
  for (const char* command : {"plan", "run"}) several(command, "--batch", "1,8");
  several("splits", "--batch", "1,8");
  for (const char* command : {"plan", "run", "sweep", "verify"}) {
    several(command, "--precision", "fp32,bf16");
  }
  for (const char* command : {"run", "verify"}) {
    several(command, "--threads", "1,2");
    several(command, "--schedule", "sequential,mixed");
  }
  // These get as far as to the daemons that are not there.
  for (const char* command : {"plan", "sweep"}) {
    refused(small(command, {"--threads", "1,2", "--schedule", "sequential,clusters"}),
            kExitEnvironment, HasSubstr("no-paretod"));
    refused(small(command, {"--threads", "1,257"}), kExitUsage, HasSubstr("--threads 257"));
  }
  refused(small("profile", {"--batch", "1,8", "--threads", "0,2", "--precision", "fp32,bf16",
                            "--codec", "none,int8", "--per-operator"}),
          kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("profile", {"--batch", "1,0"}), kExitUsage, HasSubstr("--batch 0"));
  refused(small("profile", {"--codec", "zip"}), kExitUsage, HasSubstr("--codec zip"));
}

TEST_F(Program, SchedulesThatAreNone) {
  const std::string file = path("mine.yaml");
  const auto refuses = [&](const std::string& sentence) {
    refused(small("schedule", {"--program", file}), kExitUsage,
            AllOf(HasSubstr("--program " + file), HasSubstr(sentence)));
    refused(small("run", {"--split", "none", "--schedule", file}), kExitUsage,
            AllOf(HasSubstr("--schedule " + file), HasSubstr(sentence)));
  };
  refuses("mine.yaml");
  ASSERT_TRUE(write_file_atomically(file, "unts: []\n"));
  refuses("units");
  ASSERT_TRUE(write_file_atomically(file, std::string(300'000, ' ')));
  refuses("more than the 256 KiB of a program");
  ASSERT_TRUE(write_file_atomically(file, "split: {parts: 2}\n"));
  refused(small("schedule", {"--program", file, "--policy", "mixed"}), kExitUsage,
          HasSubstr("--policy"));
  refused(small("schedule", {"--workers", "0"}), kExitUsage, HasSubstr("--workers 0"));
  refused(small("schedule", {"--workers", "257"}), kExitUsage, HasSubstr("--workers 257"));
  refused(small("schedule", {"--repeats", "0"}), kExitUsage, HasSubstr("--repeats 0"));
  refused(small("schedule", {"--html", path("none/page.html")}), kExitUsage, HasSubstr("--html"));
}

TEST_F(Program, OnePlanIsSavedOfOneNetwork) {
  refused(small("plan", {"--save", path("plan.json"), "--network", "none,absent.yaml"}), kExitUsage,
          HasSubstr("--save takes one plan: name one --network, not 2"));
  refused(small("plan", {"--scenario", path("fleet.yaml"), "--network", "none,absent.yaml"}),
          kExitUsage, HasSubstr("--scenario takes one plan: name one --network, not 2"));
}

TEST_F(Program, InputsThatDoNotFit) {
  refused({"splits", "--model", "squeezenet1_0", "--input-shape", "3xfourx4"}, kExitUsage,
          HasSubstr("3xfourx4"));
  refused({"splits", "--model", "squeezenet1_0", "--input-shape", "5x64x64"}, kExitUsage,
          HasSubstr("5"));
  refused({"splits", "--model", path("absent.pt"), "--input-shape", "3x8x8"}, kExitUsage,
          HasSubstr("absent.pt"));
  std::ofstream(path("text.pt")) << "hello";
  refused({"splits", "--model", path("text.pt"), "--input-shape", "3x8x8"}, kExitUsage,
          HasSubstr("text.pt"));
  const auto tensor = Tensor::allocate(DType::kFloat64, {1, 3, 64, 64}).value();
  ASSERT_TRUE(write_npy(path("double.npy"), tensor));
  refused(small("run", {"--input", path("double.npy")}), kExitUsage,
          AllOf(HasSubstr("double.npy"), HasSubstr("float64"), HasSubstr("float32")));
  refused(small("run", {"--input", path("text.pt")}), kExitUsage, HasSubstr("no .npy file"));
}

}  // namespace
}  // namespace pareto::client::commands
