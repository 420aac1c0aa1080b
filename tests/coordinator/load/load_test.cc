#include "coordinator/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <thread>

#include "core/base/bounded_queue.h"
#include "core/base/printable.h"
#include "core/wire/parts.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::load {
namespace {

using testing::HasSubstr;
using wire::Message;
using wire::MessageKind;

/// A pipeline of one stage: what `answer` makes of a request goes to the sink; nothing where it
/// returns none.
class LoadTest : public testing::Test {
 protected:
  using Answer = std::function<std::optional<Message>(Message)>;

  void serve(Answer answer) {
    stage_ = std::jthread([this, answer = std::move(answer)] {
      while (auto received = stage_in_->receive()) {
        if (auto message = answer(std::move(received->message))) {
          if (!stage_out_->send(*message)) break;
        }
      }
      stage_out_->close();
    });
  }
  void TearDown() override {
    source_->close();
    sink_->close();
  }

  std::unique_ptr<transport::Link> source_, stage_in_, stage_out_, sink_;
  std::jthread stage_;

  LoadTest() {
    std::tie(source_, stage_in_) = test::MemoryTransport::pair();
    std::tie(stage_out_, sink_) = test::MemoryTransport::pair();
  }
};

LoadOptions options(int window, int requests) {
  LoadOptions result;
  result.window = window;
  result.requests = requests;
  return result;
}

TEST_F(LoadTest, CountsRequestsAndKeepsTheirTimes) {
  serve([](Message message) {
    EXPECT_EQ(message.pipeline, 77U);
    wire::StageTimes times;
    times.compute = Nanoseconds(3);
    message.timeline.push_back(times);
    return message;
  });
  Load load(*source_, *sink_, 77);
  const auto result = load.run(Value(std::int64_t{5}), options(3, 20)).value();
  ASSERT_EQ(result.samples.size(), 20U);
  EXPECT_TRUE(bit_equal(result.last_output, Value(std::int64_t{5})));
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    EXPECT_EQ(result.samples[i].request, i);
    EXPECT_GE(result.samples[i].sink.arrived, result.samples[i].sent);
    EXPECT_LE(result.samples[i].sink.arrived, result.samples[i].completed);
    EXPECT_GT(result.samples[i].latency().count(), 0);
    EXPECT_EQ(result.samples[i].timeline.at(0).compute, Nanoseconds(3));
    EXPECT_GE(result.samples[i].completed, result.samples[i > 0 ? i - 1 : 0].completed);
  }
}

TEST_F(LoadTest, ResultsThatTravelInPartsArePutTogether) {
  serve([&](Message message) {
    EXPECT_TRUE(stage_out_->send(wire::part_message(77, message.request, 0, 1, "late")));
    message.sequence = 1;
    message.body = Tuple{{"early", None{}}};
    return message;
  });
  Load load(*source_, *sink_, 77);
  const auto result = load.run(Value(None{}), options(2, 5));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->samples.size(), 5U);
  EXPECT_TRUE(bit_equal(result->last_output, Tuple{{"early", "late"}}));
}

Tensor bytes_of(std::vector<std::uint8_t> numbers) {
  Tensor tensor =
      Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(numbers.size())}).value();
  std::ranges::copy(std::as_bytes(std::span(numbers)), tensor.mutable_bytes().begin());
  return tensor;
}

TEST_F(LoadTest, MicroBatchesAreOneRequest) {
  std::vector<std::int64_t> rows;
  serve([&](Message message) {
    rows.push_back(tensors_of(message.body).at(0)->shape().front());
    wire::StageTimes times;
    times.compute = Nanoseconds(3);
    message.timeline.push_back(times);
    return message;
  });
  Load load(*source_, *sink_, 77);
  LoadOptions whole = options(2, 4);
  whole.micro_batches = {2, 2, 1};
  const Value request = Tuple{{bytes_of({1, 2, 3, 4, 5})}};
  const auto result = load.run(request, whole);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->samples.size(), 4U);
  EXPECT_TRUE(bit_equal(result->last_output, request));
  EXPECT_THAT(rows, testing::ElementsAre(2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1));
  for (std::size_t i = 0; i < result->samples.size(); ++i) {
    const RequestSample& sample = result->samples[i];
    EXPECT_EQ(sample.request, 3 * i);
    EXPECT_EQ(sample.timeline.at(0).compute, Nanoseconds(9));
    EXPECT_LT(sample.sent, sample.completed);
  }
  // The next load goes on behind all messages, and cuts where requests begin.
  const auto next = load.run(request, whole);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->samples.front().request, 12U);
  EXPECT_TRUE(bit_equal(next->last_output, request));
}

TEST_F(LoadTest, MicroBatchesThatDoNotFitSendNothing) {
  Load load(*source_, *sink_, 1);
  LoadOptions whole = options(1, 1);
  whole.micro_batches = {2, 2};
  const auto result = load.run(Tuple{{bytes_of({1, 2, 3})}}, whole);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(LoadTest, NumbersGoOnWhereTheyStopped) {
  std::vector<std::uint64_t> seen;
  serve([&](Message message) {
    seen.push_back(message.request);
    return message;
  });
  Load load(*source_, *sink_, 1);
  ASSERT_TRUE(load.run(Value(None{}), options(2, 3)));
  ASSERT_TRUE(load.run(Value(None{}), options(1, 2)));
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(LoadTest, KeepsAtMostTheWindowInFlight) {
  constexpr int kWindow = 4;
  int held = 0;
  int most = 0;
  std::vector<Message> waiting;
  // Answers only once the window is full: fewer in flight would never come back, more would be
  // seen.
  serve([&](Message message) -> std::optional<Message> {
    most = std::max(most, ++held);
    waiting.push_back(std::move(message));
    if (held < kWindow) return std::nullopt;
    for (std::size_t i = 0; i + 1 < waiting.size(); ++i) {
      EXPECT_TRUE(stage_out_->send(waiting[i]));
    }
    Message last = std::move(waiting.back());
    waiting.clear();
    held = 0;
    return last;
  });
  Load load(*source_, *sink_, 1);
  EXPECT_EQ(load.run(Value(None{}), options(kWindow, 40)).value().samples.size(), 40U);
  EXPECT_EQ(most, kWindow);
}

TEST_F(LoadTest, ARequestInMicroBatchesMakesRoomWhenAllOfItIsBack) {
  serve([](Message message) { return message; });
  Load load(*source_, *sink_, 1);
  LoadOptions alone = options(1, 40);
  alone.micro_batches = {1, 1, 1};
  const auto samples = load.run(Tuple{{bytes_of({1, 2, 3})}}, alone).value().samples;
  ASSERT_EQ(samples.size(), 40U);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].sent, samples[i - 1].completed) << "request " << i;
  }
}

TEST_F(LoadTest, ARequestsErrorIsItsFailure) {
  serve([](Message message) {
    if (message.request == 3) {
      message.kind = MessageKind::kError;
      message.body = Tuple{{"exhausted", "stage 1 on pi-2: no memory\x1b[2J\nfine"}};
    }
    return message;
  });
  Load load(*source_, *sink_, 1);
  const auto result = load.run(Value(None{}), options(2, 10));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(result.error().message, HasSubstr("request 3"));
  EXPECT_THAT(result.error().message, HasSubstr("stage 1 on pi-2: no memory"));
  EXPECT_TRUE(is_printable(result.error().message)) << "whatever a daemon says";
}

TEST_F(LoadTest, ALostRequestFailsAtItsDeadline) {
  serve([](Message message) -> std::optional<Message> {
    if (message.request == 2) return std::nullopt;
    return message;
  });
  Load load(*source_, *sink_, 1);
  LoadOptions short_deadline = options(1, 10);
  short_deadline.request_timeout = std::chrono::milliseconds(50);
  const auto result = load.run(Value(None{}), short_deadline);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(result.error().message, HasSubstr("request 2"));
}

TEST_F(LoadTest, APeerThatGoesAwayWakesBothSides) {
  serve([this](Message message) -> std::optional<Message> {
    if (message.request < 3) return message;
    stage_in_->close();
    return std::nullopt;
  });
  Load load(*source_, *sink_, 1);
  const auto result = load.run(Value(None{}), options(1, 10));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().code, ErrorCode::kTimeout);
}

TEST_F(LoadTest, AResultOfAnotherRequestIsCorrupt) {
  serve([](Message message) {
    message.request += 7;
    return message;
  });
  Load load(*source_, *sink_, 1);
  const auto result = load.run(Value(None{}), options(1, 1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
}

TEST_F(LoadTest, RefusesAnEmptyWindow) {
  Load load(*source_, *sink_, 1);
  EXPECT_EQ(load.run(Value(None{}), options(0, 1)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load.run(Value(None{}), options(1, 0)).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(LoadTest, GoesOnUntilItsDurationHasPassed) {
  serve([](Message message) { return message; });
  Load load(*source_, *sink_, 1);
  LoadOptions timed = options(2, 1);
  timed.duration = std::chrono::milliseconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto result = load.run(Value(None{}), timed).value();
  EXPECT_GE(std::chrono::steady_clock::now() - start, *timed.duration);
  EXPECT_GT(result.samples.size(), 1U);
}

}  // namespace
}  // namespace pareto::load
