#include "partitioner/model/zoo/network.h"

#include <cmath>
#include <utility>

#include "partitioner/model/graph/flat_graph.h"

namespace pareto::model {
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

Network::Value Network::insert(const std::string& path, c10::Symbol kind,
                               const std::vector<torch::jit::NamedValue>& arguments) {
  Value output = flat_.graph->insert(kind, arguments);
  set_scope_path(output->node(), path);
  return output;
}

Network::Value Network::weight(const std::string& name, std::vector<std::int64_t> shape,
                               double bound, double fill, bool is_parameter) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  if (bound > 0) {
    fill_uniform(tensor, hash_of(name) ^ seed_, bound);
  } else {
    tensor.fill_(fill);
  }
  Value value = flat_.graph->addInput();
  value->setType(c10::TensorType::get());
  flat_.weights.push_back({.name = name,
                           .tensor = std::move(tensor),
                           .is_parameter = is_parameter,
                           .is_trainable = is_parameter});
  return value;
}

Network::Value Network::conv(Value x, const std::string& path, const ConvSpec& spec) {
  const std::int64_t in = spec.in / spec.groups;
  const double fan_in = static_cast<double>(in * spec.kernel[0] * spec.kernel[1]);
  Value w = weight(path + ".weight", {spec.out, in, spec.kernel[0], spec.kernel[1]},
                   std::sqrt(6 / fan_in), 0);
  torch::jit::NamedValue bias{c10::IValue()};
  if (spec.bias) bias = weight(path + ".bias", {spec.out}, std::sqrt(1 / fan_in), 0);
  return insert(path, c10::aten::conv2d,
                {x, w, bias, list(spec.stride), list(spec.padding), square(1), spec.groups});
}

Network::Value Network::batch_norm(Value x, const std::string& path, std::int64_t channels,
                                   double eps) {
  Value gamma = weight(path + ".weight", {channels}, 0, 1);
  Value beta = weight(path + ".bias", {channels}, 0, 0);
  Value mean = weight(path + ".running_mean", {channels}, 0, 0, false);
  Value variance = weight(path + ".running_var", {channels}, 0, 1, false);
  return insert(path, c10::aten::batch_norm,
                {x, gamma, beta, mean, variance, false, 0.1, eps, true});
}

Network::Value Network::linear(Value x, const std::string& path, std::int64_t in,
                               std::int64_t out) {
  const double fan_in = static_cast<double>(in);
  Value w = weight(path + ".weight", {out, in}, std::sqrt(3 / fan_in), 0);
  Value bias = weight(path + ".bias", {out}, std::sqrt(1 / fan_in), 0);
  return insert(path, c10::aten::linear, {x, w, bias});
}

Network::Value Network::relu(Value x, const std::string& path) {
  return insert(path, c10::aten::relu, {x});
}

Network::Value Network::relu6(Value x, const std::string& path) {
  return insert(path, c10::aten::hardtanh, {x, 0.0, 6.0});
}

Network::Value Network::hardswish(Value x, const std::string& path) {
  return insert(path, c10::aten::hardswish, {x});
}

Network::Value Network::hardsigmoid(Value x, const std::string& path) {
  return insert(path, c10::aten::hardsigmoid, {x});
}

Network::Value Network::max_pool(Value x, const std::string& path, const PoolSpec& spec) {
  return insert(
      path, c10::aten::max_pool2d,
      {x, square(spec.kernel), square(spec.stride), square(spec.padding), square(1), spec.ceil});
}

Network::Value Network::avg_pool(Value x, const std::string& path, const PoolSpec& spec) {
  return insert(path, c10::aten::avg_pool2d,
                {x, square(spec.kernel), square(spec.stride), square(spec.padding), spec.ceil, true,
                 c10::IValue()});
}

Network::Value Network::adaptive_avg_pool(Value x, const std::string& path, std::int64_t size) {
  return insert(path, c10::aten::adaptive_avg_pool2d, {x, square(size)});
}

Network::Value Network::add(Value a, Value b, const std::string& path) {
  return insert(path, c10::aten::add, {a, b});
}

Network::Value Network::multiply(Value a, Value b, const std::string& path) {
  return insert(path, c10::aten::mul, {a, b});
}

Network::Value Network::concat(const std::vector<Value>& values, const std::string& path) {
  torch::jit::Node* list_node =
      flat_.graph->insertNode(flat_.graph->createList(c10::TensorType::get(), values));
  set_scope_path(list_node, path);
  return insert(path, c10::aten::cat, {list_node->output(), 1});
}

Network::Value Network::flatten(Value x) { return insert("", c10::aten::flatten, {x, 1, -1}); }

Network::Value Network::dropout(Value x, const std::string& path) {
  flat_.left_out.push_back({c10::aten::dropout.toQualString(), path, x->debugName()});
  return x;
}

Flat Network::finish(Value output) {
  flat_.graph->registerOutput(output);
  return std::move(flat_);
}

Network::Value conv_norm(Network& net, Network::Value x, const std::string& conv_path,
                         const std::string& norm_path, const ConvSpec& spec, double eps) {
  return net.batch_norm(net.conv(x, conv_path, spec), norm_path, spec.out, eps);
}

}  // namespace pareto::model
