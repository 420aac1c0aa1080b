// Convolutions in a row, computed together strip by strip: what one hands to the next are a few
// rows that stay in the cache. Internal to runtime; sees LibTorch.
//
//   input   ──layer 0──▶ rows ──layer 1──▶ rows ──layer 2──▶ result
//   all of it            of one strip      of one strip      all of it
//
// Rows that two strips need are kept from one to the next, not computed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/kernels/convolution_piece.h"

namespace pareto::runtime::kernels {

/// One of the layers, for one sample.
struct StripLayer {
  ConvolutionProblem problem;
  LayerWeights& weights;
};

/// Some rows of one sample's result, by one thread. Float32.
///
/// Threads: one at a time.
class LayerStrips {
 public:
  /// One sample's pictures, whole, that a run reads and writes.
  struct Pictures {
    const float* input = nullptr;
    float* result = nullptr;
    const float* addend = nullptr;   ///< null where it is the result, or nothing is added
    const float* factors = nullptr;  ///< by which each channel of the input is multiplied; or null
    float* sums = nullptr;           ///< where each channel of the result is added up; or null
  };

  /// Prepares strips whose rows take some `bytes` at most, of one row at least. Returns none where
  /// oneDNN cannot compute one. The layers' weights must outlive it. `scales`: runs have factors;
  /// the first layer is a 1 x 1 convolution then. Throws what oneDNN throws.
  static std::optional<LayerStrips> make(const std::vector<StripLayer>& layers, const Share& rows,
                                         std::size_t bytes, bool scales);

  /// Returns how many strips there are.
  std::size_t count() const { return strips_; }
  void keep_weights();
  void run(const Pictures& pictures);

 private:
  /// A layer on the rows that a strip adds.
  struct Step {
    std::size_t layer = 0;
    std::size_t kept_from = 0;  ///< numbers: rows of the strip before that move to the beginning …
    std::size_t kept = 0;       ///< … and how many numbers they have
    std::size_t source = 0;     ///< numbers from the beginning of what the layer reads
    std::size_t destination = 0;
    std::size_t pixels_read = 0;
    std::size_t numbers = 0;                ///< numbers of the result
    std::optional<ConvolutionPiece> piece;  ///< empty where rows only move
  };

  LayerStrips(const std::vector<StripLayer>& layers, bool scales);
  bool add_strip(const Share& rows);
  void add_step(std::size_t layer, const std::vector<Share>& there, const Share& computed,
                const Rows& read);

  std::vector<StripLayer> layers_;
  bool scales_;
  std::size_t strips_ = 0;
  std::vector<Share> held_;           ///< rows of each layer's result that are there
  std::vector<std::size_t> buffers_;  ///< numbers that each layer's rows take at most
  std::size_t scaled_ = 0;            ///< numbers of the scaled input of one strip, at most
  std::vector<Step> steps_;
};

}  // namespace pareto::runtime::kernels
