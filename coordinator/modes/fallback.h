// Says why a shard falls back to an engine or a precision that is slower than what was asked for.
#pragma once

#include <string>
#include <vector>

namespace pareto::modes {

/// An engine that was tried for a shard.
struct Tried {
  std::string engine;
  std::string failure;  ///< why it could not be used; empty: it could
};

/// Returns the reason in one sentence; "" if the shard runs as was asked for. `kept`: the engine
/// that runs it. `precision_reason`: why its precision is another one, or "".
std::string fallback_text(const std::string& kept, const std::string& precision_reason,
                          const std::vector<Tried>& tried);

}  // namespace pareto::modes
