// A model of ten operators that each add one: cut anywhere, the answer is the input plus ten.
#pragma once

#include <atomic>

#include "coordinator/cluster/workload.h"

namespace pareto::test {

inline constexpr std::int64_t kFakeOperators = 10;
/// Operator i has one weight of this many bytes.
inline constexpr std::uint64_t kFakeWeightBytes = 16;

class FakeWorkload : public cluster::Workload {
 public:
  Expected<plan::Shard> shard(const plan::ShardOperators& operators) override;
  Expected<Tensor> weight(const Digest& digest) override;
  Expected<std::vector<Value>> example(std::int64_t batch, std::uint64_t seed) override;

  static Tensor weight_of(std::int64_t position);
};

/// Returns the one tensor of a request or result, added up.
double sum_of(const Value& value);

}  // namespace pareto::test
