// The fastest way to compute a convolution, for every size that was timed in this process. Internal
// to core/runtime.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace pareto::runtime {

/// The way in which the threads of a pool share a convolution.
enum class Cut {
  kNone,      ///< one computes all
  kSamples,   ///< samples of the batch
  kPixels,    ///< pixels, where each result needs the one in its place alone
  kRows,      ///< rows of each sample's result, which need their neighbours' input too
  kChannels,  ///< channels of the result: each reads its own part of the weights
};

struct ConvolutionMethod {
  bool winograd = false;  ///< it is cut by tiles: `cut` says nothing
  Cut cut = Cut::kNone;
  bool operator==(const ConvolutionMethod&) const = default;
};

/// The fastest method for sizes that were timed before: hundreds of shards of one model have the
/// same layers, and one that is loaded again is as fast as it was. Threads: any.
class ConvolutionMethods {
 public:
  /// All that decides which method is the fastest.
  using Key = std::array<std::int64_t, 18>;
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
