// What is said of a pipeline whose stages failed.
#include "coordinator/cluster/pipeline_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{60};

class PipelineHealthTest : public load::FakePipelineTest {
 protected:
  PipelineHealthTest()
      : FakePipelineTest({{"a", 0, 2}, {"b", 2, 7}, {"c", 7, test::kFakeOperators}}) {}

  std::string loss() const {
    const auto lost = find_lost_stages(*deployment_, kPatience);
    return lost.empty() ? "" : error_of(lost).message;
  }
};

TEST_F(PipelineHealthTest, APipelineThatRunsHasLostNothing) { EXPECT_EQ(loss(), ""); }

TEST_F(PipelineHealthTest, ABrokenLinkIsNamedByItsEnds) {
  const std::string broken = "the connection broke: Connection timed out";
  daemons_[1]->fail_stages("upstream link: " + broken);
  EXPECT_THAT(loss(), HasSubstr("stage 1 on b"));
  EXPECT_THAT(loss(), HasSubstr("its link from stage 0 on a: " + broken));
  daemons_[1]->fail_stages("downstream link: " + broken);
  EXPECT_THAT(loss(), HasSubstr("its link to stage 2 on c: " + broken));
}

TEST_F(PipelineHealthTest, TheCoordinatorIsAtBothEnds) {
  daemons_[0]->fail_stages("upstream link: no frame");
  EXPECT_THAT(loss(), HasSubstr("its link from the coordinator: no frame"));
  daemons_[0]->fail_stages("");
  daemons_[2]->fail_stages("downstream link: no frame");
  EXPECT_THAT(loss(), HasSubstr("its link to the coordinator: no frame"));
}

}  // namespace
}  // namespace pareto::cluster
