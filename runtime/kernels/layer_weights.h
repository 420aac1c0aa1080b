// The weights of one layer, as they were given and as its kernels pack them. Internal to
// runtime; sees LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/kernels/packed_weights.h"
#include "runtime/kernels/parts.h"

namespace pareto::runtime::kernels {

/// Weights of all output channels or, without groups, of some of them: `channels` below.
///
/// Threads: one at a time. Throws what oneDNN throws.
class LayerWeights {
 public:
  /// given: [out, in / groups, height, width], float32.
  LayerWeights(const at::Tensor& given, std::int64_t groups, std::shared_ptr<PackedWeights> packed);

  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  Share all() const { return {0, sizes_[0]}; }
  /// Returns the sizes by which oneDNN knows them, groups apart.
  dnnl::memory::dims dims(const Share& channels) const;
  /// Returns what tells these weights from others.
  WeightContent content();

  /// Returns them in a layout: shared with others that have them so, or packed here until they are
  /// kept.
  dnnl::memory packed(const dnnl::memory::desc& layout, const Share& channels);
  /// Keeps packed ones for good; returns where they lie then.
  dnnl::memory keep(const dnnl::memory& packed, const Share& channels);
  /// Returns the weights as they were given; read back from those that were kept if only those are
  /// left.
  at::Tensor plain();
  /// Drops what was packed and is not kept, and the given weights, which take as much memory once
  /// more. `lossless`: those that were kept are as good. Otherwise the given ones are shared as
  /// well, unless they lie in somebody else's memory already.
  void drop_given(bool lossless);

 private:
  WeightContent content(const Share& channels);
  dnnl::memory as_given(void* weights, const Share& channels) const;
  void reorder(dnnl::memory from, dnnl::memory& to);

  const std::vector<std::int64_t> sizes_;
  const std::int64_t groups_;
  const std::shared_ptr<PackedWeights> packed_;
  at::Tensor given_;  ///< undefined once they are dropped
  std::optional<WeightContent> content_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<std::pair<Share, dnnl::memory>> fresh_;  ///< packed and not kept yet
  std::vector<std::pair<Share, dnnl::memory>> kept_;   ///< the first that cover all channels
};

}  // namespace pareto::runtime::kernels
