// paretoctl's front: what it answers by itself, what it hands on, and the completions that shells
// get from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Front : public EndToEnd {
 protected:
  static fs::path front() { return fs::path(test::programs_folder()) / "paretoctl"; }
  static fs::path whole() {
    return fs::path(test::programs_folder()).parent_path() / "libexec/pareto-edge/paretoctl-whole";
  }

  /// Returns what bash proposes for the last of these words.
  std::vector<std::string> completed(const std::string& words) const {
    const std::string script = path("completion");
    std::ofstream(script) << run({front(), "--completion", "bash"}).output;
    const Finished done =
        run({"/bin/bash", "-uc",
             "source " + script + "; COMP_WORDS=(" + front().string() + " " + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _paretoctl; printf '%s\n' "
                 "\"${COMPREPLY[@]}\""},
            {"PARETO_STORE=" + path("results.db"), "PARETO_DEVICES=10.0.0.7:7070"});
    EXPECT_EQ(done.errors, "");
    std::vector<std::string> list;
    std::istringstream lines(done.output);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) list.push_back(line);
    }
    return list;
  }
};

TEST_F(Front, SaysWhatTheWholeProgramSays) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--version"},
                                             {"--help"},
                                             {"-h"},
                                             {"help"},
                                             {"sweep", "--help"},
                                             {"help", "run"},
                                             {"runs", "-h"},
                                             {"--manual"},
                                             {"--completion", "bash"},
                                             {"--completion", "zsh"},
                                             {"--version=1"},
                                             {"sweeep", "--help"},
                                             {"help", "sweeep"},
                                             {"--completion", "fish"}}) {
    std::vector<std::string> words{front()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Finished quick = run(words);
    words.front() = whole();
    const Finished full = run(words);
    EXPECT_EQ(quick.exit_code, full.exit_code) << arguments.front();
    EXPECT_EQ(quick.output, full.output) << arguments.front();
    EXPECT_EQ(quick.errors, full.errors) << arguments.front();
  }
}

TEST_F(Front, AnswersWithoutLoadingLibTorch) {
  const std::string libraries = run({"/usr/bin/ldd", front()}).output;
  EXPECT_THAT(libraries, HasSubstr("libsqlite3"));
  EXPECT_THAT(libraries, Not(HasSubstr("torch")));
  EXPECT_THAT(libraries, Not(HasSubstr("grpc")));
  // Alone it can say all of these, and where the rest should be.
  fs::create_directories(path("bin"));
  fs::copy_file(front(), path("bin/paretoctl"));
  const std::string alone = path("bin/paretoctl");
  EXPECT_EQ(run({alone, "--version"}).output, run({front(), "--version"}).output);
  EXPECT_THAT(run({alone, "sweep", "--help"}).output, HasSubstr("--model"));
  EXPECT_THAT(run({alone, "runs", "--store", path("none.db")}).errors, HasSubstr("holds no run"));
  const Finished models = run({alone, "models"});
  EXPECT_EQ(models.exit_code, 3);
  EXPECT_THAT(models.errors, HasSubstr(path("libexec/pareto-edge/paretoctl-whole")));
}

TEST_F(Front, CompletesTheCutsThatRunsMeasured) {
  if (!fs::exists("/bin/bash")) GTEST_SKIP() << "no bash here";
  const Finished swept =
      paretoctl(small_sweep({"--splits", "after:features.3,after:features.6", "--rounds", "1",
                             "--requests", "1", "--report", "none"}));
  ASSERT_EQ(swept.exit_code, 0) << swept.errors;
  // bash replaces what stands behind the last colon.
  EXPECT_THAT(completed("run --model squeezenet1_0 --split after : fea"),
              ElementsAre("features.3", "features.6"));
  EXPECT_THAT(completed("run --model squeezenet1_0 --split no"), ElementsAre("none"));
  EXPECT_THAT(completed("run --model mobilenetv2 --split after : fea"), testing::IsEmpty());
}

TEST_F(Front, CompletesModelsRunsDevicesAndNetworks) {
  if (!fs::exists("/bin/bash")) GTEST_SKIP() << "no bash here";
  Daemon attic("attic", folder());
  const Finished swept = run({"paretoctl",     "sweep",
                              "--store",       path("results.db"),
                              "--name",        "kitchen",
                              "--rounds",      "1",
                              "--requests",    "2",
                              "--stages",      "1",
                              "--model",       "squeezenet1_0",
                              "--input-shape", "3x64x64",
                              "--num-classes", "10",
                              "--report",      path("front.html"),
                              "--json"},
                             {"PARETO_DEVICES=" + attic.address()});
  ASSERT_EQ(swept.exit_code, 0) << swept.errors;
  const auto document = nlohmann::json::parse(swept.output);
  EXPECT_EQ(document["devices"][0]["address"], attic.address()) << "PARETO_DEVICES names it";
  const std::string id = document["run"];

  EXPECT_THAT(completed("sw"), ElementsAre("sweep"));
  EXPECT_THAT(completed("sweep --model mobilenetv2"), ElementsAre("mobilenetv2"));
  EXPECT_THAT(completed("sweep --transport gr"), ElementsAre("grpc"));
  EXPECT_THAT(completed("sweep --transport tcp,sh"), ElementsAre("tcp,shm"));
  EXPECT_THAT(completed("sweep --codec fp"), ElementsAre("fp16"));
  EXPECT_THAT(completed("sweep --network none,wi"), ElementsAre("none,wifi"));
  EXPECT_THAT(completed("sweep --devices 10"), ElementsAre("10.0.0.7:7070"));
  EXPECT_THAT(completed("plan --first ''"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(completed("front ki"), ElementsAre("kitchen"));
  EXPECT_THAT(completed("diff ''"), testing::IsSupersetOf({"kitchen", id.c_str(), "last"}));
  EXPECT_THAT(completed("sweep --resume " + id.substr(0, 6)), ElementsAre(id));
  EXPECT_THAT(completed("front --store " + path("none.db") + " ki"), testing::IsEmpty());

  // The run goes on to write the report that it began with.
  fs::remove(path("front.html"));
  const Finished resumed =
      run({"paretoctl", "sweep", "--store", path("results.db"), "--resume", "kitchen"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(slurp(path("front.html")), HasSubstr(id));
}

}  // namespace
}  // namespace pareto::test
