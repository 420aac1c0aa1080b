// A small language in which built-in architectures are written. Each call adds one operator to a
// flat graph, under the module path that torchvision gives it. Weights have the names of
// torchvision's state_dict. It includes LibTorch.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "partitioner/model/graph/flat.h"

namespace pareto::model {

using Pair = std::array<std::int64_t, 2>;

struct ConvSpec {
  std::int64_t in = 0;   ///< channels
  std::int64_t out = 0;  ///< channels
  Pair kernel{1, 1};
  Pair stride{1, 1};
  Pair padding{0, 0};
  std::int64_t groups = 1;
  bool bias = false;
};

struct PoolSpec {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil = false;
};

/// A flat model under construction, in eval mode: dropout adds nothing, batch norm uses its running
/// statistics.
///
/// Weights are created in the order of the calls, which is the order of torchvision's state_dict;
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
  /// Adds a convolution. `path` is the module's, relative to the model: "features.0.0".
  Value conv(Value x, const std::string& path, const ConvSpec& spec);
  Value batch_norm(Value x, const std::string& path, std::int64_t channels, double eps = 1e-5);
  Value linear(Value x, const std::string& path, std::int64_t in, std::int64_t out);
  Value relu(Value x, const std::string& path);
  Value relu6(Value x, const std::string& path);
  Value hardswish(Value x, const std::string& path);
  Value hardsigmoid(Value x, const std::string& path);
  Value max_pool(Value x, const std::string& path, const PoolSpec& spec);
  Value avg_pool(Value x, const std::string& path, const PoolSpec& spec);
  Value adaptive_avg_pool(Value x, const std::string& path, std::int64_t size);
  Value add(Value a, Value b, const std::string& path);
  Value multiply(Value a, Value b, const std::string& path);
  /// Concatenates along the channels.
  Value concat(const std::vector<Value>& values, const std::string& path);
  /// Notes a dropout that torchvision's model has here, and returns what it was given.
  Value dropout(Value x, const std::string& path);
  /// Flattens all but the batch.
  Value flatten(Value x);

  /// Finishes the model with this output; the builder is used up.
  Flat finish(Value output);

 private:
  Value insert(const std::string& path, c10::Symbol kind,
               const std::vector<torch::jit::NamedValue>& arguments);
  /// Adds a new weight, uniform in [-bound, bound], or all `fill` where bound is 0.
  Value weight(const std::string& name, std::vector<std::int64_t> shape, double bound, double fill,
               bool is_parameter = true);

  Flat flat_;
  Value input_;
  std::uint64_t seed_;
};

/// Adds a convolution and a batch norm: what torchvision calls Conv2dNormActivation or BasicConv2d
/// without its activation.
Network::Value conv_norm(Network& net, Network::Value x, const std::string& conv_path,
                         const std::string& norm_path, const ConvSpec& spec, double eps = 1e-5);

}  // namespace pareto::model
