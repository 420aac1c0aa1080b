// A stage that trains, next to peers that a test plays.
#include "daemon/stage/training_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/control/training_message.h"
#include "daemon/stage/stage_host.h"
#include "runtime/training/trainer.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using control::TrainingPlace;
using testing::HasSubstr;
using wire::Message;
using wire::MessageKind;

constexpr std::uint64_t kTraining = 9;

/// Gives back what it gets, and says what it was asked to do.
class FakeTrainer final : public runtime::ShardRunner, public runtime::Trainer {
 public:
  FakeTrainer(plan::TrainingSettings settings, std::vector<std::string>& passes)
      : settings_(std::move(settings)), passes_(passes) {}

  Expected<std::vector<Value>> run(std::vector<Value> inputs) override {
    passes_.push_back("evaluate");
    return inputs;
  }
  Expected<runtime::ShardProfile> profile(std::vector<Value>, int,
                                          const std::vector<std::int64_t>&) override {
    return runtime::ShardProfile{};
  }
  const runtime::LoadReport& report() const override { return report_; }
  Trainer* trainer() override { return this; }
  const plan::TrainingSettings& settings() const override { return settings_; }
  Expected<plan::Activations> forward(std::uint32_t micro_batch,
                                      const plan::Activations& inputs) override {
    if (inputs.values.empty()) return fail(ErrorCode::kInvalidArgument, "no values");
    passes_.push_back("forward " + std::to_string(micro_batch));
    return inputs;
  }
  Expected<plan::Outcome> forward_to_loss(std::uint32_t micro_batch, const plan::Activations&,
                                          const plan::Target&) override {
    passes_.push_back("loss " + std::to_string(micro_batch));
    return plan::Outcome{0.5, 1};
  }
  Expected<plan::Gradients> backward(std::uint32_t micro_batch,
                                     plan::Gradients gradients) override {
    passes_.push_back("backward " + std::to_string(micro_batch));
    return gradients;
  }
  Expected<std::vector<plan::GradientNorm>> norms() override {
    return std::vector<plan::GradientNorm>{{"w", 2}};
  }
  Expected<plan::StepCommand> step(plan::StepCommand command) override {
    passes_.emplace_back("step");
    return command;
  }
  Expected<std::vector<plan::StateTensor>> state() override {
    return std::vector<plan::StateTensor>{};
  }

 private:
  const plan::TrainingSettings settings_;
  std::vector<std::string>& passes_;
  runtime::LoadReport report_;
};

/// One stage of two, whose peers are links of the test.
class TrainingStageTest : public testing::Test {
 protected:
  void open(std::uint32_t stage) {
    plan::TrainingSettings settings;
    settings.stage = stage;
    settings.stages = 2;
    runtime::RunnerOptions options;
    auto training = std::make_shared<runtime::TrainingOptions>();
    training->settings = settings;
    options.training = training;
    auto shard = std::make_shared<LoadedShard>("shard", test::make_shard(), options,
                                               std::make_unique<FakeTrainer>(settings, passes_));
    transport_ = transport::make_transport("inproc").value();
    host_ = test::host_on(transport_, "", "here").value();
    const std::string address = host_->addresses().at(0).address;
    ASSERT_TRUE(host_->open({{kTraining, 0, "", "inproc", "inproc", ""}, shard}));
    upstream_ =
        test::connect_as(*transport_, address, {kTraining, 0, control::Role::kUpstream}).value();
    if (connect_upstream_only_) return;
    downstream_ =
        test::connect_as(*transport_, address, {kTraining, 0, control::Role::kSink}).value();
    ASSERT_TRUE(host_->start(kTraining, 0, test::soon()));
  }

  static Message inputs(std::uint64_t step, std::uint32_t micro_batch, std::uint32_t count,
                        bool norms = false) {
    control::TrainingInputs made;
    made.activations.values = {test::filled(1)};
    made.micro_batches = count;
    made.wants_norms = norms;
    return control::train_message({kTraining, step, micro_batch}, std::move(made));
  }
  static Message gradients(std::uint64_t step, std::uint32_t micro_batch) {
    return control::gradient_message({kTraining, step, micro_batch}, {{test::filled(2)}, {}, {}});
  }
  void send_down(const Message& message) { ASSERT_TRUE(upstream_->send(message, test::soon())); }
  void send_up(const Message& message) { ASSERT_TRUE(downstream_->send(message, test::soon())); }
  static Message received(transport::Link& link) {
    auto got = link.receive(test::soon());
    EXPECT_TRUE(got) << got.error().message;
    return got ? std::move(got->message) : Message();
  }
  /// Waits until the stage says on the sink's link why it ends.
  std::string error() {
    for (;;) {
      const Message message = received(*downstream_);
      if (message.kind == MessageKind::kError) return control::error_of(message).message;
      if (message.kind != MessageKind::kTrain) return "none";
    }
  }

  bool connect_upstream_only_ = false;
  std::vector<std::string> passes_;  ///< read once the stage's messages came
  std::shared_ptr<transport::Transport> transport_;
  std::unique_ptr<StageHost> host_;
  std::unique_ptr<transport::Link> upstream_;
  std::unique_ptr<transport::Link> downstream_;
};

TEST_F(TrainingStageTest, PassesActivationsOnAndGradientsBack) {
  open(0);
  send_down(inputs(5, 0, 2, true));
  send_down(inputs(5, 1, 2, true));
  send_down(control::step_message({kTraining, 5, 0}, {}));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Message forward = received(*downstream_);
    EXPECT_EQ(forward.kind, MessageKind::kTrain);
    EXPECT_EQ(forward.sequence, i);
    EXPECT_EQ(forward.request, 5U);
  }
  send_up(gradients(5, 0));
  send_up(gradients(5, 1));
  const auto first = control::gradients_from(received(*upstream_));
  const auto last = control::gradients_from(received(*upstream_));
  ASSERT_TRUE(first && last);
  EXPECT_TRUE(first->norms.empty());
  EXPECT_EQ(last->norms.size(), 1U) << "behind the last micro-batch of the step";
  const auto step = control::step_from(received(*downstream_));
  ASSERT_TRUE(step);
  ASSERT_EQ(step->times.size(), 1U);
  EXPECT_GT(step->times[0].bytes_sent, 0U);
  EXPECT_EQ(step->times[0].bytes_raw, step->times[0].bytes_sent) << "nothing is encoded";
  EXPECT_EQ(passes_, (std::vector<std::string>{"forward 0", "forward 1", "backward 0", "backward 1",
                                               "step"}));
}

TEST_F(TrainingStageTest, TheLastStageWaitsForTargetsAndSaysTheLoss) {
  open(1);
  send_down(inputs(0, 0, 1));
  send_up(control::target_message({kTraining, 0, 0}, {test::filled(1), 1}));
  const auto outcome = control::outcome_from(received(*downstream_));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->loss, 0.5);
  EXPECT_EQ(received(*upstream_).kind, MessageKind::kGradient);
  send_down(control::step_message({kTraining, 0, 0}, {}));
  EXPECT_EQ(received(*downstream_).kind, MessageKind::kStep);
}

TEST_F(TrainingStageTest, EvaluatesBetweenSteps) {
  open(0);
  send_down(test::request_message(kTraining, 3, 1.5F));
  const Message answer = received(*downstream_);
  EXPECT_EQ(answer.kind, MessageKind::kValues);
  EXPECT_EQ(answer.request, 3U);
  EXPECT_EQ(passes_, std::vector<std::string>{"evaluate"});
}

TEST_F(TrainingStageTest, AnswersPingsOnBothLinks) {
  open(0);
  Message ping = test::message_of(MessageKind::kPing, kTraining);
  ping.body = transport::ping_body(64, transport::PingWay::kThere).value();
  EXPECT_TRUE(transport::ping(*upstream_, ping, test::soon()));
  EXPECT_TRUE(transport::ping(*downstream_, ping, test::soon()));
}

TEST_F(TrainingStageTest, MessagesThatDoNotFollowEndIt) {
  const std::vector<std::pair<std::vector<Message>, std::string>> cases{
      {{inputs(0, 1, 2)}, "step 0 begins with micro-batch 1"},
      {{inputs(0, 0, 2), inputs(0, 0, 2)}, "for micro-batch 0 of step 0 came"},
      {{inputs(0, 0, 2), inputs(1, 1, 2)}, "of step 1 came"},
      {{inputs(0, 0, 2), control::step_message({kTraining, 0, 0}, {})}, "a message of kind 11"},
      {{control::step_message({kTraining, 0, 0}, {})}, "between two steps"},
      {{gradients(0, 0)}, "between two steps"},
      {{test::message_of(MessageKind::kTrain, kTraining)}, "without its parts"},
      {{control::train_message({kTraining, 0, 0}, {})}, "no values"},
  };
  for (const auto& [messages, why] : cases) {
    SCOPED_TRACE(why);
    open(0);
    for (const Message& message : messages) send_down(message);
    EXPECT_THAT(error(), HasSubstr(why));
    // What was computed before may still come; then both links close.
    while (downstream_->receive(test::soon())) {
    }
    EXPECT_EQ(host_->status().at(0).state, control::StageState::kFailed);
    EXPECT_THAT(host_->status().at(0).failure, HasSubstr(why));
  }
}

TEST_F(TrainingStageTest, AMessageOfAnotherPipelineEndsIt) {
  open(0);
  Message message = inputs(0, 0, 1);
  message.pipeline = 1;
  send_down(message);
  EXPECT_FALSE(downstream_->receive(test::soon()));
  EXPECT_THAT(host_->status().at(0).failure, HasSubstr("a message of pipeline"));
}

TEST_F(TrainingStageTest, AnErrorBeforeItRunsEndsIt) {
  connect_upstream_only_ = true;
  open(0);
  send_down(control::error_message(kTraining, 0, {ErrorCode::kInternal, "it failed early"}));
  EXPECT_FALSE(upstream_->receive(test::soon()));
  EXPECT_THAT(host_->status().at(0).failure, HasSubstr("it failed early"));
}

TEST_F(TrainingStageTest, ABrokenLinkWakesIt) {
  open(0);
  send_down(inputs(0, 0, 1));
  EXPECT_EQ(received(*downstream_).kind, MessageKind::kTrain);
  downstream_->close();
  EXPECT_FALSE(upstream_->receive(test::soon())) << "it does not wait for gradients for ever";
  EXPECT_THAT(host_->status().at(0).failure, HasSubstr("downstream link"));
}

TEST_F(TrainingStageTest, EndsInOrderAndKeepsItsShard) {
  open(0);
  const auto changed = host_->change_shard(kTraining, 0, nullptr);
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().message, HasSubstr("keeps its shard"));
  send_down(test::message_of(MessageKind::kEnd, kTraining));
  EXPECT_EQ(received(*downstream_).kind, MessageKind::kEnd);
  const auto closed = host_->close(kTraining, 0);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->state, control::StageState::kClosed) << closed->failure;
}

}  // namespace
}  // namespace pareto::daemon
