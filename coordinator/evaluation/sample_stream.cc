#include "coordinator/evaluation/sample_stream.h"

#include <utility>

namespace pareto::evaluation {

std::optional<load::StreamRequest> SampleStream::next() {
  if (ended_ || next_ >= batches_.count()) return std::nullopt;
  load::StreamRequest request;
  request.name = fmt::format("{} of {}", next_ + 1, batches_.count());
  request.batch = batches_.batch();
  auto inputs = read_next();
  ++next_;
  if (inputs) {
    request.body = Value(Tuple{*std::move(inputs)});
  } else {
    // Nothing is sent of it; those in flight come back first.
    ended_ = true;
    request.body = tl::unexpected(std::move(inputs).error());
  }
  return request;
}

Expected<std::vector<Value>> SampleStream::read_next() {
  auto batch = batches_.read(next_);
  {
    const std::lock_guard lock(mutex_);
    labels_.push_back(batch ? std::move(batch->labels) : std::vector<std::int64_t>());
  }
  if (!batch) return tl::unexpected(std::move(batch).error());
  return workload_.to_first_shard(batch->inputs);
}

std::vector<std::int64_t> SampleStream::take_labels() {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> labels = std::move(labels_.front());
  labels_.pop_front();
  return labels;
}

void SampleStream::done(load::StreamResult result) {
  const auto answers = read(result, take_labels());
  if (!answers) {
    if (!failure_) failure_ = answers.error();
    ended_ = true;
    return;
  }
  answers_.insert(answers_.end(), answers->begin(), answers->end());
  if (on_answered_) on_answered_(answers_.size());
}

Expected<std::vector<Answer>> SampleStream::read(const load::StreamResult& result,
                                                 const std::vector<std::int64_t>& labels) {
  if (!result.outputs) return tl::unexpected(result.outputs.error());
  const auto* tuple = result.outputs->get_if<Tuple>();
  if (tuple == nullptr) return fail(ErrorCode::kCorrupt, "the pipeline's result is no tuple");
  PARETO_ASSIGN(const std::vector<Value> outputs, workload_.from_last_shard(tuple->items));
  return answers_of(outputs, labels);
}

Expected<std::vector<Answer>> SampleStream::take_answers() {
  if (failure_) return tl::unexpected(*failure_);
  return std::move(answers_);
}

}  // namespace pareto::evaluation
