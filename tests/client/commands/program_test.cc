// The program behind main, inside the test: everything that needs no daemon. tests/e2e runs it as a
// process, with daemons.
#include "client/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "core/base/file.h"
#include "tests/client/support/program.h"

namespace pareto::client::commands {
namespace {

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
    // A hyphen that may not become a dash.
    const std::string title = std::regex_replace(name, std::regex("-"), "\\-");
    EXPECT_THAT(manual.out, HasSubstr(".SS " + title + "\n"));
    EXPECT_THAT(completion.out, HasSubstr("    '" + name + "') flags='-h --help "));
  }
  refused({"--completion", "fish"}, kExitUsage, HasSubstr("fish"));
}

TEST_F(Program, EveryCommandHasItsPageInTheReference) {
  const auto folder = std::filesystem::path(PARETO_SOURCE_DIR) / "docs/reference";
  std::vector<std::string> pages{"paretoctl.md", "paretod.md", "enroll.md"};
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

TEST(ExitCodes, SortErrorsByWhoCanMendThem) {
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kNotFound, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kCorrupt, Phase::kPreparing), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kPermission, Phase::kPreparing), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable, Phase::kPreparing), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable, Phase::kRunning), kExitFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument, Phase::kRunning), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kCorrupt, Phase::kRunning), kExitFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kNotFound, Phase::kRunning), kExitFailed);
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
}  // namespace pareto::client::commands
