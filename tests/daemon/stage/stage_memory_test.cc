// What a stage holds while its source is faster than it, or its sink slower: real stages and links,
// made-up shards.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"
#include "tests/support/tensor_memory.h"

namespace pareto::daemon {
namespace {

using test::connect_as;
using test::message_of;
using test::request_message;
using test::soon;

constexpr std::uint64_t kHeldPipeline = 5;
constexpr int kWindow = 8;
constexpr int kManyRequests = 5 * kWindow;
constexpr std::int64_t kLargeBytes = 256 << 10;
constexpr std::int64_t kSmallBytes = 64;
// What blocks are rounded up by, and the small tensors.
constexpr std::int64_t kConstant = kWindow * (4 << 10) + (64 << 10);

Tensor tensor_of(std::int64_t bytes) {
  const auto elements = bytes / static_cast<std::int64_t>(sizeof(float));
  return Tensor::allocate(DType::kFloat32, {1, elements}).value();
}

/// The progress of source, stage and sink; each waits for the others by it. Threads: any.
class Progress {
 public:
  void add(int& count) {
    const std::lock_guard lock(mutex_);
    ++count;
    changed_.notify_all();
  }
  void wait_for(const int& count, int wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count >= std::min(wanted, kManyRequests); });
  }
  int taken = 0;      ///< messages taken by the stage
  int completed = 0;  ///< results completed at the sink

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Gives a tensor of `output_bytes`, once `on_run` has returned.
class SlowRunner final : public runtime::ShardRunner {
 public:
  SlowRunner(std::int64_t output_bytes, std::function<void(int run)> on_run)
      : output_bytes_(output_bytes), on_run_(std::move(on_run)) {}
  Expected<std::vector<Value>> run(std::vector<Value>) override {
    on_run_(runs_++);
    return std::vector<Value>{Value(tensor_of(output_bytes_))};
  }
  Expected<runtime::ShardProfile> profile(std::vector<Value>, int,
                                          const std::vector<std::int64_t>&) override {
    return runtime::ShardProfile();
  }
  const runtime::LoadReport& report() const override { return report_; }

 private:
  const std::int64_t output_bytes_;
  const std::function<void(int)> on_run_;
  int runs_ = 0;
  runtime::LoadReport report_;
};

class StageMemory : public testing::Test {
 protected:
  void open(std::int64_t output_bytes, std::function<void(int run)> on_run) {
    transport_ = transport::make_transport("tcp").value();
    host_ = test::host_on(transport_, "127.0.0.1:0").value();
    // With two threads the receiving thread never computes, and so takes whatever has come.
    runtime::RunnerOptions options;
    options.threads = 2;
    auto shard = std::make_shared<LoadedShard>(
        "slow", test::make_shard(), options,
        std::make_unique<SlowRunner>(output_bytes, std::move(on_run)));
    // Queues that take the whole window: the most that a stage can hold.
    const std::string address =
        host_->open({{kHeldPipeline, 0, "", "tcp", "tcp", "", kWindow}, std::move(shard)})
            .value()
            .upstream;
    source_ =
        connect_as(*transport_, address, {kHeldPipeline, 0, control::Role::kUpstream}).value();
    sink_ = connect_as(*transport_, address, {kHeldPipeline, 0, control::Role::kSink}).value();
    ASSERT_TRUE(host_->start(kHeldPipeline, 0, soon()));
  }

  /// Sends every request as soon as the window has room for it, and knows when the stage has taken
  /// it: the pong comes behind it.
  void send_all(const Tensor& input) {
    for (int i = 0; i < kManyRequests; ++i) {
      progress_.wait_for(progress_.completed, i + 1 - kWindow);
      ASSERT_TRUE(source_->send(request_message(kHeldPipeline, i, Tuple{{input}}), soon()));
      ASSERT_TRUE(source_->send(message_of(wire::MessageKind::kPing, kHeldPipeline), soon()));
      ASSERT_TRUE(source_->receive(soon()));
      progress_.add(progress_.taken);
    }
  }

  /// Returns what tensors came to hold at most while all requests passed, beyond what they held
  /// before.
  std::int64_t peak_of_all(std::int64_t input_bytes, const std::function<void(int)>& on_receive) {
    const Tensor input = tensor_of(input_bytes);
    const auto before = pareto::test::tensor_bytes();
    pareto::test::forget_peak();
    const std::jthread source([&] { send_all(input); });
    for (int i = 0; i < kManyRequests; ++i) {
      on_receive(i);
      EXPECT_TRUE(sink_->receive(soon()));
      progress_.add(progress_.completed);
    }
    return static_cast<std::int64_t>(pareto::test::peak_tensor_bytes() - before);
  }

  Progress progress_;
  std::shared_ptr<transport::Transport> transport_;
  std::unique_ptr<StageHost> host_;
  std::unique_ptr<transport::Link> source_;
  std::unique_ptr<transport::Link> sink_;
};

TEST_F(StageMemory, AFasterSourceFillsNoMoreThanTheWindow) {
  // Computes one only when it has been given all that the window allows.
  open(kSmallBytes, [&](int run) { progress_.wait_for(progress_.taken, run + kWindow); });
  const std::int64_t peak = peak_of_all(kLargeBytes, [](int) {});
  EXPECT_GE(peak, kWindow * kLargeBytes);
  EXPECT_LE(peak, kWindow * kLargeBytes + kConstant);
}

TEST_F(StageMemory, ASlowerSinkFillsNoMoreThanTheWindow) {
  open(kLargeBytes, [](int) {});
  // Takes a result only when the stage has been given all that the window allows.
  const std::int64_t peak = peak_of_all(
      kSmallBytes, [&](int received) { progress_.wait_for(progress_.taken, received + kWindow); });
  EXPECT_GE(peak, kLargeBytes);
  // Two more: one that was sent a moment ago, and what the sink, which is in this process,
  // received.
  EXPECT_LE(peak, (kWindow + 2) * kLargeBytes + kConstant);
}

}  // namespace
}  // namespace pareto::daemon
