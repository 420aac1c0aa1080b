#include "client/commands/deploy_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "core/base/file.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::client::commands {
namespace {

using testing::HasSubstr;

class OnePipeline final : public load::StreamPipeline {
 public:
  transport::Link& source() override { return *ends_.first; }
  transport::Link& sink() override { return *ends_.second; }
  std::uint64_t number() const override { return 0xabc; }
  std::optional<Error> find_loss(std::chrono::milliseconds) override { return std::nullopt; }
  void abandon() override {}

 private:
  std::pair<std::unique_ptr<transport::Link>, std::unique_ptr<transport::Link>> ends_ =
      test::MemoryTransport::pair();
};

TEST(DeployWatch, TellsWhatHappensToThePipeline) {
  std::ostringstream err;
  const load::StreamTally tally;
  int ready = 0;
  DeployWatch watch(err, tally, "m", "2 stages", [&] { ++ready; });
  EXPECT_FALSE(watch.was_open());
  OnePipeline pipeline;
  watch.opened(pipeline, std::nullopt, 0);
  watch.lost({ErrorCode::kUnavailable, "stage 1 on b: gone"}, std::chrono::seconds(60));
  watch.opened(pipeline, std::chrono::milliseconds(2300), 3);
  EXPECT_TRUE(watch.was_open());
  EXPECT_EQ(ready, 1);
  EXPECT_EQ(err.str(),
            "ready: 2 stages\n"
            "the pipeline is lost: stage 1 on b: gone; trying for up to 60 s to open one again "
            "(--retry)\n"
            "ready again after 2.3 s; requests that are sent again: 3\n");
}

TEST(DeployWatch, ItsMetricsAreThoseOfTheManual) {
  std::ostringstream err;
  const load::StreamTally tally;
  const DeployWatch watch(err, tally, "m", "2 stages", [] {});
  const std::string manual = read_file(PARETO_SOURCE_DIR "/daemon/metrics/METRICS.md").value();
  static const std::regex kRow(R"(\| `(pareto_deploy_[a-z_]+)` \| ([a-z]+) \|)");
  std::set<std::string> listed;
  for (auto row = std::sregex_iterator(manual.begin(), manual.end(), kRow);
       row != std::sregex_iterator(); ++row) {
    listed.insert((*row)[1]);
  }
  std::set<std::string> exposed;
  for (const metrics::Family& family : watch.collect()) {
    if (family.name.starts_with("pareto_")) exposed.insert(family.name);
    EXPECT_EQ(family.name.ends_with("_total"), family.kind == metrics::Kind::kCounter)
        << family.name;
  }
  EXPECT_EQ(exposed, listed);
}

}  // namespace
}  // namespace pareto::client::commands
