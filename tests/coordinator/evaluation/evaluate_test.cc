#include "coordinator/evaluation/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "coordinator/data/open_data_set.h"
#include "coordinator/evaluation/accuracy.h"
#include "coordinator/evaluation/sample_stream.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::evaluation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(EvenlySpaced, LeavesEqualGaps) {
  EXPECT_THAT(evenly_spaced(5, 0), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(evenly_spaced(5, 9), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(evenly_spaced(9, 3), ElementsAre(1, 4, 7));
  EXPECT_THAT(evenly_spaced(10, 1), ElementsAre(5));
  const auto many = evenly_spaced(50'000, 999);
  EXPECT_EQ(many.size(), 999U);
  for (std::size_t i = 1; i < many.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(many[i] - many[i - 1]), 50, 1.01);
  }
}

/// Made-up samples, of which one may be broken.
class Samples : public data::DataSet {
 public:
  explicit Samples(std::int64_t size, std::int64_t broken = -1) : broken_(broken) {
    data_ = data::open_data_set("synthetic",
                                {.input_shape = {3, 64, 64}, .classes = 10, .samples = size})
                .value();
  }
  std::string title() const override { return data_->title(); }
  std::int64_t size() const override { return data_->size(); }
  std::int64_t classes() const override { return data_->classes(); }
  const std::vector<std::string>& class_names() const override { return data_->class_names(); }
  Expected<data::Sample> sample(std::int64_t index) const override {
    if (index == broken_) return fail(ErrorCode::kCorrupt, "cat/broken.jpg: is a damaged JPEG");
    return data_->sample(index);
  }
  std::vector<std::int64_t> all() const { return evenly_spaced(size(), 0); }

 private:
  std::int64_t broken_;
  std::unique_ptr<data::DataSet> data_;
};

TEST(SampleBatches, TheLastOneIsFilledUp) {
  const Samples data(7);
  const SampleBatches batches(data, data.all(), 3);
  EXPECT_EQ(batches.count(), 3U);
  EXPECT_EQ(batches.samples(), 7U);
  const LabelledBatch last = batches.read(2).value();
  EXPECT_THAT(last.labels, ElementsAre(data.sample(6)->label));
  const Tensor& inputs = *last.inputs.at(0).get_if<Tensor>();
  EXPECT_EQ(inputs.shape(), (Shape{3, 3, 64, 64}));
  const std::size_t bytes = inputs.size_bytes() / 3;
  EXPECT_TRUE(std::ranges::equal(inputs.bytes().first(bytes), inputs.bytes().last(bytes)));
}

/// Answers, one sample after the other.
std::vector<Answer> answers_one_by_one(const model::Model& model, const Samples& data) {
  std::vector<Answer> answers;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    const data::Batch batch = data::make_batch(data, {i}).value();
    const auto outputs = model.run_whole(batch.inputs).value();
    answers.push_back(answers_of(outputs, std::vector{data.sample(i)->label})->front());
  }
  return answers;
}

TEST(Evaluate, TheUncutModelAnswersEverySample) {
  const model::Model model = test::small_model();
  const Samples data(7);
  std::vector<std::size_t> seen;
  const auto evaluation = evaluate_uncut(model, SampleBatches(data, data.all(), 3),
                                         [&](std::size_t done) { seen.push_back(done); });
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_THAT(seen, ElementsAre(3, 6, 7));
  const std::vector<Answer> expected = answers_one_by_one(model, data);
  ASSERT_EQ(evaluation->answers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(evaluation->answers[i].place, expected[i].place) << i;
  }
}

TEST(Evaluate, ABrokenSampleEndsItByName) {
  const model::Model model = test::small_model();
  const Samples data(7, 4);
  const auto evaluation = evaluate_uncut(model, SampleBatches(data, data.all(), 2));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(evaluation.error().message, HasSubstr("cat/broken.jpg"));
}

/// Answers each request of a stream as a pipeline of the whole model would. Returns how many there
/// were.
int answer_all(const model::Model& model, SampleStream& stream) {
  int requests = 0;
  while (auto request = stream.next()) {
    ++requests;
    load::StreamResult result;
    result.name = request->name;
    if (request->body) {
      // The first shard's inputs are the model's: there is one.
      result.outputs = Value(Tuple{model.run_whole(request->body->get_if<Tuple>()->items).value()});
    } else {
      result.outputs = tl::unexpected(request->body.error());
    }
    stream.done(std::move(result));
  }
  return requests;
}

TEST(Evaluate, RequestsAndResultsOfAStreamBelongTogether) {
  const model::Model model = test::small_model();
  cluster::ModelWorkload workload(model);
  const Samples data(8);
  const SampleBatches batches(data, data.all(), 3);
  const OnAnswered nobody;
  SampleStream stream(batches, workload, nobody);
  EXPECT_EQ(answer_all(model, stream), 3);
  const auto answers = stream.take_answers();
  ASSERT_TRUE(answers) << answers.error().message;
  const auto uncut = evaluate_uncut(model, batches);
  const Agreement agreement = agreement_of(uncut->answers, *answers);
  EXPECT_EQ(agreement.bits.count, 8);
  EXPECT_EQ(agreement.best.of, 8);
}

TEST(Evaluate, AStreamEndsAtTheFirstFailure) {
  const model::Model model = test::small_model();
  cluster::ModelWorkload workload(model);
  const Samples data(9, 3);
  const SampleBatches batches(data, data.all(), 2);
  const OnAnswered nobody;
  SampleStream stream(batches, workload, nobody);
  EXPECT_EQ(answer_all(model, stream), 2);
  const auto answers = stream.take_answers();
  ASSERT_FALSE(answers);
  EXPECT_THAT(answers.error().message, HasSubstr("cat/broken.jpg"));
}

TEST(Evaluate, APipelineThatReturnsSomethingElseIsRefused) {
  const model::Model model = test::small_model();
  cluster::ModelWorkload workload(model);
  const Samples data(2);
  const SampleBatches batches(data, data.all(), 2);
  const OnAnswered nobody;
  SampleStream stream(batches, workload, nobody);
  ASSERT_TRUE(stream.next());
  load::StreamResult result;
  result.outputs = Value(std::int64_t{1});
  stream.done(std::move(result));
  EXPECT_EQ(stream.take_answers().error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace pareto::evaluation
