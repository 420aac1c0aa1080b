// The flags of `run` that say where it cuts: --split, --frontier, --trainable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/commands/splits_flag.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::client {

/// Threads: one owner.
class RunCuts {
 public:
  void add_to(CLI::App& app);
  /// Returns --split as it was said.
  const std::string& text() const { return split_; }
  /// Returns whether a cut was named.
  bool names_any() const { return !split_.empty() || !frontiers_.files().empty(); }
  /// Finds the cuts of --split, as a list or joined as they are in tables
  /// ("after:features.3+after:features.7"), and then those of --frontier. `auto` is the one that
  /// the fewest bytes cross at that batch. Fails: as planning::select_cuts() and
  /// FrontierFlags::cuts(); kInvalidArgument (a name of several cuts, one that does not lie behind
  /// the one before it).
  Expected<std::vector<model::Cut>> find(const model::Model& model, std::int64_t batch) const;

 private:
  Expected<> check_behind(const std::vector<model::Cut>& cuts, const model::Cut& cut,
                          const std::string& name) const;

  std::string split_;
  FrontierFlags frontiers_;
};

}  // namespace pareto::client
