// Layers of vision transformers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {

struct AttentionSpec {
  std::int64_t tokens = 0;  ///< tokens that see each other
  std::int64_t width = 0;   ///< elements of a token
  std::int64_t heads = 1;
};

/// Adds attention without its projections: softmax(q·kᵀ / √width of a head)·v of each head.
/// `qkv`: [B, tokens, 3·width], queries, keys and values next to each other. `change_scores` may
/// add to q·kᵀ, which is [B, heads, tokens, tokens]. Returns [B, tokens, width].
Network::Value attention(Network& net, Network::Value qkv, const std::string& path,
                         const AttentionSpec& spec,
                         const std::function<Network::Value(Network::Value)>& change_scores = {});

/// Adds two linear layers, gelu between them, as children 0, 1 and 3 of `path`; the inner width is
/// four times the outer one.
Network::Value two_linear_layers(Network& net, Network::Value x, const std::string& path,
                                 std::int64_t width);

}  // namespace pareto::model::zoo
