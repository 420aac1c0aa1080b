#include "runtime/kernels/convolution_piece.h"

#include <algorithm>

#include "runtime/kernels/onednn.h"

namespace pareto::runtime::kernels {
namespace {

using dnnl::memory;
using onednn::data_type;
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
    case Activation::Kind::kSigmoid:
      return eltwise(dnnl::algorithm::eltwise_logistic, 0, 0);
    case Activation::Kind::kHardsigmoid:
      eltwise(dnnl::algorithm::eltwise_linear, 1.0F / 6, 0.5F);
      return eltwise(dnnl::algorithm::eltwise_clip, 0, 1);
  }
}

dnnl::convolution_forward::primitive_desc describe(const ConvolutionProblem& problem,
                                                   const ConvolutionPiece::Extent& extent,
                                                   const LayerWeights& weights,
                                                   const dnnl::engine& engine) {
  const ConvolutionSpec& spec = problem.spec;
  dnnl::post_ops operations;
  if (problem.adds) operations.append_sum();
  if (problem.activates) append(operations, spec.activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  attributes = onednn::with_scratchpad(attributes);
  const memory::desc source = picture(extent.input, spec.compute);
  const memory::desc destination = picture(extent.output, spec.compute);
  const memory::desc weight(weights.dims(extent.channels), data_type(spec.compute),
                            memory::format_tag::any);
  const memory::desc bias =
      spec.bias.defined()
          ? memory::desc({extent.channels.size()}, memory::data_type::f32, memory::format_tag::a)
          : memory::desc();
  memory::dims dilation = spec.dilation;  // oneDNN counts the holes
  for (auto& step : dilation) --step;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {engine,
          kind,
          algorithm,
          source,
          weight,
          bias,
          destination,
          spec.stride,
          dilation,
          extent.padding_before,
          extent.padding_behind,
          attributes};
#else
  return {dnnl::convolution_forward::desc(kind, algorithm, source, weight, bias, destination,
                                          spec.stride, dilation, extent.padding_before,
                                          extent.padding_behind),
          attributes, engine};
#endif
}

}  // namespace

Rows rows_for(const ConvolutionProblem& problem, const Share& results) {
  const ConvolutionSpec& spec = problem.spec;
  const std::int64_t begin = results.begin * spec.stride[0] - spec.padding[0];
  const std::int64_t end = (results.end - 1) * spec.stride[0] - spec.padding[0] +
                           spec.dilation[0] * (problem.weights[2] - 1) + 1;
  const std::int64_t height = problem.input[2];
  const Share input{std::clamp<std::int64_t>(begin, 0, height),
                    std::clamp<std::int64_t>(end, 0, height)};
  return {input, std::max<std::int64_t>(0, -begin), std::max<std::int64_t>(0, end - height)};
}

bool is_computable(const ConvolutionProblem& problem, const Rows& rows) {
  const std::int64_t reach = problem.spec.dilation[0] * (problem.weights[2] - 1);
  if (rows.input.size() < 1) return false;
  return (rows.above == 0 && rows.below == 0) ||
         (problem.spec.padding[0] <= reach && problem.spec.dilation[0] <= rows.input.size());
}

ConvolutionPiece::ConvolutionPiece(const ConvolutionProblem& problem, const Extent& extent,
                                   LayerWeights& weights)
    : channels_(extent.channels),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_),
      bias_tensor_(problem.spec.bias) {
  const auto described = describe(problem, extent, weights, engine_);
  convolution_ = dnnl::convolution_forward(described);
  // The data of these is set again at every run.
  source_ = memory(described.src_desc(), engine_, nullptr);
  destination_ = memory(described.dst_desc(), engine_, nullptr);
  scratchpad_ = memory(described.scratchpad_desc(), engine_, nullptr);
  weights_ = weights.packed(described.weights_desc(), channels_);
  if (bias_tensor_.defined()) {
    bias_ = memory({{channels_.size()}, memory::data_type::f32, memory::format_tag::a}, engine_,
                   bias_tensor_.data_ptr<float>() + channels_.begin);
  }
  set_arguments();
}

void ConvolutionPiece::set_arguments() {
  arguments_ = {{DNNL_ARG_SRC, source_.get()},
                {DNNL_ARG_DST, destination_.get()},
                {DNNL_ARG_SCRATCHPAD, scratchpad_.get()},
                {DNNL_ARG_WEIGHTS, weights_.get()}};
  if (bias_) arguments_.push_back({DNNL_ARG_BIAS, bias_.get()});
}

void ConvolutionPiece::keep_weights(LayerWeights& weights) {
  weights_ = weights.keep(weights_, channels_);
  set_arguments();
}

void ConvolutionPiece::run(const void* source, void* destination) {
  source_.set_data_handle(const_cast<void*>(source));
  destination_.set_data_handle(destination);
  const onednn::Lent working(scratchpad_);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(convolution_.get(), stream_.get(), static_cast<int>(arguments_.size()),
                             arguments_.data()),
      "could not execute a convolution");
  stream_.wait();
}

}  // namespace pareto::runtime::kernels
