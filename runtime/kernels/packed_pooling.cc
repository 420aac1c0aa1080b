#include "runtime/kernels/packed_pooling.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <list>
#include <utility>

#include "runtime/kernels/onednn.h"
#include "runtime/kernels/parts.h"
#include "runtime/torch/register_operator.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime::kernels {
namespace {

using onednn::memory;
using onednn::picture;

/// The rows of each sample's result that one thread computes.
struct Piece {
  std::int64_t source_begin = 0;  ///< bytes from a sample's beginning
  std::int64_t destination_begin = 0;
  dnnl::pooling_forward pooling;
  memory source;
  memory destination;
  memory scratchpad;
};

/// The pieces for one size of input on one number of threads.
struct PreparedPooling {
  std::vector<std::int64_t> input_sizes;
  at::ScalarType type = at::kFloat;
  int threads = 1;
  std::vector<std::int64_t> output_sizes;
  std::int64_t samples_at_once = 1;
  std::vector<Piece> pieces;
};

}  // namespace

struct PackedPooling::Impl {
  explicit Impl(PoolingSpec s) : spec(std::move(s)), engine(dnnl::engine::kind::cpu, 0) {}

  /// Returns the size of dimension 2 + i, as LibTorch defines it.
  std::int64_t output_size(std::size_t i, std::int64_t input) const {
    const std::int64_t room = input + 2 * spec.padding[i] - spec.kernel[i];
    std::int64_t size = (room + (spec.ceil ? spec.stride[i] - 1 : 0)) / spec.stride[i] + 1;
    // The last window must begin inside the picture or the padding before it.
    if (spec.ceil && (size - 1) * spec.stride[i] >= input + spec.padding[i]) --size;
    TORCH_CHECK(room >= 0 && size > 0, "a pooling window of ", spec.kernel[i],
                " is larger than its input of ", input);
    return size;
  }

  PreparedPooling& prepare(at::IntArrayRef sizes, at::ScalarType type) {
    const int threads = kernel_threads();
    for (PreparedPooling& known : prepared) {
      if (known.type == type && known.threads == threads && known.input_sizes == sizes) {
        return known;
      }
    }
    const OneThread alone;
    PreparedPooling fresh;
    fresh.input_sizes = sizes.vec();
    fresh.type = type;
    fresh.threads = threads;
    fresh.output_sizes = {sizes[0], sizes[1], output_size(0, sizes[2]), output_size(1, sizes[3])};
    const std::int64_t height = fresh.output_sizes[2];
    const int parts =
        worth_cutting(fresh) ? static_cast<int>(std::min<std::int64_t>(threads, height)) : 1;
    fresh.samples_at_once = parts == 1 ? sizes[0] : 1;
    for (int part = 0; part < parts; ++part) add(fresh, share_of(height, parts, part));
    onednn::make_room(prepared);
    prepared.push_back(std::move(fresh));
    return prepared.back();
  }

  /// Returns whether pooling takes so long that it is worth waking threads.
  bool worth_cutting(const PreparedPooling& fresh) const {
    constexpr std::int64_t kFewNumbers = 100'000;
    const auto& output = fresh.output_sizes;
    return output[0] * output[1] * output[2] * output[3] * spec.kernel[0] * spec.kernel[1] >
           kFewNumbers;
  }

  /// Adds the pooling of some rows of the result.
  void add(PreparedPooling& fresh, const Share& rows) {
    // What the windows need, and how far they reach past the edges: behind the last row and column
    // that may be less than none.
    const auto& input = fresh.input_sizes;
    const std::int64_t first = rows.begin * spec.stride[0] - spec.padding[0];
    const std::int64_t last = (rows.end - 1) * spec.stride[0] - spec.padding[0] + spec.kernel[0];
    const bool all = rows.size() == fresh.output_sizes[2];
    const Share needed = all ? Share{0, input[2]}
                             : Share{std::max<std::int64_t>(0, first), std::min(input[2], last)};
    const std::int64_t below = last - input[2];
    const std::int64_t behind =
        (fresh.output_sizes[3] - 1) * spec.stride[1] + spec.kernel[1] - input[3] - spec.padding[1];
    const memory::dims before{std::max<std::int64_t>(0, -first), spec.padding[1]};
    const memory::dims after{all ? below : std::max<std::int64_t>(0, below), behind};
    const memory::desc source =
        picture({fresh.samples_at_once, input[1], needed.size(), input[3]}, fresh.type);
    const memory::desc destination =
        picture({fresh.samples_at_once, input[1], rows.size(), fresh.output_sizes[3]}, fresh.type);
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = spec.kind == PoolingSpec::Kind::kMax
                               ? dnnl::algorithm::pooling_max
                               : dnnl::algorithm::pooling_avg_include_padding;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::pooling_forward::primitive_desc described(
        engine, kind, algorithm, source, destination, spec.stride, spec.kernel, {0, 0}, before,
        after, onednn::with_scratchpad());
#else
    const dnnl::pooling_forward::primitive_desc described(
        dnnl::pooling_forward::desc(kind, algorithm, source, destination, spec.stride, spec.kernel,
                                    before, after),
        onednn::with_scratchpad(), engine);
#endif
    const auto element = static_cast<std::int64_t>(c10::elementSize(fresh.type));
    // The data of its memory is set again at every run.
    fresh.pieces.push_back({needed.begin * input[3] * input[1] * element,
                            rows.begin * fresh.output_sizes[3] * input[1] * element,
                            dnnl::pooling_forward(described), memory(source, engine, nullptr),
                            memory(destination, engine, nullptr),
                            memory(described.scratchpad_desc(), engine, nullptr)});
  }

  at::Tensor run(const at::Tensor& input) {
    const at::ScalarType type = input.scalar_type();
    TORCH_CHECK(input.dim() == 4 && (type == at::kFloat || type == at::kBFloat16),
                "pooling of a picture was given ", input.sizes(), " of ", type);
    const at::Tensor source = input.contiguous(at::MemoryFormat::ChannelsLast);
    PreparedPooling& with = prepare(source.sizes(), type);
    at::Tensor result =
        at::empty(with.output_sizes, source.options(), at::MemoryFormat::ChannelsLast);
    if (result.numel() == 0) return result;
    auto* const from = static_cast<std::byte*>(source.data_ptr());
    auto* const to = static_cast<std::byte*>(result.data_ptr());
    const std::size_t source_step = source.nbytes() / static_cast<std::size_t>(source.size(0));
    const std::size_t step = result.nbytes() / static_cast<std::size_t>(result.size(0));
    share(static_cast<int>(with.pieces.size()), [&](int part) {
      Piece& piece = with.pieces[static_cast<std::size_t>(part)];
      for (std::int64_t sample = 0; sample < source.size(0); sample += with.samples_at_once) {
        execute(piece, from + static_cast<std::size_t>(sample) * source_step,
                to + static_cast<std::size_t>(sample) * step);
      }
    });
    return result;
  }

  void execute(Piece& piece, std::byte* source, std::byte* destination) const {
    const OneThread alone;
    piece.source.set_data_handle(source + piece.source_begin);
    piece.destination.set_data_handle(destination + piece.destination_begin);
    const onednn::Lent working(piece.scratchpad);
    dnnl::stream stream(engine);
    piece.pooling.execute(stream, {{DNNL_ARG_SRC, piece.source},
                                   {DNNL_ARG_DST, piece.destination},
                                   {DNNL_ARG_SCRATCHPAD, piece.scratchpad}});
    stream.wait();
  }

  const PoolingSpec spec;
  dnnl::engine engine;
  std::list<PreparedPooling> prepared;
};

PackedPooling::PackedPooling(PoolingSpec spec) : impl_(std::make_unique<Impl>(std::move(spec))) {}
PackedPooling::~PackedPooling() = default;

at::Tensor PackedPooling::run(const at::Tensor& input) { return impl_->run(input); }

c10::Symbol packed_pooling_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::pooling(Tensor input, Any packed) -> Tensor",
      [](torch::jit::Stack& stack) {
        const auto holder = torch::jit::pop(stack).toCapsule();
        const at::Tensor input = torch::jit::pop(stack).toTensor();
        stack.emplace_back(static_cast<PackedPooling&>(*holder).run(input));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA);
  return kSymbol;
}

}  // namespace pareto::runtime::kernels
