// The program behind main, inside the test: everything that needs no daemon. tests/e2e runs it as a
// process, with daemons.
#include "client/program.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "client/commands/npy.h"
#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"

namespace pareto::client {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(Program, EveryCommandHasHelpWithExamples) {
  const Done help = run({"--help"});
  EXPECT_EQ(help.code, kExitDone);
  EXPECT_THAT(help.out, HasSubstr("Exit codes"));
  for (const auto& command : builtin_commands()) {
    EXPECT_THAT(help.out, HasSubstr(std::string(command->name())));
    const Done own = run({std::string(command->name()), "--help"});
    EXPECT_EQ(own.code, kExitDone);
    EXPECT_THAT(own.out, AllOf(HasSubstr(std::string(command->summary())),
                               HasSubstr("paretoctl " + std::string(command->name()))));
    EXPECT_THAT(own.err, IsEmpty());
    for (const char* checker : {":NONNEGATIVE", ":POSITIVE", ":INT in"}) {
      EXPECT_THAT(own.out, Not(HasSubstr(checker))) << command->name();
    }
  }
}

TEST_F(Program, HelpIsAWordToo) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "sweep"}).out, run({"sweep", "--help"}).out);
  EXPECT_EQ(run({"help", "sweep"}).code, kExitDone);
  refused({"help", "sweeep"}, kExitUsage, HasSubstr("did you mean sweep"));
}

TEST_F(Program, EveryCommandStandsInTheReadme) {
  const std::string readme =
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "README.md").value();
  const std::string table = readme.substr(readme.find("## Commands"));
  for (const auto& command : builtin_commands()) {
    const std::string name(command->name());
    EXPECT_TRUE(table.find("`" + name + "`") != std::string::npos ||
                table.find("`paretoctl " + name + "`") != std::string::npos)
        << name;
  }
}

TEST_F(Program, TheManualAndTheCompletionsHaveEveryCommand) {
  const Done manual = run({"--manual"});
  const Done completion = run({"--completion", "bash"});
  EXPECT_EQ(manual.code, kExitDone);
  EXPECT_EQ(completion.code, kExitDone);
  EXPECT_THAT(manual.out, StartsWith(".\\\" Made by paretoctl --manual.\n.TH PARETOCTL 1 "));
  for (const auto& command : builtin_commands()) {
    const std::string name(command->name());
    EXPECT_THAT(manual.out, HasSubstr(".SS " + name + "\n"));
    EXPECT_THAT(completion.out, HasSubstr("    '" + name + "') flags='-h --help "));
  }
  refused({"--completion", "fish"}, kExitUsage, HasSubstr("fish"));
}

TEST_F(Program, EveryCommandHasItsPageInTheReference) {
  const auto folder = std::filesystem::path(PARETO_SOURCE_DIR) / "docs/reference";
  std::vector<std::string> pages{"paretoctl.md", "paretod.md"};
  std::vector<std::string> names{"paretoctl"};
  for (const auto& command : builtin_commands()) {
    names.emplace_back(command->name());
    pages.push_back(names.back() + ".md");
  }
  for (const std::string& name : names) {
    EXPECT_EQ(run({"--reference", name}).out, read_file(folder / (name + ".md")).value_or("none"))
        << "./dev reference writes docs/reference anew";
  }
  std::vector<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    there.push_back(entry.path().filename());
  }
  EXPECT_THAT(there, testing::UnorderedElementsAreArray(pages));
  refused({"--reference", "swep"}, kExitUsage, HasSubstr("no command swep"));
}

TEST_F(Program, AnExceptionIsAnErrorToo) {
  class NoSignals final : public StopSignal {
   public:
    const std::atomic<bool>& watch() override { throw std::runtime_error("no signals here"); }
  };
  NoSignals stop;
  const Done done = run({"simulate", "s.yaml"}, stop);
  EXPECT_EQ(done.code, kExitFailed);
  EXPECT_THAT(done.err, StartsWith("paretoctl: simulate: unexpected: no signals here"));
}

TEST_F(Program, OutputThatIsLostIsAnError) {
  for (const char* word : {"models", "help", "--version"}) {
    std::ofstream out("/dev/full");
    std::ostringstream err;
    NeverStopped stop;
    EXPECT_EQ(run({word}, stop, out, err), kExitFailed) << word;
    EXPECT_EQ(err.str(), "paretoctl: not all of the output could be written to stdout\n");
  }
}

TEST_F(Program, VersionAndNothing) {
  EXPECT_EQ(run({"--version"}).out, std::string(PARETO_VERSION) + "\n");
  EXPECT_EQ(run({}).code, kExitUsage);
}

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
}

TEST_F(Program, NoDevicesAtAllAreNotThisMachine) {
  for (const char* command : {"sweep", "devices"}) {
    refused({command, "--devices", ""}, kExitUsage, HasSubstr("it names no device"));
  }
}

TEST_F(Program, DevicesThatAreNotThere) {
  refused({"devices", "--devices", path("absent.yaml")}, kExitUsage,
          HasSubstr("paretoctl discover --write " + path("absent.yaml")));
  std::ofstream(path("inventory.yaml")) << "devices:\n  - {name: ghost, address: '127.0.0.1:1'}\n";
  const Done done = run({"devices", "--devices", path("inventory.yaml")});
  EXPECT_EQ(done.code, kExitEnvironment);
  EXPECT_THAT(done.out, HasSubstr("ghost   127.0.0.1:1  not well\n\nghost (127.0.0.1:1): no daemon "
                                  "answers (Connection refused): does paretod run there"));
}

TEST_F(Program, DevicesMayBeNamedByTheirAddressesAndByTheEnvironment) {
  const Done named = run({"devices", "--devices", "127.0.0.1:1,localhost:2"});
  EXPECT_EQ(named.code, kExitEnvironment);
  EXPECT_THAT(named.out, AllOf(HasSubstr("127.0.0.1  127.0.0.1:1  not well"),
                               HasSubstr("localhost  localhost:2  not well")));
  devices_ = "127.0.0.1:1,localhost:2";
  EXPECT_EQ(run({"devices"}).out, named.out);
  refused({"run", "--model", "squeezenet1_0", "--input-shape", "3x64x64", "--split", "none"},
          kExitEnvironment, AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("localhost"))));
  devices_ = "127.0.0.1:1";
  const Done given = run({"devices", "--devices", "localhost:2"});
  EXPECT_THAT(given.out, Not(HasSubstr("127.0.0.1:1"))) << "what is given counts";
  refused({"devices", "--devices", "a:7070,b:99999"}, kExitUsage, HasSubstr("\"b:99999\""));
  refused({"devices", "--devices", "http://a:7070"}, kExitUsage, HasSubstr("no scheme"));
}

/// Takes connections and answers none until it has `wanted` of them at once; then it closes all,
/// also those to come.
class HangingDevices {
 public:
  explicit HangingDevices(std::size_t wanted)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::jthread([this, wanted] { serve(wanted); });
  }
  ~HangingDevices() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  int port = 0;
  std::atomic<std::size_t> most = 0;  ///< most that were open at once

 private:
  void serve(std::size_t wanted) {
    std::vector<FileDescriptor> open;
    for (;;) {
      FileDescriptor taken(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!taken) return;
      // Those that gave up are gone.
      std::erase_if(open, [](const FileDescriptor& one) {
        pollfd peer{one.get(), POLLRDHUP, 0};
        return ::poll(&peer, 1, 0) == 1;
      });
      open.push_back(std::move(taken));
      most = std::max<std::size_t>(most, open.size());
      if (most >= wanted) open.clear();
    }
  }

  FileDescriptor listener_;
  std::jthread thread_;
};

TEST_F(Program, DevicesAreAskedAllAtOnce) {
  constexpr std::size_t kDevices = 8;
  HangingDevices hanging(kDevices);
  std::ofstream inventory(path("inventory.yaml"));
  inventory << "devices:\n";
  for (std::size_t i = 0; i < kDevices; ++i) {
    inventory << fmt::format("  - {{name: d{}, address: '127.0.0.{}:{}'}}\n", i, 1, hanging.port);
  }
  inventory.close();
  EXPECT_EQ(run({"devices", "--devices", path("inventory.yaml")}).code, kExitEnvironment);
  EXPECT_EQ(hanging.most, kDevices);
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
  for (const char* flag : {"--split", "--transport", "--codec", "--micro-batch", "--window",
                           "--batch", "--engine", "--precision", "--max-error", "--threads"}) {
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
  refused(small("run", {"--split", "none", "--transport", "shm,tcp"}), kExitUsage,
          AllOf(HasSubstr("--transport shm,tcp: run takes one"), HasSubstr("--transport shm+tcp")));
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

TEST_F(Program, OnlyProfileTakesSeveralSettings) {
  const auto several = [&](const std::string& command, const std::string& flag,
                           const std::string& list) {
    refused(small(command, {flag, list}), kExitUsage,
            AllOf(HasSubstr(flag), HasSubstr(list + ": one value is taken here")));
  };
  for (const char* command : {"plan", "run"}) several(command, "--batch", "1,8");
  several("splits", "--batch", "1,8");
  for (const char* command : {"plan", "run", "sweep", "verify"}) {
    several(command, "--threads", "1,2");
    several(command, "--precision", "fp32,bf16");
  }
  // It gets as far as to the daemons that are not there.
  refused(small("profile", {"--batch", "1,8", "--threads", "0,2", "--precision", "fp32,bf16",
                            "--codec", "none,int8", "--per-operator"}),
          kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("profile", {"--batch", "1,0"}), kExitUsage, HasSubstr("--batch 0"));
  refused(small("profile", {"--codec", "zip"}), kExitUsage, HasSubstr("--codec zip"));
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

TEST_F(Program, WhatTheEnvironmentRefuses) {
  refused(small("run"), kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("run", {"--split", "none"}), kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("sweep", {"--report", path("absent/front.html")}), kExitUsage,
          AllOf(HasSubstr("--report"), HasSubstr("absent: No such file or directory")));
  refused(small("sweep", {"--report", path("")}), kExitUsage,
          AllOf(HasSubstr("--report"), HasSubstr("is a folder")));
  std::ofstream(path("inventory.yaml")) << "devices:\n  - name: ghost\n    address: 127.0.0.1:1\n";
  refused(small("sweep", {"--devices", path("inventory.yaml")}), kExitEnvironment,
          HasSubstr("ghost"));
  std::ofstream(path("typo.yaml")) << "devices:\n  - name: a\n    adress: b:1\n";
  refused(small("sweep", {"--devices", path("typo.yaml")}), kExitUsage, HasSubstr("typo.yaml:3"));
}

TEST_F(Program, ModelsListsThemForPeopleAndPrograms) {
  const Done table = run({"models"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("mobilenetv2"), HasSubstr("3x224x224")));
  const json list = json::parse(run({"models", "--json"}).out);
  EXPECT_GE(list.size(), 10U);
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

TEST_F(Program, VerifyComparesAndSaysHowMany) {
  const Done done = run(small("verify", {"--splits", "modules", "--batch", "1,2"}));
  EXPECT_EQ(done.code, kExitDone) << done.out << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("batch 1"), HasSubstr("batch 2"), HasSubstr("bit for bit"),
                              HasSubstr("engine auto")));
}

TEST_F(Program, DoctorSaysWhatIsMissing) {
  const Done done = run({"doctor", "--json"});
  EXPECT_EQ(done.code, kExitEnvironment) << "there is no paretod here";
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("doctor"), document), IsEmpty());
  EXPECT_EQ(document["well"], false);
  bool found = false;
  for (const json& finding : document["findings"]) {
    if (finding["check"] == "paretod") {
      found = true;
      EXPECT_EQ(finding["severity"], "fail");
      EXPECT_THAT(finding["found"].get<std::string>(), HasSubstr("no-paretod"));
      EXPECT_THAT(finding["remedy"].get<std::string>(), HasSubstr("install or build paretod"));
    }
    EXPECT_TRUE(finding["check"] != "results" || finding["severity"] == "ok") << finding;
  }
  EXPECT_TRUE(found);
  const Done text = run({"doctor", "127.0.0.1:1"});
  EXPECT_EQ(text.code, kExitEnvironment);
  EXPECT_THAT(text.out, testing::StartsWith("where "));
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("\nWhat to do:\n"), HasSubstr("\n  127.0.0.1:1, answers: 127.0.0.1:1: "),
            HasSubstr("\n    start paretod there"), HasSubstr(", failures: 1\n")));
}

TEST(ExitCodes, SortErrorsByWhoCanMendThem) {
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kNotFound, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kCorrupt, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kPermission, Phase::kPreparing), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable, Phase::kPreparing), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable, Phase::kRunning), kExitFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument, Phase::kRunning), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kExhausted, Phase::kPreparing), kExitFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kInternal, Phase::kPreparing), kExitFailed);
}

TEST(CommandLine, CanBeTypedAgain) {
  EXPECT_EQ(quoted_command_line({"sweep", "--model", "a b.pt", "it's", ""}),
            "paretoctl sweep --model 'a b.pt' 'it'\\''s' ''");
}

TEST(FindParetod, LooksBesideUsThenInThePath) {
  const auto folder = TemporaryFolder::create("find").value();
  const auto a = folder.path() / "a";
  const auto b = folder.path() / "b";
  std::filesystem::create_directories(a);
  std::filesystem::create_directories(b);
  const std::string path = a.string() + ":" + b.string();
  EXPECT_EQ(find_paretod(a / "paretoctl", path), "paretod");
  std::ofstream(b / "paretod") << "x";
  EXPECT_EQ(find_paretod(a / "paretoctl", path), b / "paretod");
  std::ofstream(a / "paretod") << "x";
  EXPECT_EQ(find_paretod(a / "paretoctl", ""), a / "paretod");
  std::filesystem::create_directories(folder.path() / "bin");
  std::ofstream(folder.path() / "bin/paretod") << "x";
  EXPECT_EQ(find_paretod(folder.path() / "libexec/pareto-edge/paretoctl", ""),
            folder.path() / "bin/paretod");
}

}  // namespace
}  // namespace pareto::client
