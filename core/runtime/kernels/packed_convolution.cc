#include "core/runtime/kernels/packed_convolution.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/kernels/convolution_methods.h"
#include "core/runtime/kernels/onednn.h"
#include "core/runtime/kernels/winograd_convolution.h"
#include "core/runtime/torch/register_operator.h"

namespace pareto::runtime {
namespace {

using onednn::data_type;
using onednn::memory;
using onednn::picture;

void append(dnnl::post_ops& operations, const Activation& activation) {
  const auto eltwise = [&](dnnl::algorithm algorithm, float alpha, float beta) {
#if DNNL_VERSION_MAJOR >= 3
    operations.append_eltwise(algorithm, alpha, beta);
#else
    operations.append_eltwise(1.0F, algorithm, alpha, beta);
#endif
  };
  switch (activation.kind) {
    case Activation::Kind::kNone:
      return;
    case Activation::Kind::kRelu:
      return eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
    case Activation::Kind::kClamp:
      return eltwise(dnnl::algorithm::eltwise_clip, activation.low, activation.high);
    case Activation::Kind::kHardswish:
      return eltwise(dnnl::algorithm::eltwise_hardswish, 1.0F / 6, 0.5F);
    case Activation::Kind::kSilu:
      return eltwise(dnnl::algorithm::eltwise_swish, 1, 0);
  }
}

/// The primitive and weights that one size of input runs with.
struct Prepared {
  std::vector<std::int64_t> input_sizes;
  bool adds = false;
  bool activates = false;
  std::vector<std::int64_t> output_sizes;
  dnnl::convolution_forward convolution;
  memory source;
  memory destination;
  memory scratchpad;
  std::unordered_map<int, memory> arguments;
  /// Convolution that replaces all of the above if it is faster.
  std::unique_ptr<WinogradConvolution> winograd;
};

}  // namespace

struct PackedConvolution::Impl {
  explicit Impl(ConvolutionSpec s)
      : spec(std::move(s)),
        weight_sizes(spec.weight.sizes().vec()),
        fits_winograd(WinogradConvolution::fits(spec)),
        engine(dnnl::engine::kind::cpu, 0),
        stream(engine) {
    weight_dims.assign(weight_sizes.begin(), weight_sizes.end());
    if (spec.groups > 1) {
      weight_dims.insert(weight_dims.begin(), spec.groups);
      weight_dims[1] /= spec.groups;
    }
    spec.weight = spec.weight.contiguous();
    if (spec.bias.defined()) spec.bias = spec.bias.to(at::kFloat).contiguous();
  }

  std::vector<std::int64_t> output_sizes(at::IntArrayRef input) const {
    const auto size = [&](std::size_t i) {
      const std::int64_t kernel = spec.dilation[i] * (weight_sizes[2 + i] - 1) + 1;
      return (input[2 + i] + 2 * spec.padding[i] - kernel) / spec.stride[i] + 1;
    };
    return {input[0], weight_sizes[0], size(0), size(1)};
  }

  dnnl::convolution_forward::primitive_desc describe(const memory::desc& source,
                                                     const memory::desc& destination,
                                                     const dnnl::primitive_attr& attributes) const {
    const memory::desc weight(weight_dims, data_type(spec.compute), memory::format_tag::any);
    const memory::desc bias =
        spec.bias.defined()
            ? memory::desc({spec.bias.size(0)}, memory::data_type::f32, memory::format_tag::a)
            : memory::desc();
    memory::dims dilation = spec.dilation;  // oneDNN counts the holes
    for (auto& step : dilation) --step;
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return {engine,      kind,        algorithm, source,       weight,       bias,
            destination, spec.stride, dilation,  spec.padding, spec.padding, attributes};
#else
    return {dnnl::convolution_forward::desc(kind, algorithm, source, weight, bias, destination,
                                            spec.stride, dilation, spec.padding, spec.padding),
            attributes, engine};
#endif
  }

  memory as_given(void* weights) const {
    const auto order = spec.groups > 1 ? memory::format_tag::goihw : memory::format_tag::oihw;
    return {{weight_dims, memory::data_type::f32, order}, engine, weights};
  }

  void reorder(memory from, memory& to) {
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }

  /// Returns the weights as they were given; read back from the packed ones if only those are left.
  at::Tensor weights() {
    if (spec.weight.defined()) return spec.weight;
    at::Tensor plain = at::empty(weight_sizes, at::kFloat);
    memory result = as_given(plain.data_ptr());
    reorder(prepared.front().arguments.at(DNNL_ARG_WEIGHTS), result);
    return plain;
  }

  /// Drops the given weights if packing lost nothing: packed weights are then as good, and the
  /// given ones would take as much memory once more. Otherwise those are shared as well, unless
  /// they lie in somebody else's memory already.
  void drop_given_weights() {
    if (spec.compute == at::kFloat && !prepared.front().winograd) {
      spec.weight.reset();
    } else if (spec.weight.storage().resizable()) {
      memory given = as_given(spec.weight.data_ptr());
      keep(given);
      spec.weight = at::from_blob(given.get_data_handle(), weight_sizes, at::kFloat);
    }
  }

  /// Returns the weights in a layout: shared with others that have them so, or packed here until
  /// they are kept.
  memory packed(const memory::desc& layout) {
    if (auto known = spec.packed->find(content, layout, engine)) return *std::move(known);
    const at::Tensor plain = weights();
    memory result(layout, engine);
    reorder(as_given(plain.data_ptr()), result);
    return result;
  }

  Prepared& prepare(at::IntArrayRef sizes, bool adds, bool activates) {
    for (Prepared& known : prepared) {
      if (known.adds == adds && known.activates == activates && known.input_sizes == sizes) {
        return known;
      }
    }
    // The content of what is packed below: others that look for it find that.
    if (spec.weight.defined()) {
      content =
          content_of({static_cast<const std::byte*>(spec.weight.data_ptr()), spec.weight.nbytes()});
    }
    Prepared fresh;
    fresh.input_sizes = sizes.vec();
    fresh.adds = adds;
    fresh.activates = activates;
    fresh.output_sizes = output_sizes(sizes);
    const auto method =
        fits_winograd ? convolution_methods().find(key_of(sizes)) : ConvolutionMethod::kDirect;
    if (method == ConvolutionMethod::kWinograd) {
      fresh.winograd = make_winograd(sizes);
      fresh.winograd->keep_weights();
    } else {
      make_direct(fresh);
      if (!method) choose_method(fresh);
      if (!fresh.winograd) keep(fresh.arguments[DNNL_ARG_WEIGHTS]);
    }
    onednn::make_room(prepared);
    prepared.push_back(std::move(fresh));
    drop_given_weights();
    return prepared.back();
  }

  void make_direct(Prepared& fresh) {
    const memory::desc source = picture(fresh.input_sizes, spec.compute);
    const memory::desc destination = picture(fresh.output_sizes, spec.compute);
    dnnl::post_ops operations;
    if (fresh.adds) operations.append_sum();
    if (fresh.activates) append(operations, spec.activation);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    const auto described = describe(source, destination, onednn::with_scratchpad(attributes));
    fresh.convolution = dnnl::convolution_forward(described);
    // Their data is set again at every run.
    fresh.source = memory(source, engine, nullptr);
    fresh.destination = memory(destination, engine, nullptr);
    fresh.scratchpad = memory(described.scratchpad_desc(), engine, nullptr);
    fresh.arguments = {{DNNL_ARG_SRC, fresh.source},
                       {DNNL_ARG_DST, fresh.destination},
                       {DNNL_ARG_SCRATCHPAD, fresh.scratchpad},
                       {DNNL_ARG_WEIGHTS, packed(described.weights_desc())}};
    if (spec.bias.defined()) {
      fresh.arguments[DNNL_ARG_BIAS] =
          memory({{spec.bias.size(0)}, memory::data_type::f32, memory::format_tag::a}, engine,
                 spec.bias.data_ptr());
    }
  }

  void keep(memory& weights) { weights = spec.packed->keep(content, weights); }

  ConvolutionMethods::Key key_of(at::IntArrayRef input) const {
    return {weight_sizes[0],
            weight_sizes[1],
            input[0],
            input[2],
            input[3],
            spec.padding[0],
            spec.padding[1],
            spec.compute == at::kFloat,
            at::get_num_threads()};
  }

  std::unique_ptr<WinogradConvolution> make_winograd(at::IntArrayRef input) {
    ConvolutionSpec whole = spec;
    whole.weight = weights();
    return std::make_unique<WinogradConvolution>(whole, content, input);
  }

  /// Keeps the faster one of two ways to compute the same, by the shortest of a few runs each.
  void choose_method(Prepared& direct) {
    constexpr int kRuns = 4;
    // Those runs find their weights in the cache, where they will hardly be in a whole model: there
    // they come from memory.
    constexpr double kWeightBytesPerNanosecond = 10;
    auto winograd = make_winograd(direct.input_sizes);
    const auto options =
        at::TensorOptions(spec.compute).memory_format(at::MemoryFormat::ChannelsLast);
    const at::Tensor input = at::zeros(direct.input_sizes, options);
    at::Tensor result = at::zeros(direct.output_sizes, options);
    using Clock = std::chrono::steady_clock;
    auto direct_time = Clock::duration::max();
    auto winograd_time = Clock::duration::max();
    for (int i = 0; i < kRuns; ++i) {
      const auto start = Clock::now();
      execute(direct, input, result);
      const auto middle = Clock::now();
      winograd->run(input, result, direct.adds, direct.activates);
      direct_time = std::min(direct_time, middle - start);
      winograd_time = std::min(winograd_time, Clock::now() - middle);
    }
    const auto cost = [](Clock::duration best, std::size_t weight_bytes) {
      return static_cast<double>(Nanoseconds(best).count()) +
             static_cast<double>(weight_bytes) / kWeightBytesPerNanosecond;
    };
    const std::size_t direct_bytes = direct.arguments[DNNL_ARG_WEIGHTS].get_desc().get_size();
    const bool faster =
        cost(winograd_time, winograd->weight_bytes()) < cost(direct_time, direct_bytes);
    convolution_methods().keep(key_of(direct.input_sizes),
                               faster ? ConvolutionMethod::kWinograd : ConvolutionMethod::kDirect);
    if (!faster) return;
    winograd->keep_weights();
    direct.winograd = std::move(winograd);
    direct.arguments.clear();
    direct.convolution = {};
  }

  void execute(Prepared& with, const at::Tensor& input, at::Tensor& result) {
    if (with.winograd) return with.winograd->run(input, result, with.adds, with.activates);
    with.source.set_data_handle(input.data_ptr());
    with.destination.set_data_handle(result.data_ptr());
    const at::Tensor working = onednn::lend(with.scratchpad);
    with.convolution.execute(stream, with.arguments);
    stream.wait();
  }

  at::Tensor run(const at::Tensor& input, at::Tensor addend) {
    const std::int64_t channels = weight_sizes[1] * spec.groups;
    const bool fits = spec.linear ? input.dim() >= 1 && input.size(-1) == channels
                                  : input.dim() == 4 && input.size(1) == channels;
    TORCH_CHECK(fits, "a layer of ", channels, " channels was given ", input.sizes());
    TORCH_CHECK(input.scalar_type() == spec.compute, "a layer in ", spec.compute, " was given ",
                input.scalar_type());
    const auto sizes = result_sizes(input);
    if (addend.defined() && !can_add(addend, sizes, input.sizes())) {
      at::Tensor result = at::add(convolve(input, sizes, {}, false), addend);
      apply(spec.activation, result);
      return result;
    }
    return convolve(input, sizes, std::move(addend), true);
  }

  /// Returns whether oneDNN can add this to the result: it adds nothing that must broadcast.
  bool can_add(const at::Tensor& addend, at::IntArrayRef result, at::IntArrayRef input) const {
    return addend.sizes() == result && addend.scalar_type() == spec.compute &&
           (spec.linear || (meets_input(0, input) && meets_input(1, input)));
  }

  /// Returns whether each window has a point within the input along a dimension. oneDNN 2.6 crashes
  /// where one that has none is followed by a sum and an activation.
  bool meets_input(std::size_t i, at::IntArrayRef input) const {
    const std::int64_t padding = spec.padding[i];
    const bool overlaps = padding <= spec.dilation[i] * (weight_sizes[2 + i] - 1);
    // Steps from point to point that are no longer than the input cannot jump over it.
    return padding == 0 || (overlaps && spec.dilation[i] <= input[2 + i]);
  }

  std::vector<std::int64_t> result_sizes(const at::Tensor& input) const {
    if (spec.linear) {
      auto sizes = input.sizes().vec();
      sizes.back() = weight_sizes[0];
      return sizes;
    }
    auto sizes = output_sizes(input.sizes());
    TORCH_CHECK(sizes[2] > 0 && sizes[3] > 0, "the kernel is larger than its input of ",
                input.sizes());
    return sizes;
  }

  at::Tensor convolve(const at::Tensor& input, at::IntArrayRef sizes, at::Tensor addend,
                      bool activates) {
    const bool adds = addend.defined();
    const auto format = spec.linear ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast;
    const at::Tensor source = input.contiguous(format);
    at::Tensor result = into(std::move(addend), sizes, source.options(), format);
    if (result.numel() == 0) return result;
    const std::int64_t channels = weight_sizes[1];
    Prepared& with = spec.linear
                         ? prepare({1, channels, 1, source.numel() / channels}, adds, activates)
                         : prepare(source.sizes(), adds, activates);
    execute(with, source, result);
    return result;
  }

  /// Returns the tensor that the result goes into. oneDNN adds to what lies there already: the
  /// addend itself if nobody else holds it and its memory is not lent by a message, else a copy.
  static at::Tensor into(at::Tensor addend, at::IntArrayRef sizes, const at::TensorOptions& options,
                         at::MemoryFormat format) {
    if (!addend.defined()) return at::empty(sizes, options, format);
    const bool ours = addend.use_count() == 1 && addend.storage().use_count() == 1 &&
                      addend.storage().resizable();
    if (ours && addend.is_contiguous(format)) return addend;
    return at::empty(sizes, options, format).copy_(addend);
  }

  ConvolutionSpec spec;  ///< its weight undefined once it is packed, where that is enough
  const std::vector<std::int64_t> weight_sizes;
  memory::dims weight_dims;  ///< the same, groups apart
  const bool fits_winograd;
  WeightContent content;
  dnnl::engine engine;
  dnnl::stream stream;
  std::list<Prepared> prepared;
};

PackedConvolution::PackedConvolution(ConvolutionSpec spec)
    : impl_(std::make_unique<Impl>(std::move(spec))) {}
PackedConvolution::~PackedConvolution() = default;

at::Tensor PackedConvolution::run(const at::Tensor& input, at::Tensor addend) {
  return impl_->run(input, std::move(addend));
}

c10::Symbol packed_convolution_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::convolution(Tensor input, Tensor? addend, Any packed) -> Tensor",
      [](torch::jit::Stack& stack) {
        const auto holder = torch::jit::pop(stack).toCapsule();
        c10::IValue last = torch::jit::pop(stack);
        at::Tensor addend = last.isNone() ? at::Tensor() : std::move(last).toTensor();
        const at::Tensor input = torch::jit::pop(stack).toTensor();
        stack.emplace_back(static_cast<PackedConvolution&>(*holder).run(input, std::move(addend)));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA);
  return kSymbol;
}

}  // namespace pareto::runtime
