#include "coordinator/train/training_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TrainingSetup setup_of_two_stages() {
  TrainingSetup setup;
  setup.model = sha256("model");
  setup.plan.model = "resnet18";
  setup.plan.splits = {"after:layer2"};
  setup.plan.stages = {{.device = "a", .begin = 0, .end = 30},
                       {.device = "b", .begin = 30, .end = 69}};
  setup.data = {.spec = "cifar10:/data", .samples = 50000, .classes = 10, .mark = sha256("data")};
  return setup;
}

TEST(TrainingSetup, PlacesMayDiffer) {
  const TrainingSetup one = setup_of_two_stages();
  TrainingSetup other = one;
  other.plan.stages[0].device = "c";
  other.plan.transport = "shm";
  other.data.spec = "cifar10:/elsewhere";
  other.source.model = "/elsewhere/model.pt";
  other.epochs = 20;
  EXPECT_THAT(differences(one, other), IsEmpty());
}

TEST(TrainingSetup, DifferencesAreNamed) {
  const TrainingSetup one = setup_of_two_stages();
  const auto expect = [&](const char* words, const auto& change) {
    TrainingSetup other = one;
    change(other);
    EXPECT_THAT(differences(one, other), ElementsAre(HasSubstr(words))) << words;
  };
  expect("another model: the checkpoint has resnet18 (",
         [](auto& s) { s.model = sha256("other"); });
  expect(
      "another plan: the checkpoint has after:layer2 (operators [0, 30) | [30, 69)), this training "
      "has after:layer3",
      [](auto& s) {
        s.plan.splits = {"after:layer3"};
        s.plan.stages[0].end = s.plan.stages[1].begin = 45;
      });
  expect("another optimiser", [](auto& s) { s.settings.optimiser.momentum = 0.9; });
  expect("another learning rate", [](auto& s) { s.rate.base = 0.1; });
  expect("another loss", [](auto& s) { s.loss = kMeanSquares; });
  expect("another clip norm", [](auto& s) { s.clip_norm = 1; });
  expect("another batch", [](auto& s) { s.batches.batch = 64; });
  expect("micro-batches", [](auto& s) { s.micro_batches = 2; });
  expect("another seed", [](auto& s) { s.batches.seed = 2; });
  expect("shuffling", [](auto& s) { s.batches.shuffle = false; });
  expect("other frozen parts", [](auto& s) { s.settings.frozen = {"layer1"}; });
  expect("precision", [](auto& s) { s.settings.bf16 = true; });
  expect("another codec", [](auto& s) { s.plan.codecs = {"fp16"}; });
  expect("other data", [](auto& s) { s.data.samples = 10; });
  expect("other data", [](auto& s) { s.data.mark = sha256("others"); });
  expect("threads", [](auto& s) { s.plan.settings.threads = 2; });
}

TEST(TrainingSetup, ACosineEndsWithItsEpochs) {
  TrainingSetup one = setup_of_two_stages();
  one.rate.schedule = kCosineRate;
  TrainingSetup other = one;
  other.epochs = 20;
  EXPECT_THAT(differences(one, other), ElementsAre(HasSubstr("end of the cosine")));
}

TEST(TrainingSetup, ALossFileIsKnownByItsBytes) {
  TrainingSetup one = setup_of_two_stages();
  one.loss = "loss.pt";
  one.loss_file = sha256("loss");
  TrainingSetup other = one;
  other.loss = "elsewhere/loss.pt";
  EXPECT_THAT(differences(one, other), IsEmpty());
  other.loss_file = sha256("other");
  EXPECT_THAT(differences(one, other), ElementsAre(HasSubstr("another loss")));
}

TEST(TrainingSetup, NumbersOutOfRangeAreRefused) {
  const auto refused = [](const auto& change) {
    TrainingSetup setup = setup_of_two_stages();
    change(setup);
    return !check_setup(setup).has_value();
  };
  EXPECT_TRUE(check_setup(setup_of_two_stages()));
  EXPECT_TRUE(refused([](auto& s) { s.epochs = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.batches.batch = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.micro_batches = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.micro_batches = 33; }));
  EXPECT_TRUE(refused([](auto& s) { s.clip_norm = -1; }));
  EXPECT_TRUE(refused([](auto& s) { s.rate.base = 0; }));
}

}  // namespace
}  // namespace pareto::train
