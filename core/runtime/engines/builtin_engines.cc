#include "core/runtime/engines/engine.h"

namespace pareto::runtime {

const std::vector<EngineEntry>& builtin_engines() {
  static const std::vector<EngineEntry> kEngines{
      {"plain", build_plain_engine},
      {"onednn", build_onednn_engine},
      {"channels_last", build_channels_last_engine},
      {"prepacked", build_prepacked_engine},
  };
  return kEngines;
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const EngineEntry& engine : builtin_engines()) names.push_back(engine.name);
    return names;
  }();
  return kNames;
}

}  // namespace pareto::runtime
