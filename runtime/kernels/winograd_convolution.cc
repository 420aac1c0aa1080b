#include "runtime/kernels/winograd_convolution.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/onednn.h"
#include "runtime/kernels/parts.h"
#include "runtime/kernels/winograd_transform.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime::kernels {
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
  Impl(const ConvolutionSpec& spec, const WeightContent& of_weight, at::IntArrayRef input,
       int threads)
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
        packed(spec.packed),
        content(of_weight) {
    const OneThread alone;
    const auto count = static_cast<int>(std::min<std::int64_t>(threads, tiles));
    const std::int64_t most_of_one = (tiles + count - 1) / count;
    const std::int64_t most =
        std::max(kFewestTiles, kBlockBytes / (input_bytes() + output_bytes()));
    const std::int64_t blocks = (most_of_one + most - 1) / most;
    block = (most_of_one + blocks - 1) / blocks;
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
    for (int part = 0; part < count; ++part) {
      // Their data is set again at every run.
      parts.push_back({share_of(tiles, count, part), memory(left, engine, nullptr),
                       memory(product, engine, nullptr),
                       memory(described.scratchpad_desc(), engine, nullptr)});
    }
  }

  /// Returns the bytes of a tile in the products' space, before and after them.
  std::int64_t input_bytes() const { return kPoints * in * (bf16 ? 2 : 4); }
  std::int64_t output_bytes() const { return kPoints * out * 4; }

  memory pack(const at::Tensor& kernels, const memory::desc& layout) {
    auto dense = winograd::transform_weights(
        kernels.data_ptr<float>(), static_cast<std::size_t>(out), static_cast<std::size_t>(in));
    memory plain({{kPoints, in, out}, memory::data_type::f32, memory::format_tag::abc}, engine,
                 dense.data());
    memory result(layout, engine);
    dnnl::stream stream(engine);
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
    share(static_cast<int>(parts.size()), [&](int part) {
      run_part(parts[static_cast<std::size_t>(part)], input, result, finish);
    });
  }

  /// The tiles of one thread.
  struct Part {
    Share tiles;
    memory source;
    memory destination;
    memory scratchpad;
  };

  template <typename T>
  void run_part(Part& part, const T* input, T* result, const Finish& finish) {
    const OneThread alone;
    const WorkingMemory transformed(static_cast<std::size_t>(block * input_bytes()));
    const WorkingMemory products(static_cast<std::size_t>(block * output_bytes()));
    auto* const points = reinterpret_cast<T*>(transformed.data());
    const auto* const computed = reinterpret_cast<const float*>(products.data());
    part.source.set_data_handle(points);
    part.destination.set_data_handle(products.data());
    const onednn::Lent working(part.scratchpad);
    dnnl::stream stream(engine);
    for (std::int64_t first = part.tiles.begin; first < part.tiles.end; first += block) {
      const std::int64_t count = std::min(block, part.tiles.end - first);
      for (std::int64_t i = 0; i < count; ++i) take_in(input, first + i, points + i * in);
      if (count < block) clear_from(count, points);
      multiply.execute(stream, {{DNNL_ARG_SRC, part.source},
                                {DNNL_ARG_WEIGHTS, weights},
                                {DNNL_ARG_DST, part.destination},
                                {DNNL_ARG_SCRATCHPAD, part.scratchpad}});
      stream.wait();
      for (std::int64_t i = 0; i < count; ++i) {
        give_out(computed + i * out, result, first + i, finish);
      }
    }
  }

  /// Clears the end of a block, which is multiplied too: nothing may lie there that slows a CPU
  /// down.
  template <typename T>
  void clear_from(std::int64_t tile, T* points) const {
    const auto bytes = static_cast<std::size_t>((block - tile) * in) * sizeof(T);
    for (std::int64_t point = 0; point < kPoints; ++point) {
      std::memset(points + (point * block + tile) * in, 0, bytes);
    }
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
  dnnl::matmul multiply;
  const std::shared_ptr<PackedWeights> packed;
  const WeightContent content;
  memory weights;
  std::vector<Part> parts;
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
                                         at::IntArrayRef input_sizes, int threads)
    : impl_(std::make_unique<Impl>(spec, content, input_sizes, threads)) {}
WinogradConvolution::~WinogradConvolution() = default;

std::size_t WinogradConvolution::weight_bytes() const {
  return impl_->weights.get_desc().get_size();
}

void WinogradConvolution::keep_weights() {
  impl_->weights = impl_->packed->keep(impl_->content, impl_->weights);
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

}  // namespace pareto::runtime::kernels
