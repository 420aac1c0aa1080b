#include "runtime/kernels/layer_strips.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/kernels/picture_arithmetic.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime::kernels {
namespace {

/// Returns the numbers of one row of [batch, channels, height, width].
std::int64_t row_of(const std::vector<std::int64_t>& sizes) { return sizes[1] * sizes[3]; }

/// Returns whether we activate a layer's result faster than oneDNN does.
bool is_ours(const Activation& activation) { return activation.kind == Activation::Kind::kSilu; }

/// Returns the bytes that some rows of the last layer's result take, with those between layers.
std::size_t bytes_of(const std::vector<StripLayer>& layers, bool scales, std::int64_t rows) {
  std::int64_t numbers = rows * row_of(layers.back().problem.output);
  if (scales) numbers += rows * row_of(layers[0].problem.input);
  for (std::size_t i = layers.size() - 1; i > 0; --i) {
    const ConvolutionProblem& problem = layers[i].problem;
    rows = std::min((rows - 1) * problem.spec.stride[0] + problem.weights[2], problem.input[2]);
    numbers += rows * row_of(problem.input);
  }
  return to_size(numbers) * sizeof(float);
}

}  // namespace

LayerStrips::LayerStrips(const std::vector<StripLayer>& layers, bool scales)
    : layers_(layers), scales_(scales), held_(layers.size()), buffers_(layers.size()) {
  for (StripLayer& layer : layers_) {
    layer.problem.activates = !is_ours(layer.problem.spec.activation);
  }
}

std::optional<LayerStrips> LayerStrips::make(const std::vector<StripLayer>& layers,
                                             const Share& rows, std::size_t bytes, bool scales) {
  const OneThread alone;
  std::int64_t most = std::max<std::int64_t>(rows.size(), 1);
  while (most > 1 && bytes_of(layers, scales, most) > bytes) --most;
  const auto strips = static_cast<int>((rows.size() + most - 1) / most);
  LayerStrips made(layers, scales);
  for (int strip = 0; strip < strips; ++strip) {
    const Share own = share_of(rows.size(), strips, strip);
    if (!made.add_strip({rows.begin + own.begin, rows.begin + own.end})) return std::nullopt;
  }
  return made;
}

bool LayerStrips::add_strip(const Share& rows) {
  // From the last layer to the first: the rows of its result that have to be there, and which of
  // them it has to compute.
  std::vector<Share> there = held_;
  std::vector<Share> computed(layers_.size());
  std::vector<Rows> read(layers_.size());
  there.back() = computed.back() = rows;
  for (std::size_t i = layers_.size(); i-- > 0 && computed[i].size() > 0;) {
    read[i] = rows_for(layers_[i].problem, computed[i]);
    if (!is_computable(layers_[i].problem, read[i])) return false;
    if (i == 0) break;
    there[i - 1] = read[i].input;
    const std::int64_t end = strips_ > 0 ? held_[i - 1].end : 0;
    computed[i - 1] = {std::max(there[i - 1].begin, end), there[i - 1].end};
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) add_step(i, there, computed[i], read[i]);
  held_ = there;
  ++strips_;
  return true;
}

void LayerStrips::add_step(std::size_t i, const std::vector<Share>& there, const Share& computed,
                           const Rows& read) {
  const ConvolutionProblem& problem = layers_[i].problem;
  const bool last = i + 1 == layers_.size();
  const std::int64_t in_row = row_of(problem.input);
  const std::int64_t out_row = row_of(problem.output);
  Step step;
  step.layer = i;
  if (!last) {
    buffers_[i] = std::max(buffers_[i], to_size(there[i].size() * out_row));
    const std::int64_t kept_end = std::min(there[i].end, held_[i].end);
    if (strips_ > 0 && kept_end > there[i].begin && there[i].begin > held_[i].begin) {
      step.kept_from = to_size((there[i].begin - held_[i].begin) * out_row);
      step.kept = to_size((kept_end - there[i].begin) * out_row);
    }
  }
  if (computed.size() > 0) {
    const std::int64_t padding = problem.spec.padding[1];
    const std::int64_t first_read = i > 0 ? there[i - 1].begin : 0;
    step.source = to_size((read.input.begin - first_read) * in_row);
    step.destination = to_size((computed.begin - (last ? 0 : there[i].begin)) * out_row);
    step.pixels_read = to_size(read.input.size() * problem.input[3]);
    step.numbers = to_size(computed.size() * out_row);
    step.piece.emplace(
        problem,
        ConvolutionPiece::Extent{{1, problem.input[1], read.input.size(), problem.input[3]},
                                 {1, problem.output[1], computed.size(), problem.output[3]},
                                 {read.above, padding},
                                 {read.below, padding},
                                 layers_[i].weights.all()},
        layers_[i].weights);
    if (i == 0 && scales_)
      scaled_ = std::max(scaled_, step.pixels_read * to_size(problem.input[1]));
  }
  if (step.piece || step.kept > 0) steps_.push_back(std::move(step));
}

void LayerStrips::keep_weights() {
  for (Step& step : steps_) {
    if (step.piece) step.piece->keep_weights(layers_[step.layer].weights);
  }
}

void LayerStrips::run(const Pictures& pictures) {
  const OneThread alone;
  constexpr std::size_t kLine = 16;  // numbers
  const auto lines = [](std::size_t numbers) { return (numbers + kLine - 1) / kLine * kLine; };
  std::size_t numbers = lines(scaled_);
  for (const std::size_t buffer : buffers_) numbers += lines(buffer);
  const WorkingMemory working(numbers * sizeof(float));
  auto* const scaled = reinterpret_cast<float*>(working.data());
  const std::size_t last = layers_.size() - 1;
  std::vector<float*> results(layers_.size(), pictures.result);
  float* next = scaled + lines(scaled_);
  for (std::size_t i = 0; i < last; ++i) {
    results[i] = next;
    next += lines(buffers_[i]);
  }
  for (Step& step : steps_) {
    const ConvolutionProblem& problem = layers_[step.layer].problem;
    const auto out = to_size(problem.output[1]);
    float* const result = results[step.layer];
    if (step.kept > 0) std::memmove(result, result + step.kept_from, step.kept * sizeof(float));
    if (!step.piece) continue;
    const float* source =
        (step.layer == 0 ? pictures.input : results[step.layer - 1]) + step.source;
    if (step.layer == 0 && scales_) {
      scale_pixels(source, step.pixels_read, to_size(problem.input[1]), pictures.factors, scaled);
      source = scaled;
    }
    float* const destination = result + step.destination;
    if (step.layer == last && pictures.addend != nullptr) {
      std::memcpy(destination, pictures.addend + step.destination, step.numbers * sizeof(float));
    }
    step.piece->run(source, destination);
    if (is_ours(problem.spec.activation)) silu(destination, step.numbers);
    if (step.layer == last && pictures.sums != nullptr) {
      add_pixels(destination, step.numbers / out, out, pictures.sums);
    }
  }
}

}  // namespace pareto::runtime::kernels
