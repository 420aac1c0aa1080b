#include "core/runtime/kernels/packed_pooling.h"

#include <ATen/ATen.h>

#include <list>
#include <unordered_map>
#include <utility>

#include "core/runtime/kernels/onednn.h"
#include "core/runtime/torch/register_operator.h"

namespace pareto::runtime {
namespace {

using onednn::memory;
using onednn::picture;

/// The primitive that one size of input runs with.
struct Prepared {
  std::vector<std::int64_t> input_sizes;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> output_sizes;
  dnnl::pooling_forward pooling;
  memory source;
  memory destination;
  memory scratchpad;
  std::unordered_map<int, memory> arguments;
};

}  // namespace

struct PackedPooling::Impl {
  explicit Impl(PoolingSpec s)
      : spec(std::move(s)), engine(dnnl::engine::kind::cpu, 0), stream(engine) {}

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

  Prepared& prepare(at::IntArrayRef sizes, at::ScalarType type) {
    for (Prepared& known : prepared) {
      if (known.type == type && known.input_sizes == sizes) return known;
    }
    Prepared fresh;
    fresh.input_sizes = sizes.vec();
    fresh.type = type;
    fresh.output_sizes = {sizes[0], sizes[1], output_size(0, sizes[2]), output_size(1, sizes[3])};
    // Padding behind the last row and column: what the last windows need, which may be less than
    // none
    memory::dims after;
    for (std::size_t i = 0; i < 2; ++i) {
      after.push_back((fresh.output_sizes[2 + i] - 1) * spec.stride[i] + spec.kernel[i] -
                      sizes[2 + i] - spec.padding[i]);
    }
    const memory::desc source = picture(sizes, type);
    const memory::desc destination = picture(fresh.output_sizes, type);
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = spec.kind == PoolingSpec::Kind::kMax
                               ? dnnl::algorithm::pooling_max
                               : dnnl::algorithm::pooling_avg_include_padding;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::pooling_forward::primitive_desc described(
        engine, kind, algorithm, source, destination, spec.stride, spec.kernel, {0, 0},
        spec.padding, after, onednn::with_scratchpad());
#else
    const dnnl::pooling_forward::primitive_desc described(
        dnnl::pooling_forward::desc(kind, algorithm, source, destination, spec.stride, spec.kernel,
                                    spec.padding, after),
        onednn::with_scratchpad(), engine);
#endif
    fresh.pooling = dnnl::pooling_forward(described);
    // Their data is set again at every run.
    fresh.source = memory(source, engine, nullptr);
    fresh.destination = memory(destination, engine, nullptr);
    fresh.scratchpad = memory(described.scratchpad_desc(), engine, nullptr);
    fresh.arguments = {{DNNL_ARG_SRC, fresh.source},
                       {DNNL_ARG_DST, fresh.destination},
                       {DNNL_ARG_SCRATCHPAD, fresh.scratchpad}};
    onednn::make_room(prepared);
    prepared.push_back(std::move(fresh));
    return prepared.back();
  }

  at::Tensor run(const at::Tensor& input) {
    const at::ScalarType type = input.scalar_type();
    TORCH_CHECK(input.dim() == 4 && (type == at::kFloat || type == at::kBFloat16),
                "pooling of a picture was given ", input.sizes(), " of ", type);
    const at::Tensor source = input.contiguous(at::MemoryFormat::ChannelsLast);
    Prepared& with = prepare(source.sizes(), type);
    at::Tensor result =
        at::empty(with.output_sizes, source.options(), at::MemoryFormat::ChannelsLast);
    if (result.numel() == 0) return result;
    with.source.set_data_handle(source.data_ptr());
    with.destination.set_data_handle(result.data_ptr());
    const at::Tensor working = onednn::lend(with.scratchpad);
    with.pooling.execute(stream, with.arguments);
    stream.wait();
    return result;
  }

  const PoolingSpec spec;
  dnnl::engine engine;
  dnnl::stream stream;
  std::list<Prepared> prepared;
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

}  // namespace pareto::runtime
