// top without daemons: what it refuses, and a terminal that shows that nobody answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/client/support/program.h"
#include "tests/client/support/pseudo_terminal.h"

namespace pareto::client::commands {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Nobody listens there.
constexpr const char* kNobody = "127.0.0.1:1";

class Top : public Program {
 protected:
  Done run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "top");
    return Program::run(arguments);
  }
  /// Runs on a terminal, on which `keys` were typed before.
  Done run_on(const test::PseudoTerminal& terminal, const std::string& keys,
              std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "top");
    terminal.type(keys);
    std::ostringstream out;
    std::ostringstream err;
    NeverStopped stop;
    Context context{.out = out,
                    .err = err,
                    .out_is_terminal = true,
                    .columns = 80,
                    .input = terminal.inside(),
                    .command_line = quoted_command_line(arguments),
                    .paretod = path("no-paretod"),
                    .default_store = path("results.db"),
                    .stop = stop};
    const int code = run_program(arguments, context);
    return {code, out.str(), err.str()};
  }
};

TEST_F(Top, RefusesWhatItCannotDo) {
  for (const auto& [arguments, sentence] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--interval", "2"}, "--interval"},
           {{"--interval", "1ms"}, "between 100ms and 1h"},
           {{"--sort", "colour"}, "colour"},
           {{"--count", "-1"}, "--count"},
           {{"--once", "--count", "2"}, "--once"},
           {{"somewhere"}, "\"somewhere\" is no address (it has no port)"},
           {{kNobody, kNobody}, "named twice"},
           {{"--devices", "absent.yaml"}, "absent.yaml"}}) {
    const Done done = run(arguments);
    EXPECT_EQ(done.code, kExitUsage) << done.err;
    EXPECT_THAT(done.err, AllOf(StartsWith("paretoctl: "), HasSubstr(sentence)));
  }
}

TEST_F(Top, NobodyAnswersIsARowAndAnExitCode) {
  const Done done = run({"--once", "--interval", "100ms", kNobody});
  EXPECT_EQ(done.code, kExitEnvironment);
  EXPECT_THAT(done.out, AllOf(StartsWith("paretoctl top, "),
                              HasSubstr("no pipeline runs on these devices"), HasSubstr(kNobody)));
  EXPECT_THAT(done.err, Not(HasSubstr("start one here"))) << "who named a device knows where it is";
  const Done lines = run({"--json", "--count", "2", "--interval", "100ms", kNobody});
  EXPECT_EQ(std::ranges::count(lines.out, '\n'), 2);
  const auto first = nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n')));
  EXPECT_EQ(first["devices"][0]["well"], false);
}

TEST_F(Top, OnATerminalAKeyEndsIt) {
  const test::PseudoTerminal terminal;
  const tcflag_t before = terminal.modes();
  const Done done = run_on(terminal, "q", {"--interval", "1h", kNobody});
  EXPECT_EQ(done.code, kExitEnvironment) << "nobody answered";
  EXPECT_THAT(done.out, AllOf(StartsWith("\x1b[?1049h"), HasSubstr("q: quit")));
  EXPECT_THAT(done.out, Not(HasSubstr(kNobody))) << "a key waits for no device";
  EXPECT_EQ(terminal.modes(), before);
}

TEST_F(Top, OnATerminalItEndsAfterAsManyIntervalsAsAreAskedFor) {
  const test::PseudoTerminal terminal;
  const Done done = run_on(terminal, "", {"--interval", "100ms", "--count", "1", kNobody});
  EXPECT_EQ(done.code, kExitEnvironment);
  EXPECT_THAT(done.out, AllOf(HasSubstr("the devices are being asked"), HasSubstr(kNobody)));
}

TEST_F(Top, KeysSort) {
  const test::PseudoTerminal terminal;
  const Done done = run_on(terminal, "w\x1b[C\x1b[C\x1b[D\x1b[Dxq", {"--interval", "1h", kNobody});
  std::string orders;
  for (std::size_t at = done.out.find(", by "); at != std::string::npos;
       at = done.out.find(", by ", at + 1)) {
    orders += done.out.substr(at + 5, done.out.find_first_of("\x1b\r", at) - at - 5) + " ";
  }
  EXPECT_EQ(orders, "pipeline wait device pipeline device wait wait ");
}

}  // namespace
}  // namespace pareto::client::commands
