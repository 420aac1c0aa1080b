#include "runtime/kernels/direct_convolution.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/torch/threads.h"

namespace pareto::runtime::kernels {
namespace {

/// Returns whether each result needs the one pixel in its place alone.
bool is_pointwise(const ConvolutionProblem& problem) {
  const ConvolutionSpec& spec = problem.spec;
  return problem.weights[2] == 1 && problem.weights[3] == 1 &&
         spec.stride == std::vector<std::int64_t>{1, 1} &&
         spec.padding == std::vector<std::int64_t>{0, 0};
}

std::int64_t pixels_of(const std::vector<std::int64_t>& sizes) {
  return sizes[0] * sizes[2] * sizes[3];
}

bool can_cut_rows(const ConvolutionProblem& problem, int parts) {
  for (int part = 0; part < parts; ++part) {
    const Share results = share_of(problem.output[2], parts, part);
    if (!is_computable(problem, rows_for(problem, results))) return false;
  }
  return true;
}

int fewer(int threads, std::int64_t things) {
  return static_cast<int>(std::min<std::int64_t>(threads, things));
}

}  // namespace

std::vector<Cut> promising_cuts(const ConvolutionProblem& problem, int threads) {
  // Below this, what the threads need to meet is a good part of the whole.
  constexpr std::int64_t kFewProducts = 1'000'000;
  constexpr std::int64_t kFewPixels = 256;
  constexpr std::int64_t kFewestChannels = 32;
  if (threads <= 1) return {Cut::kNone};
  const std::vector<std::int64_t>& output = problem.output;
  const std::int64_t pixels = pixels_of(output);
  const std::int64_t products =
      pixels * output[1] * problem.weights[1] * problem.weights[2] * problem.weights[3];
  std::vector<Cut> cuts;
  bool is_even = true;
  if (is_pointwise(problem)) {
    if (pixels >= 2 * threads) cuts.push_back(Cut::kPixels);
  } else if (output[0] % threads == 0) {
    cuts.push_back(Cut::kSamples);
  } else if (output[2] > 1 && can_cut_rows(problem, fewer(threads, output[2]))) {
    cuts.push_back(Cut::kRows);
    is_even = output[2] % threads == 0;
  }
  const bool uneven = cuts.empty() || !is_even || (is_pointwise(problem) && pixels < 64);
  if (problem.spec.groups == 1 && output[1] >= threads * kFewestChannels && pixels < kFewPixels &&
      uneven) {
    cuts.push_back(Cut::kChannels);
  }
  if (cuts.empty() || products < kFewProducts) cuts.push_back(Cut::kNone);
  return cuts;
}

DirectConvolution::DirectConvolution(const ConvolutionProblem& problem, Cut cut, int threads,
                                     LayerWeights& weights)
    : weights_(weights),
      element_(problem.spec.compute == at::kBFloat16 ? 2 : 4),
      out_(problem.output[1]),
      adds_(problem.adds) {
  const OneThread alone;
  const ConvolutionSpec& spec = problem.spec;
  const Sizes& padding = spec.padding;
  const Share all = weights.all();
  const std::int64_t in = problem.input[1];
  switch (cut) {
    case Cut::kNone:
      add(problem, {problem.input, problem.output, padding, padding, all}, 0, 0);
      return;
    case Cut::kSamples: {
      Sizes input = problem.input;
      Sizes output = problem.output;
      for (int part = 0; part < threads; ++part) {
        const Share samples = share_of(problem.input[0], threads, part);
        input[0] = output[0] = samples.size();
        add(problem, {input, output, padding, padding, all},
            samples.begin * in * input[2] * input[3] * element_,
            samples.begin * out_ * output[2] * output[3] * element_);
      }
      return;
    }
    case Cut::kPixels: {
      const std::int64_t count = pixels_of(problem.output);
      const int parts = fewer(threads, count);
      for (int part = 0; part < parts; ++part) {
        const Share pixels = share_of(count, parts, part);
        add(problem,
            {{1, in, 1, pixels.size()}, {1, out_, 1, pixels.size()}, padding, padding, all},
            pixels.begin * in * element_, pixels.begin * out_ * element_);
      }
      return;
    }
    case Cut::kRows: {
      samples_ = problem.input[0];
      source_step_ = in * problem.input[2] * problem.input[3] * element_;
      destination_step_ = out_ * problem.output[2] * problem.output[3] * element_;
      const int parts = fewer(threads, problem.output[2]);
      for (int part = 0; part < parts; ++part) {
        add_rows(problem, share_of(problem.output[2], parts, part));
      }
      return;
    }
    case Cut::kChannels: {
      // oneDNN computes channels in blocks.
      constexpr std::int64_t kBlock = 16;
      const std::int64_t blocks = (out_ + kBlock - 1) / kBlock;
      const int parts = fewer(threads, blocks);
      for (int part = 0; part < parts; ++part) {
        const Share block = share_of(blocks, parts, part);
        const Share channels{block.begin * kBlock, std::min(out_, block.end * kBlock)};
        Sizes output = problem.output;
        output[1] = channels.size();
        add(problem, {problem.input, output, padding, padding, channels}, 0,
            channels.begin * element_);
      }
      return;
    }
  }
}

void DirectConvolution::add_rows(const ConvolutionProblem& problem, const Share& rows) {
  const Rows needed = rows_for(problem, rows);
  const std::int64_t padding = problem.spec.padding[1];
  add(problem,
      {{1, problem.input[1], needed.input.size(), problem.input[3]},
       {1, out_, rows.size(), problem.output[3]},
       {needed.above, padding},
       {needed.below, padding},
       weights_.all()},
      needed.input.begin * problem.input[3] * problem.input[1] * element_,
      rows.begin * problem.output[3] * out_ * element_);
}

void DirectConvolution::add(const ConvolutionProblem& problem,
                            const ConvolutionPiece::Extent& extent, std::int64_t source_begin,
                            std::int64_t destination_begin) {
  pieces_.push_back({source_begin, destination_begin, pixels_of(extent.output),
                     ConvolutionPiece(problem, extent, weights_)});
}

std::size_t DirectConvolution::weight_bytes() const {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces_) {
    const std::size_t own = piece.convolution.weight_bytes();
    // Pieces of the same channels have the same weights.
    bytes = piece.convolution.channels() == weights_.all() ? own : bytes + own;
  }
  return bytes;
}

void DirectConvolution::keep_weights() {
  for (Piece& piece : pieces_) piece.convolution.keep_weights(weights_);
}

void DirectConvolution::run(const at::Tensor& input, at::Tensor& result) {
  auto* const source = static_cast<std::byte*>(input.data_ptr());
  auto* const destination = static_cast<std::byte*>(result.data_ptr());
  share(static_cast<int>(pieces_.size()), [&](int part) {
    const OneThread alone;
    Piece& piece = pieces_[static_cast<std::size_t>(part)];
    std::byte* from = source + piece.source_begin;
    std::byte* to = destination + piece.destination_begin;
    if (piece.convolution.channels() != weights_.all() && piece.pixels > 1) {
      return run_beside(piece, from, to);
    }
    for (std::int64_t sample = 0; sample < samples_; ++sample) {
      piece.convolution.run(from, to);
      from += source_step_;
      to += destination_step_;
    }
  });
}

/// Computes some channels of every pixel in memory of its own, because they do not lie densely in
/// the result.
void DirectConvolution::run_beside(Piece& piece, std::byte* source, std::byte* destination) {
  const std::int64_t bytes = piece.convolution.channels().size() * element_;
  const std::int64_t step = out_ * element_;
  const WorkingMemory dense(static_cast<std::size_t>(piece.pixels * bytes));
  const auto each = [&](const auto& copy) {
    for (std::int64_t pixel = 0; pixel < piece.pixels; ++pixel) {
      copy(dense.data() + pixel * bytes, destination + pixel * step);
    }
  };
  const auto count = static_cast<std::size_t>(bytes);
  if (adds_) each([&](std::byte* beside, std::byte* there) { std::memcpy(beside, there, count); });
  piece.convolution.run(source, dense.data());
  each([&](std::byte* beside, std::byte* there) { std::memcpy(there, beside, count); });
}

}  // namespace pareto::runtime::kernels
