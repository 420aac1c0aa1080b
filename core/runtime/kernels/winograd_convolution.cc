#include "core/runtime/kernels/winograd_convolution.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/runtime/kernels/onednn.h"
#include "core/runtime/kernels/winograd_transform.h"

namespace pareto::runtime {
namespace {

using onednn::memory;
using winograd::BFloat16;
using winograd::Finish;
using winograd::kInputTile;
using winograd::kOutputTile;
using winograd::kPoints;

// What the tiles under way may take, for each thread: about a second-level cache. Less would be
// read from the cache faster, but every block reads all weights again.
constexpr std::int64_t kBlockBytes = 1280 << 10;
constexpr std::int64_t kFewestTiles = 32;

struct Bounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

Bounds bounds_of(const Activation& activation) {
  if (activation.kind == Activation::Kind::kRelu) return {.low = 0};
  if (activation.kind == Activation::Kind::kClamp) return {activation.low, activation.high};
  return {};
}

bool all_equal(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::ranges::all_of(values, [&](std::int64_t v) { return v == value; });
}

}  // namespace

struct WinogradConvolution::Impl {
  Impl(const ConvolutionSpec& spec, const WeightContent& of_weight, at::IntArrayRef input)
      : bf16(spec.compute == at::kBFloat16),
        in(spec.weight.size(1)),
        out(spec.weight.size(0)),
        batch(input[0]),
        height(input[2]),
        width(input[3]),
        padding_y(spec.padding[0]),
        padding_x(spec.padding[1]),
        out_height(height + 2 * padding_y - 2),
        out_width(width + 2 * padding_x - 2),
        rows((out_height + kOutputTile - 1) / kOutputTile),
        columns((out_width + kOutputTile - 1) / kOutputTile),
        tiles(batch * rows * columns),
        bounds(bounds_of(spec.activation)),
        bias(spec.bias.defined() ? spec.bias : at::zeros({out}, at::kFloat)),
        nothing(at::zeros({std::max(in, out)}, spec.compute)),
        engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        packed(spec.packed),
        content(of_weight) {
    const std::int64_t element = bf16 ? 2 : 4;
    const std::int64_t tile_bytes = kPoints * (in * element + out * 4);
    const std::int64_t most =
        std::max(kFewestTiles, kBlockBytes * at::get_num_threads() / tile_bytes);
    const std::int64_t blocks = (tiles + most - 1) / most;
    block = (tiles + blocks - 1) / blocks;
    const auto type = onednn::data_type(spec.compute);
    const auto dense = memory::format_tag::abc;
    const memory::desc left({kPoints, block, in}, type, dense);
    const memory::desc right({kPoints, in, out}, type, memory::format_tag::any);
    const memory::desc product({kPoints, block, out}, memory::data_type::f32, dense);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc described(engine, left, right, product,
                                                 onednn::with_scratchpad());
#else
    const dnnl::matmul::primitive_desc described(dnnl::matmul::desc(left, right, product),
                                                 onednn::with_scratchpad(), engine);
#endif
    multiply = dnnl::matmul(described);
    auto known = packed->find(content, described.weights_desc(), engine);
    weights = known ? *std::move(known) : pack(spec.weight, described.weights_desc());
    // Their data is set again at every run.
    source = memory(left, engine, nullptr);
    destination = memory(product, engine, nullptr);
    scratchpad = memory(described.scratchpad_desc(), engine, nullptr);
    arguments = {{DNNL_ARG_SRC, source},
                 {DNNL_ARG_WEIGHTS, weights},
                 {DNNL_ARG_DST, destination},
                 {DNNL_ARG_SCRATCHPAD, scratchpad}};
  }

  memory pack(const at::Tensor& kernels, const memory::desc& layout) {
    auto dense = winograd::transform_weights(
        kernels.data_ptr<float>(), static_cast<std::size_t>(out), static_cast<std::size_t>(in));
    memory plain({{kPoints, in, out}, memory::data_type::f32, memory::format_tag::abc}, engine,
                 dense.data());
    memory result(layout, engine);
    dnnl::reorder(plain, result).execute(stream, plain, result);
    stream.wait();
    return result;
  }

  /// The place in the result where a tile begins.
  struct Place {
    std::int64_t sample, y, x;
  };
  Place place_of(std::int64_t tile) const {
    return {tile / (rows * columns), tile / columns % rows * kOutputTile,
            tile % columns * kOutputTile};
  }

  template <typename T>
  void run(const T* input, T* result, const Finish& finish) {
    // Taken and given back each time, so that one layer after the other works in the same, warm
    // memory.
    const at::Tensor transformed = at::empty({kPoints, block, in}, nothing.options());
    const at::Tensor products = at::empty({kPoints, block, out}, at::kFloat);
    source.set_data_handle(transformed.data_ptr());
    destination.set_data_handle(products.data_ptr());
    const at::Tensor working = onednn::lend(scratchpad);
    // The last block may be part empty, and what lies there is multiplied too: nothing that slows a
    // CPU down.
    if (tiles % block != 0) transformed.narrow(1, tiles % block, block - tiles % block).zero_();
    auto* const points = static_cast<T*>(transformed.data_ptr());
    for (std::int64_t first = 0; first < tiles; first += block) {
      const std::int64_t count = std::min(block, tiles - first);
      over_tiles(count, [&](std::int64_t i) { take_in(input, first + i, points + i * in); });
      multiply.execute(stream, arguments);
      stream.wait();
      over_tiles(count, [&](std::int64_t i) {
        give_out(products.data_ptr<float>() + i * out, result, first + i, finish);
      });
    }
  }

  template <typename Work>
  static void over_tiles(std::int64_t count, const Work& work) {
    constexpr std::int64_t kGrain = 16;
    at::parallel_for(0, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) work(i);
    });
  }

  template <typename T>
  void take_in(const T* input, std::int64_t tile, T* points) const {
    const Place at = place_of(tile);
    const auto* const zeros = static_cast<const T*>(nothing.data_ptr());
    std::array<const T*, kPoints> pixels;
    for (std::int64_t i = 0; i < kPoints; ++i) {
      const std::int64_t y = at.y - padding_y + i / kInputTile;
      const std::int64_t x = at.x - padding_x + i % kInputTile;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      pixels[i] = inside ? input + ((at.sample * height + y) * width + x) * in : zeros;
    }
    winograd::transform_input(pixels, points, static_cast<std::size_t>(block * in),
                              static_cast<std::size_t>(in));
  }

  template <typename T>
  void give_out(const float* points, T* result, std::int64_t tile, const Finish& finish) const {
    const Place at = place_of(tile);
    // Where a tile reaches past the edge. Of this thread: its content is read too where there is
    // something to add to.
    thread_local std::vector<T> beyond;
    if (beyond.size() < static_cast<std::size_t>(out)) beyond.resize(out);
    std::array<T*, kOutputTile * kOutputTile> pixels;
    for (std::int64_t i = 0; i < kOutputTile * kOutputTile; ++i) {
      const std::int64_t y = at.y + i / kOutputTile;
      const std::int64_t x = at.x + i % kOutputTile;
      const bool inside = y < out_height && x < out_width;
      pixels[i] =
          inside ? result + ((at.sample * out_height + y) * out_width + x) * out : beyond.data();
    }
    winograd::transform_output(points, static_cast<std::size_t>(block * out), finish, pixels,
                               static_cast<std::size_t>(out));
  }

  const bool bf16;
  const std::int64_t in, out, batch, height, width, padding_y, padding_x;
  const std::int64_t out_height, out_width;
  const std::int64_t rows, columns, tiles;  // of tiles: in one picture, and all
  std::int64_t block;                       // tiles multiplied at once
  const Bounds bounds;
  const at::Tensor bias;
  const at::Tensor nothing;  // a pixel outside the picture
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul multiply;
  const std::shared_ptr<PackedWeights> packed;
  const WeightContent content;
  memory weights;
  memory source;
  memory destination;
  memory scratchpad;
  std::unordered_map<int, memory> arguments;
};

bool WinogradConvolution::fits(const ConvolutionSpec& spec) {
  const auto kind = spec.activation.kind;
  return !spec.linear && spec.groups == 1 && all_equal(spec.stride, 1) &&
         all_equal(spec.dilation, 1) && spec.weight.size(2) == 3 && spec.weight.size(3) == 3 &&
         spec.weight.size(0) % winograd::kLanes == 0 &&
         spec.weight.size(1) % winograd::kLanes == 0 &&
         (kind == Activation::Kind::kNone || kind == Activation::Kind::kRelu ||
          kind == Activation::Kind::kClamp);
}

WinogradConvolution::WinogradConvolution(const ConvolutionSpec& spec, const WeightContent& content,
                                         at::IntArrayRef input_sizes)
    : impl_(std::make_unique<Impl>(spec, content, input_sizes)) {}
WinogradConvolution::~WinogradConvolution() = default;

std::size_t WinogradConvolution::weight_bytes() const {
  return impl_->weights.get_desc().get_size();
}

void WinogradConvolution::keep_weights() {
  impl_->weights = impl_->packed->keep(impl_->content, impl_->weights);
  impl_->arguments[DNNL_ARG_WEIGHTS] = impl_->weights;
}

void WinogradConvolution::run(const at::Tensor& input, at::Tensor& result, bool adds,
                              bool activates) {
  const Bounds bounds = activates ? impl_->bounds : Bounds{};
  const Finish finish{impl_->bias.data_ptr<float>(), adds, bounds.low, bounds.high};
  if (impl_->bf16) {
    impl_->run(static_cast<const BFloat16*>(input.data_ptr()),
               static_cast<BFloat16*>(result.data_ptr()), finish);
  } else {
    impl_->run(input.data_ptr<float>(), result.data_ptr<float>(), finish);
  }
}

}  // namespace pareto::runtime
