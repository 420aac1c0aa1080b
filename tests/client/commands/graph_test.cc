// graph: what it writes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "tests/client/support/program.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Program, GraphWritesEveryFormat) {
  for (const auto& [ending, begin] :
       {std::pair{"html", "<!doctype html>"}, {"svg", "<svg"}, {"dot", "digraph"}}) {
    const std::string file = path(std::string("model.") + ending);
    const Done done = run(small("graph", {"--output", file, "--split", "after:features.3"}));
    EXPECT_EQ(done.code, kExitDone) << done.err;
    EXPECT_THAT(done.err, HasSubstr("picture: " + file));
    EXPECT_THAT(done.out, AllOf(HasSubstr("after:features.3"), HasSubstr("modules of depth")));
    EXPECT_THAT(read_file(file).value(), AllOf(StartsWith(begin), HasSubstr("squeezenet1_0")));
  }
}

TEST_F(Program, GraphWritesToStdoutNothingElse) {
  const Done done =
      run(small("graph", {"--view", "operators", "--format", "dot", "--output", "-"}));
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(done.out, StartsWith("digraph"));
  EXPECT_TRUE(done.out.ends_with("}\n"));
}

TEST_F(Program, GraphListsCutsAsCsvAndJson) {
  const Done done = run(small("graph", {"--output", path("a.dot"), "--csv", path("cuts.csv"),
                                        "--json", "--time", "--splits", "auto"}));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_EQ(document["view"], "modules");
  EXPECT_GT(document["cards"].get<int>(), 10);
  const std::string csv = read_file(path("cuts.csv")).value();
  EXPECT_THAT(csv, StartsWith("name,operators_before,boundary_bytes,flops_before"));
  EXPECT_THAT(csv, HasSubstr(",ms_before,ms_after,crosses\n"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), document["splits"].size() + 1);
  const json& first = document["splits"][0];
  EXPECT_THAT(csv, HasSubstr("\n" + first["name"].get<std::string>() + "," +
                             std::to_string(first["position"].get<int>()) + "," +
                             std::to_string(first["boundary_bytes"].get<int>()) + ","));
  EXPECT_GT(first["ms_before"].get<double>(), 0);
}

TEST_F(Program, GraphRefusesWhatDoesNotFit) {
  refused(small("graph", {"--heat", "time"}), kExitUsage,
          HasSubstr("measure them here with --time"));
  refused(small("graph", {"--heat", "flop"}), kExitUsage, HasSubstr("did you mean flops?"));
  refused(small("graph", {"--output", path("a.svg"), "--format", "dot"}), kExitUsage,
          HasSubstr("the name ends with another format"));
  refused(small("graph", {"--output", path("a.pdf")}), kExitUsage,
          HasSubstr("a.pdf: .pdf is no format of a picture; there are html, svg, png, dot."));
  refused(small("graph", {"--output", "-", "--json"}), kExitUsage, HasSubstr("name a file"));
  refused(small("graph", {"--output", path("absent/a.svg")}), kExitUsage, HasSubstr("--output"));
  refused(small("graph", {"--split", "after:nothing", "--output", path("a.svg")}), kExitUsage,
          HasSubstr("after:nothing"));
  refused(small("graph", {"--output", path("a.svg"), "--graphviz", path("no-dot")}),
          kExitEnvironment, HasSubstr("apt install graphviz"));
  refused(small("graph", {"--output", path("a.png"), "--browser", path("no-browser")}),
          kExitEnvironment, HasSubstr("apt install chromium"));
  refused(small("graph", {"--depth", "0", "--output", path("a.svg")}), kExitUsage,
          HasSubstr("--depth"));
  refused(small("graph", {"--profiled", "--output", path("a.svg")}), kExitUsage,
          AllOf(HasSubstr("--profiled: "), HasSubstr("results.db holds no profile"),
                HasSubstr("(paretoctl profile)")));
}

}  // namespace
}  // namespace pareto::client::commands
