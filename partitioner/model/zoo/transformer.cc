#include "partitioner/model/zoo/transformer.h"

#include <cmath>

namespace pareto::model::zoo {

Network::Value attention(Network& net, Network::Value qkv, const std::string& path,
                         const AttentionSpec& spec,
                         const std::function<Network::Value(Network::Value)>& change_scores) {
  using Value = Network::Value;
  const std::int64_t head = spec.width / spec.heads;
  Value parts = net.reshape(qkv, path, {-1, spec.tokens, 3, spec.heads, head});
  parts = net.permute(parts, path, {2, 0, 3, 1, 4});
  const auto part = [&](int index) {
    return net.apply(path, c10::aten::select, {parts, 0, index});
  };
  Value q = net.apply(path, c10::aten::mul, {part(0), 1 / std::sqrt(static_cast<double>(head))});
  Value k = net.apply(path, c10::aten::transpose, {part(1), -2, -1});
  Value scores = net.apply(path, c10::aten::matmul, {q, k});
  if (change_scores) scores = change_scores(scores);
  Value shares = net.apply(path, c10::aten::softmax, {scores, -1, c10::IValue()});
  Value seen = net.apply(path, c10::aten::matmul, {shares, part(2)});
  seen = net.apply(path, c10::aten::transpose, {seen, 1, 2});
  return net.reshape(seen, path, {-1, spec.tokens, spec.width});
}

Network::Value two_linear_layers(Network& net, Network::Value x, const std::string& path,
                                 std::int64_t width) {
  x = net.gelu(net.linear(x, path + ".0", width, 4 * width), path + ".1");
  return net.linear(x, path + ".3", 4 * width, width);
}

}  // namespace pareto::model::zoo
