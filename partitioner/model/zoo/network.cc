#include "partitioner/model/zoo/network.h"

#include <cmath>
#include <utility>

#include "partitioner/model/graph/flat_graph.h"

namespace pareto::model::zoo {
namespace {

/// FNV-1a: a stable number for a name.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// Uniform in [-bound, bound]. One multiplication of exact numbers each, so that no compiler and no
/// processor rounds differently (a sum could be fused on some).
void fill_uniform(at::Tensor& tensor, std::uint64_t state, double bound) {
  const auto scale = static_cast<float>(bound / 8388608.0);
  auto* data = tensor.data_ptr<float>();
  const std::int64_t count = tensor.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    state += 0x9e3779b97f4a7c15ULL;  // splitmix64
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    const auto bits = static_cast<std::int32_t>((z ^ (z >> 31)) >> 40);
    data[i] = static_cast<float>(bits - 8388608) * scale;
  }
}

c10::IValue list(Pair pair) { return std::vector<std::int64_t>{pair[0], pair[1]}; }
c10::IValue square(std::int64_t size) { return list({size, size}); }

}  // namespace

Network::Network(std::string name, std::uint64_t seed) : seed_(seed) {
  flat_.model = std::move(name);
  flat_.graph = std::make_shared<torch::jit::Graph>();
  flat_.model_inputs = 1;
  input_ = flat_.graph->addInput("input");
  input_->setType(c10::TensorType::get());
}

Network::Value Network::apply(const std::string& path, c10::Symbol kind,
                              const std::vector<torch::jit::NamedValue>& arguments) {
  Value output = flat_.graph->insert(kind, arguments);
  set_scope_path(output->node(), path);
  return output;
}

Network::Value Network::add_weight(FlatWeight weight) {
  Value value = flat_.graph->addInput();
  value->setType(c10::TensorType::get());
  weights_.emplace(weight.name, value);
  flat_.weights.push_back(std::move(weight));
  return value;
}

Network::Value Network::weight(const std::string& name, std::vector<std::int64_t> shape,
                               double bound, double fill, bool is_parameter) {
  if (const auto found = weights_.find(name); found != weights_.end()) return found->second;
  at::Tensor tensor = at::empty(shape, at::kFloat);
  if (bound > 0) {
    fill_uniform(tensor, hash_of(name) ^ seed_, bound);
  } else {
    tensor.fill_(fill);
  }
  return add_weight({.name = name,
                     .tensor = std::move(tensor),
                     .is_parameter = is_parameter,
                     .is_trainable = is_parameter});
}

Network::Value Network::parameter(const std::string& name, std::vector<std::int64_t> shape,
                                  double bound) {
  return weight(name, std::move(shape), bound, 0);
}

Network::Value Network::buffer(const std::string& name, at::Tensor tensor, bool in_state_dict) {
  if (const auto found = weights_.find(name); found != weights_.end()) return found->second;
  return add_weight({.name = name,
                     .tensor = std::move(tensor),
                     .is_parameter = false,
                     .in_state_dict = in_state_dict});
}

Network::Value Network::frozen(const std::string& name, at::Tensor tensor) {
  if (const auto found = weights_.find(name); found != weights_.end()) return found->second;
  return add_weight({.name = name, .tensor = std::move(tensor)});
}

Network::Weights Network::conv_weights(const std::string& path, const ConvSpec& spec) {
  const std::int64_t in = spec.in / spec.groups;
  const double fan_in = static_cast<double>(in * spec.kernel[0] * spec.kernel[1]);
  Weights made;
  made.weight = weight(path + ".weight", {spec.out, in, spec.kernel[0], spec.kernel[1]},
                       std::sqrt(6 / fan_in), 0);
  if (spec.bias) made.bias = weight(path + ".bias", {spec.out}, std::sqrt(1 / fan_in), 0);
  return made;
}

Network::Weights Network::linear_weights(const std::string& path, std::int64_t in, std::int64_t out,
                                         bool bias) {
  const double fan_in = static_cast<double>(in);
  Weights made;
  made.weight = weight(path + ".weight", {out, in}, std::sqrt(3 / fan_in), 0);
  if (bias) made.bias = weight(path + ".bias", {out}, std::sqrt(1 / fan_in), 0);
  return made;
}

Network::NormWeights Network::norm_weights(const std::string& path, std::int64_t channels) {
  NormWeights made{};
  made.gamma = weight(path + ".weight", {channels}, 0, 1);
  made.beta = weight(path + ".bias", {channels}, 0, 0);
  made.mean = weight(path + ".running_mean", {channels}, 0, 0, false);
  made.variance = weight(path + ".running_var", {channels}, 0, 1, false);
  return made;
}

void Network::declare_conv(const std::string& path, const ConvSpec& spec) {
  conv_weights(path, spec);
}

void Network::declare_norm(const std::string& path, std::int64_t channels) {
  norm_weights(path, channels);
}

void Network::declare_linear(const std::string& path, std::int64_t in, std::int64_t out,
                             bool bias) {
  linear_weights(path, in, out, bias);
}

Network::Value Network::conv(Value x, const std::string& path, const ConvSpec& spec) {
  const Weights w = conv_weights(path, spec);
  return apply(path, c10::aten::conv2d,
               {x, w.weight, w.bias, list(spec.stride), list(spec.padding), list(spec.dilation),
                spec.groups});
}

Network::Value Network::batch_norm(Value x, const std::string& path, std::int64_t channels,
                                   double eps, double momentum) {
  const NormWeights w = norm_weights(path, channels);
  return apply(path, c10::aten::batch_norm,
               {x, w.gamma, w.beta, w.mean, w.variance, false, momentum, eps, true});
}

Network::Value Network::layer_norm(Value x, const std::string& path, std::int64_t channels,
                                   double eps) {
  Value gamma = weight(path + ".weight", {channels}, 0, 1);
  Value beta = weight(path + ".bias", {channels}, 0, 0);
  return apply(path, c10::aten::layer_norm,
               {x, std::vector<std::int64_t>{channels}, gamma, beta, eps, true});
}

Network::Value Network::linear(Value x, const std::string& path, std::int64_t in, std::int64_t out,
                               bool bias) {
  const Weights w = linear_weights(path, in, out, bias);
  return apply(path, c10::aten::linear, {x, w.weight, w.bias});
}

Network::Value Network::relu(Value x, const std::string& path) {
  return apply(path, c10::aten::relu, {x});
}

Network::Value Network::relu6(Value x, const std::string& path) {
  return apply(path, c10::aten::hardtanh, {x, 0.0, 6.0});
}

Network::Value Network::hardswish(Value x, const std::string& path) {
  return apply(path, c10::aten::hardswish, {x});
}

Network::Value Network::hardsigmoid(Value x, const std::string& path) {
  return apply(path, c10::aten::hardsigmoid, {x});
}

Network::Value Network::max_pool(Value x, const std::string& path, const PoolSpec& spec) {
  return apply(
      path, c10::aten::max_pool2d,
      {x, square(spec.kernel), square(spec.stride), square(spec.padding), square(1), spec.ceil});
}

Network::Value Network::avg_pool(Value x, const std::string& path, const PoolSpec& spec) {
  return apply(path, c10::aten::avg_pool2d,
               {x, square(spec.kernel), square(spec.stride), square(spec.padding), spec.ceil, true,
                c10::IValue()});
}

Network::Value Network::adaptive_avg_pool(Value x, const std::string& path, std::int64_t size) {
  return apply(path, c10::aten::adaptive_avg_pool2d, {x, square(size)});
}

Network::Value Network::add(Value a, Value b, const std::string& path) {
  return apply(path, c10::aten::add, {a, b});
}

Network::Value Network::multiply(Value a, Value b, const std::string& path) {
  return apply(path, c10::aten::mul, {a, b});
}

Network::Value Network::silu(Value x, const std::string& path) {
  return apply(path, c10::aten::silu, {x});
}

Network::Value Network::gelu(Value x, const std::string& path) {
  return apply(path, c10::aten::gelu, {x});
}

Network::Value Network::sigmoid(Value x, const std::string& path) {
  return apply(path, c10::aten::sigmoid, {x});
}

Network::Value Network::list_of(const std::vector<Value>& values, const std::string& path) {
  torch::jit::Node* list_node =
      flat_.graph->insertNode(flat_.graph->createList(c10::TensorType::get(), values));
  set_scope_path(list_node, path);
  return list_node->output();
}

Network::Value Network::concat(const std::vector<Value>& values, const std::string& path,
                               std::int64_t dim) {
  return apply(path, c10::aten::cat, {list_of(values, path), dim});
}

Network::Value Network::stack(const std::vector<Value>& values, const std::string& path,
                              std::int64_t dim) {
  return apply(path, c10::aten::stack, {list_of(values, path), dim});
}

Network::Value Network::slice(Value x, const std::string& path, std::int64_t dim,
                              std::int64_t begin, std::int64_t end) {
  return apply(path, c10::aten::slice, {x, dim, begin, end, 1});
}

Network::Value Network::reshape(Value x, const std::string& path, std::vector<std::int64_t> sizes) {
  return apply(path, c10::aten::reshape, {x, std::move(sizes)});
}

Network::Value Network::permute(Value x, const std::string& path, std::vector<std::int64_t> order) {
  return apply(path, c10::aten::permute, {x, std::move(order)});
}

Network::Value Network::upsample_bilinear(Value x, const std::string& path, Pair size) {
  return apply(path, c10::aten::upsample_bilinear2d, {x, list(size), false});
}

Network::Value Network::upsample_nearest(Value x, const std::string& path, Pair size) {
  return apply(path, c10::aten::upsample_nearest2d, {x, list(size)});
}

Network::Value Network::flatten(Value x) { return apply("", c10::aten::flatten, {x, 1, -1}); }

Network::Value Network::dropout(Value x, const std::string& path, double share) {
  return apply(path, c10::aten::dropout, {x, share, false});
}

Flat Network::finish(Value output) {
  flat_.graph->registerOutput(output);
  return std::move(flat_);
}

Network::Value conv_norm(Network& net, Network::Value x, const std::string& conv_path,
                         const std::string& norm_path, const ConvSpec& spec, double eps,
                         double momentum) {
  return net.batch_norm(net.conv(x, conv_path, spec), norm_path, spec.out, eps, momentum);
}

}  // namespace pareto::model::zoo
