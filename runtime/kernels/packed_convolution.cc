#include "runtime/kernels/packed_convolution.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "runtime/kernels/convolution_methods.h"
#include "runtime/kernels/direct_convolution.h"
#include "runtime/kernels/kernel_time.h"
#include "runtime/kernels/layer_weights.h"
#include "runtime/kernels/onednn.h"
#include "runtime/kernels/parts.h"
#include "runtime/kernels/winograd_convolution.h"
#include "runtime/torch/register_operator.h"

namespace pareto::runtime::kernels {
namespace {

/// The kernel for one size of input on one number of threads.
struct PreparedConvolution {
  std::vector<std::int64_t> input_sizes;
  bool adds = false;
  bool activates = false;
  int threads = 1;
  // One of them.
  std::unique_ptr<DirectConvolution> direct;
  std::unique_ptr<WinogradConvolution> winograd;

  void run(const at::Tensor& input, at::Tensor& result) const {
    if (winograd) return winograd->run(input, result, adds, activates);
    direct->run(input, result);
  }
  std::size_t weight_bytes() const {
    return winograd ? winograd->weight_bytes() : direct->weight_bytes();
  }
  void keep_weights() const { winograd ? winograd->keep_weights() : direct->keep_weights(); }
};

}  // namespace

struct PackedConvolution::Impl {
  explicit Impl(ConvolutionSpec s)
      : spec(std::move(s)),
        weight_sizes(spec.weight.sizes().vec()),
        fits_winograd(WinogradConvolution::fits(spec)),
        weights(spec.weight, spec.groups, spec.packed) {
    spec.weight.reset();  // `weights` has them
    if (spec.bias.defined()) spec.bias = spec.bias.to(at::kFloat).contiguous();
  }

  std::vector<std::int64_t> output_sizes(at::IntArrayRef input) const {
    const auto size = [&](std::size_t i) {
      const std::int64_t kernel = spec.dilation[i] * (weight_sizes[2 + i] - 1) + 1;
      return (input[2 + i] + 2 * spec.padding[i] - kernel) / spec.stride[i] + 1;
    };
    return {input[0], weight_sizes[0], size(0), size(1)};
  }

  const PreparedConvolution& prepare(at::IntArrayRef sizes, bool adds, bool activates) {
    const int threads = kernel_threads();
    for (const PreparedConvolution& known : prepared) {
      if (known.adds == adds && known.activates == activates && known.threads == threads &&
          known.input_sizes == sizes) {
        return known;
      }
    }
    PreparedConvolution fresh =
        fastest({spec, weight_sizes, sizes.vec(), output_sizes(sizes), adds, activates}, threads);
    fresh.keep_weights();
    onednn::make_room(prepared);
    prepared.push_back(std::move(fresh));
    weights.drop_given(/*lossless=*/spec.compute == at::kFloat);
    return prepared.back();
  }

  PreparedConvolution make(const ConvolutionProblem& problem, int threads,
                           const ConvolutionMethod& method) {
    PreparedConvolution made{problem.input, problem.adds, problem.activates,
                             threads,       nullptr,      nullptr};
    if (method.winograd) {
      ConvolutionSpec whole = spec;
      whole.weight = weights.plain();
      made.winograd =
          std::make_unique<WinogradConvolution>(whole, weights.content(), problem.input, threads);
    } else {
      made.direct = std::make_unique<DirectConvolution>(problem, method.cut, threads, weights);
    }
    return made;
  }

  /// Returns the fastest way to compute a convolution: the one that was before, or that a few runs
  /// show.
  PreparedConvolution fastest(const ConvolutionProblem& problem, int threads) {
    std::vector<ConvolutionMethod> methods;
    for (const Cut cut : promising_cuts(problem, threads)) methods.push_back({false, cut});
    if (fits_winograd) methods.push_back({true});
    if (methods.size() == 1) return make(problem, threads, methods[0]);
    const auto key = key_of(problem, threads);
    if (const auto known = convolution_methods().find(key)) return make(problem, threads, *known);
    std::vector<PreparedConvolution> candidates;
    for (const ConvolutionMethod& method : methods) {
      candidates.push_back(make(problem, threads, method));
    }
    const std::size_t best = fastest_of(candidates, problem);
    convolution_methods().keep(key, methods[best]);
    return std::move(candidates[best]);
  }

  ConvolutionKey key_of(const ConvolutionProblem& problem, int threads) const {
    return {weight_sizes[0],  weight_sizes[1],  weight_sizes[2],
            weight_sizes[3],  problem.input[0], problem.input[2],
            problem.input[3], spec.stride[0],   spec.stride[1],
            spec.padding[0],  spec.padding[1],  spec.dilation[0],
            spec.dilation[1], spec.groups,      spec.compute == at::kFloat,
            problem.adds,     fits_winograd,    threads};
  }

  /// Returns which of several ways to compute the same is the fastest, by the shortest of a few
  /// runs each.
  std::size_t fastest_of(const std::vector<PreparedConvolution>& candidates,
                         const ConvolutionProblem& problem) const {
    constexpr int kRuns = 4;
    // Those runs find their weights in the cache, where they will hardly be in a whole model: there
    // they come from memory.
    constexpr double kWeightBytesPerNanosecond = 10;
    const auto options =
        at::TensorOptions(spec.compute).memory_format(at::MemoryFormat::ChannelsLast);
    const at::Tensor input = at::zeros(problem.input, options);
    at::Tensor result = at::zeros(problem.output, options);
    std::vector<Nanoseconds> times(candidates.size(), Nanoseconds::max());
    // One after the other: the pool's threads stay awake, as they do in a whole model.
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      for (int i = 0; i < kRuns; ++i) {
        const Nanoseconds start = kernel_time();
        candidates[c].run(input, result);
        times[c] = std::min(times[c], kernel_time() - start);
      }
    }
    const auto cost = [&](std::size_t c) {
      return to_nanoseconds(times[c]) +
             static_cast<double>(candidates[c].weight_bytes()) / kWeightBytesPerNanosecond;
    };
    std::size_t best = 0;
    for (std::size_t c = 1; c < candidates.size(); ++c) {
      if (cost(c) < cost(best)) best = c;
    }
    return best;
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
    return checked_output_sizes(input.sizes());
  }

  std::vector<std::int64_t> checked_output_sizes(at::IntArrayRef input) const {
    auto sizes = output_sizes(input);
    TORCH_CHECK(sizes[2] > 0 && sizes[3] > 0, "the kernel is larger than its input of ", input);
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
    const PreparedConvolution& with =
        spec.linear ? prepare({1, channels, 1, source.numel() / channels}, adds, activates)
                    : prepare(source.sizes(), adds, activates);
    with.run(source, result);
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

  ConvolutionSpec spec;  ///< without its weight
  const std::vector<std::int64_t> weight_sizes;
  const bool fits_winograd;
  LayerWeights weights;
  std::list<PreparedConvolution> prepared;
};

PackedConvolution::PackedConvolution(ConvolutionSpec spec)
    : impl_(std::make_unique<Impl>(std::move(spec))) {}
PackedConvolution::~PackedConvolution() = default;

at::Tensor PackedConvolution::run(const at::Tensor& input, at::Tensor addend) {
  return impl_->run(input, std::move(addend));
}

const ConvolutionSpec& PackedConvolution::spec() const { return impl_->spec; }
const std::vector<std::int64_t>& PackedConvolution::weight_sizes() const {
  return impl_->weight_sizes;
}
LayerWeights& PackedConvolution::weights() const { return impl_->weights; }
std::vector<std::int64_t> PackedConvolution::output_sizes(at::IntArrayRef input) const {
  return impl_->checked_output_sizes(input);
}

bool has_bfloat16_convolutions() {
  static const bool kHas = [] {
    ConvolutionSpec spec;
    spec.weight = at::ones({16, 16, 1, 1});
    spec.stride = {1, 1};
    spec.padding = {0, 0};
    spec.dilation = {1, 1};
    spec.packed = std::make_shared<PackedWeights>();
    spec.compute = at::kBFloat16;
    try {
      PackedConvolution(std::move(spec)).run(at::ones({1, 16, 1, 1}, at::kBFloat16), {});
    } catch (const dnnl::error&) {
      return false;
    }
    return true;
  }();
  return kHas;
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

}  // namespace pareto::runtime::kernels
