// A host of stages whose shards a test makes up.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/stage/stage_host.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {

inline constexpr std::uint64_t kHostedPipeline = 7;

class StageHostTest : public testing::Test {
 protected:
  StageHostTest()
      : transport_(transport::make_transport("inproc").value()),
        cache_(
            test::fake_runners(runs_), [](const Digest&) -> Expected<Tensor> { return Tensor(); },
            0),
        shard_(cache_.load(test::make_shard(), {}).value().shard) {
    host(test::kPatience);
  }
  void host(Nanoseconds hello_timeout) {
    host_.reset();
    host_ = test::host_on(transport_, "", "here", hello_timeout).value();
    address_ = host_->addresses().at(0).address;
  }
  OpenStage request(std::uint64_t pipeline = kHostedPipeline, std::uint32_t stage = 0) const {
    return {{pipeline, stage, "", "inproc", "inproc", ""}, shard_};
  }
  Expected<std::unique_ptr<transport::Link>> connect(const control::Hello& hello) {
    return test::connect_as(*transport_, address_, hello);
  }

  /// Both ends of a pipeline of two stages of this host, which are started.
  struct Ends {
    std::unique_ptr<transport::Link> source;
    std::unique_ptr<transport::Link> sink;
  };
  /// max_frame_bytes: from the one to the other; 0: the host's.
  Ends start_neighbours(std::uint64_t max_frame_bytes = 0) {
    EXPECT_TRUE(host_->open(request(kHostedPipeline, 1)));
    auto first = request(kHostedPipeline, 0);
    first.asked.downstream = address_;
    first.asked.max_frame_bytes = max_frame_bytes;
    EXPECT_TRUE(host_->open(first));
    Ends ends{connect({kHostedPipeline, 0, control::Role::kUpstream}).value(),
              connect({kHostedPipeline, 1, control::Role::kSink}).value()};
    EXPECT_TRUE(host_->start(kHostedPipeline, 1, test::soon()));
    EXPECT_TRUE(host_->start(kHostedPipeline, 0, test::soon()));
    return ends;
  }

  std::shared_ptr<test::FakeRuns> runs_ = std::make_shared<test::FakeRuns>();
  std::shared_ptr<transport::Transport> transport_;
  ShardCache cache_;
  std::shared_ptr<LoadedShard> shard_;
  std::unique_ptr<StageHost> host_;
  std::string address_;
};

}  // namespace pareto::daemon
