#include <stdexcept>
#include <string>

#include "runtime/engines/engine.h"

namespace pareto::runtime {

const std::vector<EngineEntry>& builtin_engines() {
  static const std::vector<EngineEntry> kEngines{
      {"plain", prepare_plain},
      {"onednn", prepare_onednn},
      {"channels_last", prepare_channels_last},
      {"prepacked", prepare_prepacked},
  };
  return kEngines;
}

std::unique_ptr<Engine> EngineEntry::build(const LoadedModule& loaded) const {
  return std::make_unique<GraphEngine>(prepare(loaded));
}

std::unique_ptr<Engine> build_engine(std::string_view name, const LoadedModule& loaded) {
  for (const EngineEntry& entry : builtin_engines()) {
    if (entry.name == name) return entry.build(loaded);
  }
  throw std::runtime_error("no engine is called " + std::string(name));
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
