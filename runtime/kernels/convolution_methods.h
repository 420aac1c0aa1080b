// The fastest ways to compute layers, for every size that was timed in this process. Internal to
// runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace pareto::runtime::kernels {

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
/// same layers, and one that is loaded again is as fast as it was. The key is all that decides
/// which method is the fastest. Threads: any.
template <typename Key, typename Method>
class KnownMethods {
 public:
  /// The most sizes that are kept.
  static constexpr std::size_t kMost = 4096;

  std::optional<Method> find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found != known_.end() ? std::optional(found->second) : std::nullopt;
  }
  /// Keeps the method of a key that has none yet.
  void keep(const Key& key, Method method) {
    const std::lock_guard lock(mutex_);
    if (known_.size() < kMost) known_.emplace(key, method);
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Method> known_;
};

using ConvolutionKey = std::array<std::int64_t, 18>;
/// Returns those of this process.
KnownMethods<ConvolutionKey, ConvolutionMethod>& convolution_methods();
/// Returns those of layers in a row: bytes of their strips, 0 for layers that run one by one.
KnownMethods<std::vector<std::int64_t>, std::size_t>& chain_methods();

}  // namespace pareto::runtime::kernels
