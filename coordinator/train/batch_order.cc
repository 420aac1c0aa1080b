#include "coordinator/train/batch_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "coordinator/train/mixed_bits.h"

namespace pareto::train {

Expected<BatchOrder> BatchOrder::create(std::int64_t samples, const BatchOptions& options) {
  if (samples < 1) return fail(ErrorCode::kInvalidArgument, "there are no samples to train on");
  if (options.batch < 1) {
    return fail(ErrorCode::kInvalidArgument, "a batch of {}: at least 1 sample is needed",
                options.batch);
  }
  const std::int64_t whole = samples / options.batch;
  const bool has_rest = samples % options.batch != 0;
  const std::int64_t steps = whole + (has_rest && !options.drop_smaller ? 1 : 0);
  if (steps == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "a batch of {} and {} samples: no batch is left if smaller ones are dropped",
                options.batch, samples);
  }
  return BatchOrder(samples, options, steps);
}

void BatchOrder::shuffle(std::int64_t epoch) {
  if (shuffled_epoch_ == epoch) return;
  shuffled_epoch_ = epoch;
  order_.resize(static_cast<std::size_t>(samples_));
  std::iota(order_.begin(), order_.end(), 0);
  const std::uint64_t start =
      mixed_bits(options_.seed ^ mixed_bits(static_cast<std::uint64_t>(epoch)));
  std::vector<std::uint64_t> keys(order_.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = mixed_bits(start + i);
  std::ranges::sort(order_, {}, [&](std::int64_t sample) {
    return std::pair(keys[static_cast<std::size_t>(sample)], sample);
  });
}

std::vector<std::int64_t> BatchOrder::batch(std::int64_t epoch, std::int64_t step) {
  const std::int64_t begin = step * options_.batch;
  const std::int64_t end = std::min(begin + options_.batch, samples_);
  if (!options_.shuffle) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    return indices;
  }
  shuffle(epoch);
  return {order_.begin() + begin, order_.begin() + end};
}

std::vector<std::int64_t> micro_batch_sizes(std::int64_t samples, std::int64_t parts) {
  const std::int64_t count = std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(samples, 1));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), samples / count);
  for (std::int64_t i = 0; i < samples % count; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

}  // namespace pareto::train
