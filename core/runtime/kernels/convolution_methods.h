// The faster way to compute a convolution, for every size that was timed in this process. Internal
// to core/runtime.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace pareto::runtime {

enum class ConvolutionMethod { kDirect, kWinograd };

/// The faster method for sizes that were timed before: hundreds of shards of one model have the
/// same layers, and one that is loaded again is as fast as it was. Threads: any.
class ConvolutionMethods {
 public:
  /// All that decides which method is faster.
  using Key = std::array<std::int64_t, 9>;
  /// The most sizes that are kept.
  static constexpr std::size_t kMost = 4096;

  std::optional<ConvolutionMethod> find(const Key& key) const;
  /// Keeps the method of a key that has none yet.
  void keep(const Key& key, ConvolutionMethod method);

 private:
  mutable std::mutex mutex_;
  std::map<Key, ConvolutionMethod> known_;
};

/// Returns those of this process.
ConvolutionMethods& convolution_methods();

}  // namespace pareto::runtime
