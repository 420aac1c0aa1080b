// Requests that come and go, some of them bad, through fake daemons.
#include "coordinator/load/request_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "core/base/bounded_queue.h"
#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Listed final : public RequestSource {
 public:
  std::optional<StreamRequest> next() override {
    if (cancelled || taken == requests.size()) return std::nullopt;
    if (on_next) on_next(taken);
    return requests[taken++];
  }
  void cancel() override { cancelled = true; }

  std::vector<StreamRequest> requests;
  std::size_t taken = 0;
  /// Called with the number of the request that is asked for.
  std::function<void(std::size_t)> on_next;
  std::atomic<bool> cancelled{false};
};

class Kept final : public RequestSink {
 public:
  void done(StreamResult result) override {
    if (names.empty() && on_first) on_first();
    names.push_back(result.name);
    sums.push_back(result.outputs ? test::sum_of(*result.outputs) : -1);
    errors.push_back(result.outputs ? "" : result.outputs.error().message);
    if (result.outputs) latencies_are_known &= result.latency.count() > 0;
  }
  std::vector<std::string> names;
  std::vector<double> sums;
  std::vector<std::string> errors;
  bool latencies_are_known = true;
  std::function<void()> on_first;
};

/// A link that takes nothing until it is closed.
class FullLink final : public transport::Link {
 public:
  Expected<transport::Sent> send(const wire::Message&, Deadline deadline) override {
    PARETO_TRY(closed_.pop(deadline));
    return transport::Sent{};
  }
  Expected<transport::Received> receive(Deadline) override {
    return fail(ErrorCode::kClosed, "nobody sends");
  }
  void close() override { closed_.close(); }
  std::string peer() const override { return "full"; }
  transport::PeerIdentity identity() const override { return {peer()}; }

 private:
  BoundedQueue<int> closed_{1};
};

class RequestStreamTest : public FakePipelineTest {
 protected:
  RequestStreamTest()
      : FakePipelineTest({{"a", 0, 2}, {"b", 2, 7}, {"c", 7, test::kFakeOperators}}) {}

  /// Adds a request. Its samples are zeros: the answer is 4 floats a sample, each the number of
  /// operators.
  void add(const std::string& name, std::int64_t batch = 1) {
    listed_.requests.push_back({name, batch, Value(Tuple{workload_.example(batch, 1).value()})});
  }
  StreamEnd stream(int window, std::int64_t micro_batch = 0) {
    StreamOptions options;
    options.window = window;
    options.micro_batch = micro_batch;
    return run_stream(deployment_->source(), deployment_->sink(), deployment_->pipeline(), options,
                      listed_, kept_);
  }

  Listed listed_;
  Kept kept_;
};

TEST_F(RequestStreamTest, EveryRequestIsAnsweredInOrder) {
  for (int i = 0; i < 20; ++i) add("r" + std::to_string(i), 1 + i % 3);
  ASSERT_FALSE(stream(4).broken);
  ASSERT_EQ(kept_.names.size(), 20U);
  EXPECT_TRUE(kept_.latencies_are_known);
  for (int i = 0; i < 20; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(kept_.names[at], "r" + std::to_string(i));
    EXPECT_EQ(kept_.sums[at], 4.0 * (1 + i % 3) * test::kFakeOperators);
  }
}

TEST_F(RequestStreamTest, ABadRequestFailsAlone) {
  add("good");
  listed_.requests.push_back(
      {"bad", 1, tl::unexpected(Error{ErrorCode::kCorrupt, "bad.npy: no .npy file"})});
  add("also good");
  // The second message that is sent: what was bad was not.
  daemons_[1]->fail_request(1);
  add("fine");
  ASSERT_FALSE(stream(2).broken);
  EXPECT_THAT(kept_.names, ElementsAre("good", "bad", "also good", "fine"));
  EXPECT_THAT(kept_.errors,
              ElementsAre("", "bad.npy: no .npy file", HasSubstr("stage 1 on b: no memory"), ""));
  EXPECT_GT(kept_.sums[3], 0);
}

TEST_F(RequestStreamTest, MicroBatchesAreOneRequest) {
  add("five", 5);
  add("one", 1);
  add("four", 4);
  ASSERT_FALSE(stream(2, 2).broken);
  EXPECT_THAT(kept_.names, ElementsAre("five", "one", "four"));
  EXPECT_THAT(kept_.sums, ElementsAre(200, 40, 160));
}

TEST_F(RequestStreamTest, WhatIsDoneWithAResultHoldsUpNoRequest) {
  for (int i = 0; i < 5; ++i) add("r" + std::to_string(i));
  // The first result is done with when the fourth request was asked for: the second and third had
  // come back.
  BoundedQueue<int> fourth(1);
  listed_.on_next = [&](std::size_t number) {
    if (number == 3) static_cast<void>(fourth.push(0));
  };
  bool came = false;
  kept_.on_first = [&] {
    came = fourth.pop(std::chrono::steady_clock::now() + std::chrono::seconds(30)).has_value();
  };
  ASSERT_FALSE(stream(2).broken);
  EXPECT_TRUE(came);
  EXPECT_EQ(kept_.names.size(), 5U);
}

TEST_F(RequestStreamTest, NothingIsSentWhoseAnswerNobodyWouldListenFor) {
  constexpr std::size_t kMost = 4;  // two windows
  for (int i = 0; i < 9; ++i) add("r" + std::to_string(i));
  // The first result is not done with until the stream holds all that it may.
  BoundedQueue<int> asked(1);
  BoundedQueue<int> too_many(9);
  bool is_done = false;
  listed_.on_next = [&](std::size_t number) {
    if (number == kMost - 1) static_cast<void>(asked.push(0));
    if (number == kMost) static_cast<void>(too_many.push(0));
  };
  kept_.on_first = [&] {
    EXPECT_TRUE(asked.pop(deadline_after(std::chrono::seconds(30))));
    EXPECT_FALSE(too_many.pop(deadline_after(std::chrono::milliseconds(100))));
    is_done = true;
  };
  ASSERT_FALSE(stream(2).broken);
  EXPECT_TRUE(is_done);
  EXPECT_EQ(kept_.names.size(), 9U);
}

TEST_F(RequestStreamTest, NothingIsNothing) {
  ASSERT_FALSE(stream(3).broken);
  EXPECT_TRUE(kept_.names.empty());
  EXPECT_EQ(stream(0).broken->code, ErrorCode::kInvalidArgument);
}

TEST_F(RequestStreamTest, ABrokenPipelineEndsItNamingTheRequest) {
  for (int i = 0; i < 9; ++i) add("r" + std::to_string(i));
  daemons_[1]->die_at_request(2);
  const StreamEnd end = stream(1);
  ASSERT_TRUE(end.broken);
  EXPECT_THAT(kept_.names, ElementsAre("r0", "r1"));
  EXPECT_THAT(end.broken->message, HasSubstr("request"));
  ASSERT_EQ(end.unanswered.size(), 1U);
  EXPECT_EQ(end.unanswered[0].name, "r2");
  EXPECT_TRUE(end.unanswered[0].body) << "kept to be sent again";
}

/// Refuses one message, as a link does whose peer takes no frame of its size.
class NarrowLink final : public transport::Link {
 public:
  NarrowLink(transport::Link& link, int refused) : link_(link), refused_(refused) {}
  Expected<transport::Sent> send(const wire::Message& message, Deadline deadline) override {
    if (refused_-- == 0) return fail(ErrorCode::kExhausted, "a frame of 9 bytes");
    return link_.send(message, deadline);
  }
  Expected<transport::Received> receive(Deadline deadline) override {
    return link_.receive(deadline);
  }
  void close() override { link_.close(); }
  std::string peer() const override { return link_.peer(); }
  transport::PeerIdentity identity() const override { return link_.identity(); }

 private:
  transport::Link& link_;
  int refused_;
};

TEST_F(RequestStreamTest, ARequestThatIsTooLargeForTheFirstDeviceFailsAlone) {
  for (int i = 0; i < 5; ++i) add("r" + std::to_string(i));
  NarrowLink source(deployment_->source(), 2);
  StreamOptions options;
  options.window = 2;
  options.first_stage = "stage 0 on a";
  const StreamEnd end =
      run_stream(source, deployment_->sink(), deployment_->pipeline(), options, listed_, kept_);
  EXPECT_FALSE(end.broken) << end.broken->message;
  EXPECT_THAT(kept_.names, ElementsAre("r0", "r1", "r2", "r3", "r4"));
  EXPECT_THAT(kept_.errors, ElementsAre("", "", "stage 0 on a: a frame of 9 bytes", "", ""));
}

TEST_F(RequestStreamTest, ADeadDeviceIsTheCauseAndNotTheLinkThatWasClosedForIt) {
  add("r0");
  add("r1");
  FullLink source;
  const auto ends = test::MemoryTransport::pair();
  StreamOptions options;
  options.window = 2;
  options.request_timeout = std::chrono::milliseconds(50);
  const StreamEnd end = run_stream(source, *ends.first, 1, options, listed_, kept_);
  ASSERT_TRUE(end.broken);
  EXPECT_EQ(end.broken->code, ErrorCode::kTimeout);
  EXPECT_EQ(end.unanswered.front().name, "r0");
}

}  // namespace
}  // namespace pareto::load
