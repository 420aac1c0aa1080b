#include "client/report/train/train_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "client/report/train/train_curves.h"
#include "client/report/train/train_rows.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::milliseconds kMillisecond{1};

train::StepSums sums(std::int64_t steps, double loss, std::int64_t correct) {
  train::StepSums sums{.steps = steps,
                       .samples = 10 * steps,
                       .loss = 10 * static_cast<double>(steps) * loss,
                       .correct = correct,
                       .seconds = 0.02 * static_cast<double>(steps),
                       .stages = {}};
  sums.stages = {{.forward = 3 * kMillisecond * steps,
                  .bytes_sent = 2048 * static_cast<std::uint64_t>(steps),
                  .bytes_raw = 8192 * static_cast<std::uint64_t>(steps)},
                 {.backward = 5 * kMillisecond * steps, .waiting = 7 * kMillisecond * steps}};
  return sums;
}

/// Returns two epochs of four steps, on two devices.
TrainReport two_epochs() {
  TrainReport report;
  report.setup.plan.model = "net <&";
  report.setup.plan.splits = {"after:a"};
  report.setup.plan.stages = {{.device = "pi", .begin = 0, .end = 3},
                              {.device = "server", .begin = 3, .end = 9}};
  report.setup.data = {.spec = "cifar10:/data", .samples = 40, .classes = 10};
  report.setup.epochs = 2;
  report.setup.settings.optimiser = {.name = "sgd", .momentum = 0.9};
  report.devices = {"pi", "server"};
  report.progress.position = {.epoch = 2, .step_in_epoch = 0, .step = 8};
  for (std::int64_t i = 0; i < 8; ++i)
    report.progress.history.losses.add(i, 2.0 - 0.1 * static_cast<double>(i));
  report.progress.history.epochs = {
      {.epoch = 0,
       .step = 4,
       .learning_rate = 0.1,
       .sums = sums(4, 1.85, 10),
       .validation = train::Validation{.samples = 9, .correct = 3, .cross_entropy = std::nan("")}},
      {.epoch = 1,
       .step = 8,
       .learning_rate = 0.05,
       .sums = sums(4, 1.45, 20),
       .validation = train::Validation{.samples = 9, .correct = 6, .cross_entropy = 1.25}}};
  report.checkpoint = "run/step-8";
  report.outputs = {"net.pth"};
  return report;
}

TEST(TrainWriter, AnEpochIsALine) {
  const TrainReport report = two_epochs();
  const std::string line = train_epoch_line(report.progress.history.epochs[1], 2);
  EXPECT_THAT(line, AllOf(HasSubstr("2/2"), HasSubstr("1.4500"), HasSubstr("50.00 %"),
                          HasSubstr("1.2500"), HasSubstr("66.67 %"), HasSubstr("500")));
  EXPECT_EQ(line.size(), train_line_titles().size());
  EXPECT_THAT(train_epoch_line(report.progress.history.epochs[0], 2), HasSubstr("no number"));
}

TEST(TrainWriter, TheSummarySaysWhereTimeWent) {
  const std::string text = write_train_summary(two_epochs(), {});
  EXPECT_THAT(text, AllOf(HasSubstr("net <& on cifar10:/data"), HasSubstr("2 of 2 epochs, 8 steps"),
                          HasSubstr("20.00 ms in the mean, 500 samples/s"), HasSubstr("3.00"),
                          HasSubstr("7.00"), HasSubstr("2.00 KiB"), HasSubstr("8.00 KiB"),
                          HasSubstr("run/step-8"), HasSubstr("written     net.pth")));
}

TEST(TrainWriter, LinesOfJsonNameTheirEvent) {
  const TrainReport report = two_epochs();
  const json start = json::parse(train_start_json(report));
  EXPECT_EQ(start["event"], "start");
  EXPECT_EQ(start["devices"], json({"pi", "server"}));
  EXPECT_EQ(start["setup"]["data"]["samples"], 40);
  const json epoch = json::parse(train_epoch_json(report.progress.history.epochs[0]));
  EXPECT_EQ(epoch["stages"][0]["bytes_sent"], 4 * 2048);
  EXPECT_EQ(epoch["stages"][0]["bytes_raw"], 4 * 8192);
  EXPECT_EQ(epoch["accuracy"], 0.25);
  EXPECT_EQ(epoch["validation"]["cross_entropy"], nullptr);
  train::StepReport step{
      .epoch = 0, .step = 3, .outcome = {.loss = 0.5, .samples = 4, .stages = {}}};
  const json one = json::parse(train_step_json(step));
  EXPECT_EQ(one["loss"], 0.5);
  EXPECT_FALSE(one.contains("correct"));
  step.outcome.correct = 2;
  step.outcome.gradient_norm = 1.5;
  EXPECT_EQ(json::parse(train_step_json(step))["gradient_norm"], 1.5);
  const json end = json::parse(train_end_json(report));
  EXPECT_EQ(end["end"], "done");
  EXPECT_EQ(end["outputs"], json({"net.pth"}));
  TrainReport broken = report;
  broken.end = train::TrainingEnd::kNotFinite;
  broken.reason = "its loss is nan";
  EXPECT_EQ(json::parse(train_end_json(broken))["end"], "not_finite");
  EXPECT_EQ(json::parse(train_end_json(broken))["reason"], "its loss is nan");
}

TEST(TrainWriter, CsvHasARowForEachEpoch) {
  const std::string csv = train_csv(two_epochs());
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("\n2,8,0.05,1.45,0.500000,1.25,0.666667,40,500.000000,"));
}

TEST(TrainWriter, ThePageHasItsCurvesAndEscapesNames) {
  const auto page = train_page(two_epochs());
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, AllOf(HasSubstr("net &lt;&amp; on"), Not(HasSubstr("net <&")),
                           HasSubstr("epoch 2: 66.67 %"), HasSubstr("epoch 2: 1.2500"),
                           HasSubstr("Time of a step, by stage"), Not(HasSubstr("nan"))));
}

TEST(TrainWriter, ALossOfAnotherKindThanTheValidationsIsNotDrawnNextToIt) {
  TrainReport report = two_epochs();
  report.setup.loss = "mse";
  report.setup.validation = report.setup.data;
  EXPECT_THAT(train_curves_svg(report),
              AllOf(HasSubstr("epoch 2: 66.67 %"), Not(HasSubstr("epoch 2: 1.2500"))));
  const auto page = train_page(report);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, AllOf(HasSubstr("validation cross-entropy"), HasSubstr("not mse")));
}

TEST(TrainWriter, CodecsAreShownIfBytesCrossALink) {
  TrainReport report = two_epochs();
  report.setup.settings.gradient_codec = "int8";
  EXPECT_THAT(train_page(report).value(), HasSubstr("activations none, gradients int8"));
  for (train::EpochRecord& epoch : report.progress.history.epochs) {
    epoch.sums.stages[0].bytes_raw = epoch.sums.stages[0].bytes_sent;
  }
  EXPECT_THAT(write_train_summary(report, {}), Not(HasSubstr("without codecs")));
}

TEST(TrainWriter, ATrainingThatHasNotBegunHasAPageToo) {
  TrainReport report = two_epochs();
  report.progress = {};
  const auto page = train_page(report);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(train_curves_svg(report), AllOf(HasSubstr("<svg"), Not(HasSubstr("nan"))));
  EXPECT_THAT(write_train_summary(report, {}), HasSubstr("0 of 2 epochs"));
}

}  // namespace
}  // namespace pareto::report
