#include "core/base/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/file.h"
#include "core/base/usage_pages.h"
#include "tests/support/process.h"

namespace pareto {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A program with two commands.
class UsageTest : public testing::Test {
 protected:
  UsageTest() : app_("Does things.", "prog") {
    app_.footer("Exit codes: 0 done.\n");
    flags_.add_to(app_);
    CLI::App* go = app_.add_subcommand("go", "goes there");
    go->add_option("action", text_, "where")->required()->check(CLI::IsMember({"up", "down"}));
    go->add_option("-o,--output", text_, "'one' file [of many]")->type_name("FILE");
    go->add_option("--level", text_, "how far")->check(CLI::IsMember({"low", "high"}));
    set_value(go->add_option("--run", text_, "which run"), "RUN", {"last", "@runs"});
    set_value(go->add_option("--via", text_, "which ways")->group("Ways"), "LIST",
              {"tcp", "grpc", "a:71", "b:72"});
    set_value(go->add_option("--at", text_, "where to listen"), "HOST:PORT");
    go->add_flag("--json", flag_, "last~1 as JSON");
    go->footer("Examples:\n  prog go up\n.hidden\n");
    CLI::App* stay = app_.add_subcommand("stay", "stays here");
    stay->add_option("--count", count_, "times")->capture_default_str();
    stay->add_flag("--secret", flag_, "not to be shown")->group("");
  }

  /// Returns what bash proposes for the last of these words.
  std::vector<std::string> completed(const std::string& words, int last) const {
    const auto folder = TemporaryFolder::create("completion").value();
    const std::string script = folder.path() / "prog";
    std::ofstream(script) << usage::bash_completion(usage::usage_of(app_));
    const auto done =
        test::run({"/bin/bash", "-euc",
                   fmt::format("prog() {{ [ \"$1 $2\" = '--complete runs' ] && echo kitchen; }}; "
                               "source {}; COMP_WORDS=({}); COMP_CWORD={}; _prog; printf '%s\\n' "
                               "\"${{COMPREPLY[@]}}\"",
                               script, words, last)});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    std::vector<std::string> list;
    std::istringstream lines(done.output);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) list.push_back(line);
    }
    return list;
  }

  std::string text_;
  int count_ = 3;
  bool flag_ = false;
  UsageFlags flags_;
  CLI::App app_;
};

TEST_F(UsageTest, SaysWhatTheParserTakes) {
  const usage::Usage usage = usage::usage_of(app_);
  EXPECT_EQ(usage.name, "prog");
  EXPECT_EQ(usage.summary, "Does things.");
  ASSERT_EQ(usage.commands.size(), 2U);
  const usage::Usage& go = usage.commands[0];
  ASSERT_EQ(go.options.size(), 8U);
  EXPECT_THAT(go.options[0].names, ElementsAre("-h", "--help"));
  EXPECT_EQ(go.options[0].value, "");
  EXPECT_TRUE(go.options[1].positional());
  EXPECT_TRUE(go.options[1].required);
  EXPECT_THAT(go.options[1].choices, ElementsAre("up", "down"));
  EXPECT_THAT(go.options[2].names, ElementsAre("-o", "--output"));
  EXPECT_EQ(go.options[2].value, "FILE");
  EXPECT_THAT(go.options[2].choices, IsEmpty());
  EXPECT_EQ(go.options[4].value, "RUN");
  EXPECT_THAT(go.options[4].proposals, ElementsAre("last", "@runs"));
  EXPECT_THAT(go.options[4].choices, IsEmpty());
  EXPECT_EQ(go.options[5].group, "Ways");
  EXPECT_EQ(go.options[6].value, "HOST:PORT");
  EXPECT_EQ(go.options[7].value, "");
  const usage::Usage& stay = usage.commands[1];
  ASSERT_EQ(stay.options.size(), 2U) << "a hidden option is shown";
  EXPECT_EQ(stay.options[1].initial, "3");
}

TEST_F(UsageTest, HelpHasValuesGroupsAndDefaults) {
  const usage::Usage usage = usage::usage_of(app_);
  EXPECT_EQ(usage::help_page(usage.commands[0], 80, "prog "),
            "goes there\n"
            "\n"
            "Usage: prog go [OPTIONS] action\n"
            "\n"
            "Arguments:\n"
            "  action                      where: up, down (required)\n"
            "\n"
            "Ways:\n"
            "  --via LIST                  which ways\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  -o,--output FILE            'one' file [of many]\n"
            "  --level low|high            how far\n"
            "  --run RUN                   which run\n"
            "  --at HOST:PORT              where to listen\n"
            "  --json                      last~1 as JSON\n"
            "\n"
            "Examples:\n"
            "  prog go up\n"
            ".hidden\n");
  EXPECT_THAT(usage::help_page(usage.commands[1], 80), HasSubstr("times (default: 3)\n"));
  EXPECT_THAT(usage::help_page(usage, 80), HasSubstr("Usage: prog [OPTIONS] COMMAND\n"));
  EXPECT_THAT(usage::help_page(usage, 80),
              HasSubstr("\nCommands:\n  go                          goes"));
}

TEST(HelpFormat, FitsTheTerminal) {
  const auto help = [](int columns) {
    CLI::App app("Does things.", "prog");
    set_help_format(app, columns);
    CLI::App* go = app.add_subcommand("go", "goes there, or else somewhere that is near to there");
    std::string text;
    std::vector<std::string> many;
    auto* one =
        go->add_option("--one", text, "is said in more words than there is room for beside");
    bool flag = false;
    go->add_flag("--other-of-a-long-name,--another-name", flag, "is said")->excludes(one);
    go->add_option("from", many, "where")->expected(0, 2);
    return std::pair(app.help(), go->help());
  };
  EXPECT_THAT(help(60).first,
              HasSubstr("  go                          goes there, or else somewhere\n"
                        "                              that is near to there\n"));
  const std::string wide = help(60).second;
  EXPECT_THAT(wide, HasSubstr("[from...]\n"));
  EXPECT_THAT(wide, HasSubstr("  --one TEXT                  is said in more words than\n"
                              "                              there is room for beside\n"));
  EXPECT_THAT(wide, HasSubstr("  --other-of-a-long-name,--another-name\n"
                              "                              is said\n"));
  EXPECT_THAT(wide, Not(HasSubstr("Excludes")));
  EXPECT_THAT(help(50).second, HasSubstr("  --one TEXT\n"
                                         "      is said in more words than there is room for\n"
                                         "      beside\n"));
  EXPECT_EQ(help(0), help(100)) << "files are as wide as a large terminal";
}

TEST_F(UsageTest, IsWrittenForAnotherProgram) {
  const usage::Usage usage = usage::usage_of(app_);
  const auto read = usage::usage_from_json(usage::to_json(usage));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(usage::to_json(*read), usage::to_json(usage));
  EXPECT_EQ(usage::help_page(read->commands[0], 80), usage::help_page(usage.commands[0], 80));
  EXPECT_EQ(usage::bash_completion(*read), usage::bash_completion(usage));
  for (const char* broken : {"", "{", "{}", "[]", R"({"name": 1})"}) {
    EXPECT_FALSE(usage::usage_from_json(broken)) << broken;
  }
}

TEST_F(UsageTest, ErrorsDoNotShowProposals) {
  try {
    app_.parse("go up --run");
    FAIL() << "a value is missing";
  } catch (const CLI::ParseError& error) {
    EXPECT_THAT(usage::without_proposals(error.what()), HasSubstr("RUN"));
    EXPECT_THAT(usage::without_proposals(error.what()), Not(HasSubstr("last")));
  }
}

TEST_F(UsageTest, TheManualPageHasItAll) {
  const std::string page = usage::manual_page(usage::usage_of(app_), 1, "other(8)");
  EXPECT_THAT(page, StartsWith(".\\\" Made by prog --manual.\n.TH PROG 1 \"\" \"Pareto Edge "));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nprog \\- Does things.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBprog\\fR \\fBgo\\fR [\\fIOPTION\\fR]... \\fIaction\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".SS go\ngoes there\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fIaction\\fR\nwhere: up, down (required)\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"
                              "\\(aqone\\(aq file [of many]\n"));
  EXPECT_THAT(page, HasSubstr("last\\(ti1 as JSON\n"));
  EXPECT_THAT(page, HasSubstr(".nf\nExamples:\n  prog go up\n\\&.hidden\n.fi\n"));
  EXPECT_THAT(page, HasSubstr("times (default: 3)\n"));
  EXPECT_THAT(page, HasSubstr("Exit codes: 0 done.\n"));
  EXPECT_THAT(page, HasSubstr(".SH SEE ALSO\nother(8)\n"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

TEST_F(UsageTest, TheReferencePageIsMarkdown) {
  const usage::Usage usage = usage::usage_of(app_);
  const std::string page = usage::reference_page(usage.commands[0], "prog ");
  EXPECT_THAT(page, HasSubstr("\n# prog go\n\nGoes there.\n\n```\nprog go [OPTIONS] action\n```\n\n"
                              "## Arguments\n\n| | |\n|---|---|\n"
                              "| `action` | where: up, down (required) |\n\n## Ways\n\n"));
  EXPECT_THAT(page, HasSubstr("\n## Options\n\n| | |\n|---|---|\n| `-h, --help` |"));
  EXPECT_THAT(page, HasSubstr("| `-o, --output FILE` | 'one' file [of many] |\n"));
  EXPECT_THAT(page, HasSubstr("| `--level low\\|high` | how far |\n"));
  EXPECT_THAT(page, HasSubstr("| `--json` | last\\~1 as JSON |\n"));
  EXPECT_THAT(page, EndsWith("\n## Examples\n\n```\nprog go up\n```\n\n.hidden\n"));
  const std::string whole = usage::reference_page(usage);
  EXPECT_THAT(whole, HasSubstr("\n# prog\n\nDoes things.\n"));
  EXPECT_THAT(whole, HasSubstr("| [`go`](go.md) | goes there |\n| [`stay`](stay.md) |"));
  EXPECT_THAT(whole, EndsWith("\n## Notes\n\nExit codes: 0 done.\n"));
}

TEST_F(UsageTest, BashCompletesCommandsOptionsAndChoices) {
  if (!std::filesystem::exists("/bin/bash")) GTEST_SKIP() << "no bash here";
  EXPECT_THAT(completed("prog ''", 1), ElementsAre("go", "stay"));
  EXPECT_THAT(completed("prog s", 1), ElementsAre("stay"));
  EXPECT_THAT(completed("prog --m", 1), ElementsAre("--manual"));
  EXPECT_THAT(completed("prog --completion ''", 2), ElementsAre("bash", "zsh"));
  EXPECT_THAT(completed("prog go ''", 2), ElementsAre("up", "down"));
  EXPECT_THAT(completed("prog go up --l", 3), ElementsAre("--level"));
  EXPECT_THAT(completed("prog go --level h", 3), ElementsAre("high"));
  EXPECT_THAT(completed("prog stay ''", 2), ElementsAre("-h", "--help", "--count"));
  EXPECT_THAT(completed("prog go --level = h", 4), ElementsAre("high"));
  EXPECT_THAT(completed("prog go --level =", 3), ElementsAre("low", "high"));
  // Lists, word by word; and what is looked up.
  EXPECT_THAT(completed("prog go --via ''", 3), ElementsAre("tcp", "grpc", "a:71", "b:72"));
  EXPECT_THAT(completed("prog go --via tcp,g", 3), ElementsAre("tcp,grpc"));
  EXPECT_THAT(completed("prog go --via a : 7", 5), ElementsAre("71"));
  EXPECT_THAT(completed("prog go --via a :", 4), ElementsAre("71"));
  EXPECT_THAT(completed("prog go --via a : 71,b : 7", 7), ElementsAre("72"));
  EXPECT_THAT(completed("prog go --via = a : 7", 6), ElementsAre("71"));
  EXPECT_THAT(completed("prog go --run ''", 3), ElementsAre("last", "kitchen"));
  // A file: bash itself completes it.
  EXPECT_THAT(completed("prog go --output ''", 3), IsEmpty());
}

TEST_F(UsageTest, BehindAChoiceComesTheNextArgument) {
  if (!std::filesystem::exists("/bin/bash")) GTEST_SKIP() << "no bash here";
  set_value(app_.get_subcommand("go")->add_option("which", text_, "which run"), "RUN",
            {"last", "@runs"});
  EXPECT_THAT(completed("prog go up ''", 3), ElementsAre("last", "kitchen"));
  EXPECT_THAT(completed("prog go up --l", 3), ElementsAre("--level"));
}

TEST_F(UsageTest, ZshIsToldTheSame) {
  const std::string script = usage::zsh_completion(usage::usage_of(app_));
  EXPECT_THAT(script, StartsWith("#compdef prog\n"));
  EXPECT_THAT(script, HasSubstr("'go:goes there' 'stay:stays here'"));
  EXPECT_THAT(script, HasSubstr("    go) _arguments '(-h --help)-h[Print this help message and "
                                "exit]' '(-h --help)--help[Print this help message and exit]' "
                                "':action:(up down)' "));
  EXPECT_THAT(script,
              HasSubstr("'(-o --output)--output=['\\''one'\\'' file \\[of many\\]]:FILE:_files'"));
  EXPECT_THAT(script, HasSubstr("'(--level)--level=[how far]:TEXT:(low high)'"));
  EXPECT_THAT(
      script,
      HasSubstr("--via=[which ways]:LIST:{_sequence compadd - tcp grpc a:71 b:72; _files}'"));
  if (!std::filesystem::exists("/usr/bin/zsh")) GTEST_SKIP() << "no zsh here";
  const auto folder = TemporaryFolder::create("completion").value();
  std::ofstream(folder.path() / "_prog") << script;
  const auto parsed = test::run({"/usr/bin/zsh", "-fn", (folder.path() / "_prog").string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.errors;
}

TEST_F(UsageTest, IsPrintedByItsFlags) {
  EXPECT_FALSE(flags_.text(app_, 1, "")) << "nothing was asked for";
  app_.parse("--completion zsh");
  EXPECT_EQ(flags_.text(app_, 1, ""), usage::zsh_completion(usage::usage_of(app_)));
  app_.parse("--completion bash");
  EXPECT_EQ(flags_.text(app_, 1, ""), usage::bash_completion(usage::usage_of(app_)));
  app_.parse("--manual");
  EXPECT_EQ(flags_.text(app_, 1, ""), usage::manual_page(usage::usage_of(app_), 1, ""));
  app_.parse("--reference prog");
  EXPECT_EQ(flags_.text(app_, 1, ""), usage::reference_page(usage::usage_of(app_)));
  app_.parse("--reference stay");
  EXPECT_EQ(flags_.text(app_, 1, ""),
            usage::reference_page(usage::usage_of(app_).commands[1], "prog "));
  EXPECT_THROW(app_.parse("--reference come"), CLI::ParseError);
  EXPECT_THROW(app_.parse("--completion fish"), CLI::ParseError);
}

}  // namespace
}  // namespace pareto
