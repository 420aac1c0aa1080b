#include "coordinator/modes/mode_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/modes/fallback.h"
#include "partitioner/model/zoo/losses.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::modes {
namespace {

using testing::HasSubstr;

Expected<model::Model> small_network() {
  model::zoo::ModelOptions small;
  small.num_classes = 10;
  small.input = {{{3, 64, 64}, DType::kFloat32}};
  return model::zoo::open_model("squeezenet1_0", small);
}

const ModeFigures& row_of(const ModeBenchResult& result, std::string_view work,
                          std::string_view mode) {
  const auto found = std::ranges::find_if(
      result.rows, [&](const ModeFigures& row) { return row.work == work && row.mode == mode; });
  EXPECT_NE(found, result.rows.end()) << work << " " << mode;
  return *found;
}

TEST(ModeBench, MeasuresEachPartInEachMode) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  ModeBenchOptions options;
  options.cut = model::find_cut(model->graph(), model->split_points(), "after:features.6").value();
  options.duration = Nanoseconds(0);
  options.rounds = 3;
  options.engine = "onednn";
  std::size_t seen = 0;
  const auto result =
      bench_modes(*model, options, [&](const std::string& now, std::size_t, std::size_t) {
        EXPECT_FALSE(now.empty());
        ++seen;
      });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(seen, 6U);
  EXPECT_EQ(result->rounds, 3);
  EXPECT_TRUE(result->by_processor);
  for (const char* mode : {"eager", "optimised"}) {
    for (const char* work : {"direct", "prefix + suffix", "prefix", "suffix"}) {
      const ModeFigures& row = row_of(*result, work, mode);
      EXPECT_GT(row.prepare.count(), 0);
      EXPECT_GT(row.best.count(), 0);
      EXPECT_GE(row.median, row.best);
      EXPECT_GT(row.held_bytes, 0U);
      EXPECT_EQ(row.engine, std::string(mode) == "eager" ? "plain" : "onednn");
      EXPECT_EQ(row.paid_after.has_value() && row.mode == "eager", false);
    }
    EXPECT_EQ(row_of(*result, "direct", mode).over_direct, 1);
    // Weights are on one side each.
    EXPECT_EQ(row_of(*result, "direct", "eager").held_bytes,
              row_of(*result, "prefix", "eager").held_bytes +
                  row_of(*result, "suffix", "eager").held_bytes);
    EXPECT_EQ(row_of(*result, "prefix + suffix", mode).prepare,
              row_of(*result, "prefix", mode).prepare + row_of(*result, "suffix", mode).prepare);
  }
}

TEST(ModeBench, MeasuresTrainingWithALoss) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  const auto loss = model::zoo::open_loss("cross-entropy", *model);
  ASSERT_TRUE(loss) << loss.error().message;
  ModeBenchOptions options;
  options.cut = model::find_cut(model->graph(), model->split_points(), "after:features.6").value();
  options.duration = Nanoseconds(0);
  options.rounds = 2;
  options.batch = 2;
  options.engine = "plain";
  options.loss = &*loss;
  const auto result = bench_modes(*model, options, {});
  ASSERT_TRUE(result) << result.error().message;
  for (const char* work : {"direct", "prefix + suffix", "suffix", "prefix backward, values kept",
                           "prefix backward, computed again"}) {
    const ModeFigures& row = row_of(*result, work, "training");
    EXPECT_GT(row.best.count(), 0) << work;
    EXPECT_GT(row.held_bytes, 0U) << work;
    EXPECT_FALSE(row.paid_after) << work;
  }
  EXPECT_EQ(row_of(*result, "direct", "training").over_direct, 1);
  EXPECT_EQ(row_of(*result, "direct", "eager").over_direct, 1) << "of the same mode";
}

TEST(ModeBench, FailsForAnEngineThatThereIsNot) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  ModeBenchOptions options;
  options.cut = model::find_cut(model->graph(), model->split_points(), "after:features.6").value();
  options.engine = "quick";
  const auto result = bench_modes(*model, options, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("unknown engine \"quick\""));
}

TEST(Fallback, IsSaidWithItsReason) {
  EXPECT_EQ(fallback_text("onednn", "", {{"plain", ""}, {"onednn", ""}}), "");
  EXPECT_EQ(fallback_text("plain", "", {}), "");
  EXPECT_EQ(fallback_text("plain", "", {{"plain", ""}, {"onednn", ""}}),
            "plain is the fastest engine here");
  EXPECT_EQ(fallback_text("plain", "", {{"plain", ""}, {"onednn", "no such thing"}}),
            "not used: onednn: no such thing");
  EXPECT_EQ(fallback_text("plain", "", {{"plain", "examples do not fit together"}}),
            "not used: plain: examples do not fit together");
  EXPECT_EQ(fallback_text("onednn", "bf16 is not faster here", {{"onednn", ""}}),
            "bf16 is not faster here");
}

}  // namespace
}  // namespace pareto::modes
