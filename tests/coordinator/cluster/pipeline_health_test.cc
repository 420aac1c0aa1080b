// What is said of a pipeline whose stages failed.
#include "coordinator/cluster/pipeline_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kShort{600};

class PipelineHealthTest : public load::FakePipelineTest {
 protected:
  PipelineHealthTest()
      : FakePipelineTest({{"a", 0, 2}, {"b", 2, 7}, {"c", 7, test::kFakeOperators}}) {}

  std::string loss() const {
    const auto lost = find_lost_stages(*deployment_, kPatience);
    return lost.empty() ? "" : error_of(lost).message;
  }

  /// Sends a request, and waits until that device holds one.
  bool swallows_a_request(std::size_t device) {
    wire::Message request;
    request.kind = wire::MessageKind::kValues;
    request.pipeline = deployment_->pipeline();
    request.body = Tuple{{workload_.example(1, 1).value()}};
    if (!deployment_->source().send(request)) return false;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (daemons_[device]->status(kPatience)->stages.at(0).in_flight == 0) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
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

TEST_F(PipelineHealthTest, ADeviceThatIsSilentOnALinkIsNotWaitedForLonger) {
  daemons_[1]->hold_status();
  daemons_[2]->fail_stages("upstream link: tcp b:2: no sign of life for 2.0 s: its process hangs");
  const auto lost = find_lost_stages(*deployment_, kShort);
  ASSERT_EQ(lost.size(), 1U) << error_of(lost).message;
  EXPECT_EQ(lost[0].stage, 1U);
  EXPECT_TRUE(lost[0].device_is_lost);
  EXPECT_EQ(lost[0].why.code, ErrorCode::kTimeout);
  EXPECT_EQ(lost[0].why.message,
            "stage 2 on c sees no sign of life of it, and it does not answer within 0.1 s");
  EXPECT_TRUE(daemons_[1]->is_abandoned());
}

TEST_F(PipelineHealthTest, TheCoordinatorsOwnLinkSaysSoToo) {
  daemons_[2]->hold_status();
  const auto lost = find_lost_stages(*deployment_, kShort, {2});
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_THAT(lost[0].why.message, HasSubstr("the coordinator sees no sign of life of it"));
}

TEST_F(PipelineHealthTest, ADeviceThatAnswersIsThereWhateverALinkSays) {
  daemons_[2]->fail_stages("upstream link: tcp b:2: no sign of life for 2.0 s: its process hangs");
  const auto lost = find_lost_stages(*deployment_, kPatience);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].stage, 2U);
  EXPECT_FALSE(lost[0].device_is_lost);
}

TEST_F(PipelineHealthTest, ASlowDeviceThatNoLinkAccusesHasAllItsTime) {
  daemons_[1]->hold_status();
  const auto lost = find_lost_stages(*deployment_, kShort);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_THAT(lost[0].why.message, HasSubstr("no answer"));
  EXPECT_FALSE(daemons_[1]->is_abandoned());
}

TEST_F(PipelineHealthTest, TheOldestRequestIsWhereItHasComeFarthest) {
  EXPECT_EQ(where_requests_wait(*deployment_, kPatience), "");
  // A stage that computes may leave what comes meanwhile to the stage before it.
  daemons_[1]->hang();
  ASSERT_TRUE(swallows_a_request(1));
  daemons_[0]->hang();
  ASSERT_TRUE(swallows_a_request(0));
  EXPECT_EQ(where_requests_wait(*deployment_, kPatience),
            "; stage 1 on b has taken it and not sent it on");
}

}  // namespace
}  // namespace pareto::cluster
