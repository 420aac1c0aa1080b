// Squeeze and excitation: two small layers that say by what each channel of a picture is
// multiplied. Internal to runtime; sees LibTorch.
#pragma once

#include <torch/script.h>

#include <cstddef>

#include "runtime/kernels/packed_convolution.h"

namespace pareto::runtime::kernels {

/// Two layers of 1 x 1 kernels on the means of all channels, each with its activation.
///
/// Threads: any, whose pools share large layers; prepare() one at a time. Throws what oneDNN
/// throws.
class ChannelGate {
 public:
  /// Both are such as fit. Its weights are theirs, packed once more.
  ChannelGate(c10::intrusive_ptr<PackedConvolution> squeeze,
              c10::intrusive_ptr<PackedConvolution> excite);

  /// Returns whether a layer can be one of the two.
  static bool fits(const PackedConvolution& layer);

  /// Packs the weights, before the first run.
  void prepare();
  /// Computes one factor a channel from the channels' means.
  void run(const float* means, float* factors) const;

 private:
  struct Layer {
    c10::intrusive_ptr<PackedConvolution> packed;
    std::size_t in = 0;
    std::size_t out = 0;
    const float* weights = nullptr;  ///< [in, out]; null until they are packed
  };

  static Layer layer_of(c10::intrusive_ptr<PackedConvolution> packed);
  static void pack(Layer& layer);
  static void run_layer(const Layer& layer, const float* input, float* result);

  Layer squeeze_;
  Layer excite_;
};

}  // namespace pareto::runtime::kernels
