// A small language in which built-in architectures are written. Each call adds one operator to a
// flat graph, under the module path that torchvision gives it. Weights have the names of
// torchvision's state_dict. It includes LibTorch.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "partitioner/model/graph/flat.h"

namespace pareto::model::zoo {

using Pair = std::array<std::int64_t, 2>;

struct ConvSpec {
  std::int64_t in = 0;   ///< channels
  std::int64_t out = 0;  ///< channels
  Pair kernel{1, 1};
  Pair stride{1, 1};
  Pair padding{0, 0};
  std::int64_t groups = 1;
  bool bias = false;
  Pair dilation{1, 1};
};

struct PoolSpec {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil = false;
};

/// A flat model under construction, in eval mode: dropout drops nothing, batch norm uses its
/// running statistics. Training shards switch both on. The class has a method for each kind of
/// layer: this is why there are more than 20.
///
/// Weights are created in the order of the calls, which has to be that of torchvision's state_dict;
/// `num_batches_tracked` is left out, no inference reads it. Values are seeded by the weight's
/// name, so they are the same on every machine: uniform, with the variance of He et al. (2015) for
/// what a relu follows, so that activations neither explode nor vanish.
///
/// Threads: one owner. May throw c10::Error, on a wrong architecture only: shapes are not known
/// here.
class Network {
 public:
  using Value = torch::jit::Value*;

  Network(std::string name, std::uint64_t seed);

  Value input() const { return input_; }

  /// Create the weights of a layer before it is added: torchvision's state_dict has some earlier
  /// than they are used. The layer of that path takes them.
  void declare_conv(const std::string& path, const ConvSpec& spec);
  void declare_norm(const std::string& path, std::int64_t channels);
  void declare_linear(const std::string& path, std::int64_t in, std::int64_t out, bool bias = true);
  /// Returns the parameter of that name; at first it is created, uniform in [-bound, bound].
  Value parameter(const std::string& name, std::vector<std::int64_t> shape, double bound);
  /// Returns the buffer of that name; at first it is created. `in_state_dict`: checkpoints hold it.
  Value buffer(const std::string& name, at::Tensor tensor, bool in_state_dict = true);
  /// Returns the parameter of that name, which training leaves as it is; at first it is created.
  Value frozen(const std::string& name, at::Tensor tensor);

  /// Adds a convolution. `path` is the module's, relative to the model: "features.0.0".
  Value conv(Value x, const std::string& path, const ConvSpec& spec);
  /// `momentum`: the share of a batch's statistics in the running ones, while it trains.
  Value batch_norm(Value x, const std::string& path, std::int64_t channels, double eps = 1e-5,
                   double momentum = 0.1);
  Value layer_norm(Value x, const std::string& path, std::int64_t channels, double eps = 1e-5);
  Value linear(Value x, const std::string& path, std::int64_t in, std::int64_t out,
               bool bias = true);
  Value relu(Value x, const std::string& path);
  Value relu6(Value x, const std::string& path);
  Value hardswish(Value x, const std::string& path);
  Value hardsigmoid(Value x, const std::string& path);
  Value silu(Value x, const std::string& path);
  Value gelu(Value x, const std::string& path);
  Value sigmoid(Value x, const std::string& path);
  Value max_pool(Value x, const std::string& path, const PoolSpec& spec);
  Value avg_pool(Value x, const std::string& path, const PoolSpec& spec);
  Value adaptive_avg_pool(Value x, const std::string& path, std::int64_t size);
  Value add(Value a, Value b, const std::string& path);
  Value multiply(Value a, Value b, const std::string& path);
  /// Concatenates along a dimension, the channels unless another one is named.
  Value concat(const std::vector<Value>& values, const std::string& path, std::int64_t dim = 1);
  /// Puts values next to each other along a new dimension.
  Value stack(const std::vector<Value>& values, const std::string& path, std::int64_t dim);
  /// Returns elements begin … end-1 of a dimension.
  Value slice(Value x, const std::string& path, std::int64_t dim, std::int64_t begin,
              std::int64_t end);
  /// Gives new sizes; one may be -1, which is what is left.
  Value reshape(Value x, const std::string& path, std::vector<std::int64_t> sizes);
  Value permute(Value x, const std::string& path, std::vector<std::int64_t> order);
  /// Resizes pictures to height and width, each pixel made of its neighbours.
  Value upsample_bilinear(Value x, const std::string& path, Pair size);
  /// Resizes pictures to height and width, each pixel its nearest one.
  Value upsample_nearest(Value x, const std::string& path, Pair size);
  /// Adds a dropout. `share`: the elements that it drops while the model trains.
  Value dropout(Value x, const std::string& path, double share);
  /// Flattens all but the batch.
  Value flatten(Value x);
  /// Adds any other operator. `arguments`: as its schema lists them.
  Value apply(const std::string& path, c10::Symbol kind,
              const std::vector<torch::jit::NamedValue>& arguments);

  /// Finishes the model with this output; the builder is used up.
  Flat finish(Value output);

 private:
  /// The weights of a layer.
  struct Weights {
    Value weight = nullptr;
    torch::jit::NamedValue bias{c10::IValue()};
  };
  struct NormWeights {
    Value gamma, beta, mean, variance;
  };
  Weights conv_weights(const std::string& path, const ConvSpec& spec);
  Weights linear_weights(const std::string& path, std::int64_t in, std::int64_t out, bool bias);
  NormWeights norm_weights(const std::string& path, std::int64_t channels);
  Value list_of(const std::vector<Value>& values, const std::string& path);
  /// Returns the weight of that name. At first it is created, uniform in [-bound, bound], or all
  /// `fill` where bound is 0.
  Value weight(const std::string& name, std::vector<std::int64_t> shape, double bound, double fill,
               bool is_parameter = true);
  Value add_weight(FlatWeight weight);

  Flat flat_;
  std::unordered_map<std::string, Value> weights_;  ///< weights by name
  Value input_;
  std::uint64_t seed_;
};

/// Adds a convolution and a batch norm: what torchvision calls Conv2dNormActivation or BasicConv2d
/// without its activation.
Network::Value conv_norm(Network& net, Network::Value x, const std::string& conv_path,
                         const std::string& norm_path, const ConvSpec& spec, double eps = 1e-5,
                         double momentum = 0.1);

}  // namespace pareto::model::zoo
