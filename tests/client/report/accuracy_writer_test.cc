#include "client/report/accuracy_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/json_schema.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

EvaluationReport some_report(bool with_pipeline) {
  EvaluationReport report;
  report.model = "resnet18";
  report.data = "photos/val";
  report.samples = 200;
  report.of = 1000;
  report.classes = 10;
  report.batch = 8;
  report.uncut = {{{150, 200}, statistics::Proportion{190, 200}}, std::chrono::seconds(4)};
  if (!with_pipeline) return report;
  EvaluatedPipeline& pipeline = report.pipeline.emplace();
  pipeline.plan.model = "resnet18";
  pipeline.plan.batch = 8;
  pipeline.plan.splits = {"after:layer2"};
  pipeline.plan.stages = {{"pi", 0, 30}, {"server", 30, 69}};
  pipeline.plan.codecs = {"int8"};
  pipeline.plan.transport = "tcp";
  pipeline.window = 3;
  pipeline.figures = {{{148, 200}, statistics::Proportion{190, 200}}, std::chrono::seconds(2)};
  pipeline.agreement = {{196, 200}, {17, 200}};
  return report;
}

TEST(AccuracyWriter, TableHasSharesAndExactIntervals) {
  const std::string table = write_accuracy_table(some_report(true), {});
  EXPECT_THAT(table, AllOf(HasSubstr("photos/val: 200 of 1000 samples, evenly spaced, 10 classes"),
                           HasSubstr("75.00 %"), HasSubstr("[68.40, 80.84]"), HasSubstr("95.00 %"),
                           HasSubstr("98.00 %"), HasSubstr("after:layer2"), HasSubstr("int8"),
                           HasSubstr("17 of 200 samples")));
}

TEST(AccuracyWriter, TableOfTheModelOnlySaysNothingOfPipelines) {
  EvaluationReport report = some_report(false);
  report.of = 200;
  report.uncut.accuracy.top5.reset();
  const std::string table = write_accuracy_table(report, {});
  EXPECT_THAT(table, AllOf(HasSubstr("photos/val: 200 samples"), Not(HasSubstr("agrees")),
                           Not(HasSubstr("top-5")), Not(HasSubstr("pipeline"))));
}

TEST(AccuracyWriter, TableSaysThatAllBitsAreEqual) {
  EvaluationReport report = some_report(true);
  report.pipeline->agreement.bits.count = 200;
  EXPECT_THAT(write_accuracy_table(report, {}),
              HasSubstr("all samples have the uncut model's scores"));
}

TEST(AccuracyWriter, JsonKeepsItsSchema) {
  for (const bool with_pipeline : {false, true}) {
    json document = json::parse(write_accuracy_json(some_report(with_pipeline)));
    EXPECT_THAT(test::violations(test::golden_schema("evaluate"), document), IsEmpty());
    EXPECT_EQ(document["uncut"]["top1"]["share"], 0.75);
    EXPECT_EQ(document.contains("pipeline"), with_pipeline);
    document["uncut"].erase("top1");
    EXPECT_EQ(test::violations(test::golden_schema("evaluate"), document).size(), 1U);
  }
}

}  // namespace
}  // namespace pareto::report
