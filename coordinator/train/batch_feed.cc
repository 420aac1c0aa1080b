#include "coordinator/train/batch_feed.h"

#include <new>
#include <system_error>
#include <utility>

namespace pareto::train {

void BatchFeed::start(std::vector<std::int64_t> indices) {
  auto read = [this, indices = std::move(indices)]() -> Expected<data::Batch> {
    try {
      return make_batch(data_, indices);
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::kExhausted, "no memory for a batch of {} samples", indices.size());
    }
  };
  try {
    reading_ = std::async(std::launch::async, read);
  } catch (const std::system_error&) {
    // The machine has no thread left: take() reads it.
    reading_ = std::async(std::launch::deferred, std::move(read));
  }
}

Expected<data::Batch> BatchFeed::take() {
  const TimePoint begun = clock_.now();
  auto batch = reading_.get();
  waited_s_ = to_seconds(clock_.now() - begun);
  return batch;
}

}  // namespace pareto::train
