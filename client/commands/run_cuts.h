// The flags of `run` that say where it cuts: --split, --frontier, --trainable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/flags/splits_flag.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::client::commands {

/// The cuts that these flags name, found in a model.
///
/// Threads: one owner.
class RunCuts {
 public:
  /// `usual`: what --split is if no flag names a cut.
  explicit RunCuts(std::string usual = "") : usual_(std::move(usual)) {}

  void add_to(CLI::App& app);
  /// Returns --split as it was said, or as it usually is.
  const std::string& text() const { return names_any() ? split_ : usual_; }
  /// Returns whether only cuts are taken that have something to train behind them.
  bool trainable() const { return frontiers_.trainable(); }
  /// Returns whether a cut was named.
  bool names_any() const { return !split_.empty() || !frontiers_.files().empty(); }
  /// Returns whether --split leaves the choice of one cut open.
  bool is_auto() const { return split_ == "auto" && frontiers_.files().empty(); }
  /// Returns the split points that `auto` chooses among if it predicts: those of `modules`, as
  /// indices into Model::split_points(). Fails: as planning::select_cuts().
  Expected<std::vector<std::size_t>> choices(const model::Model& model) const;
  /// Finds the cuts of --split, as a list or joined as they are in tables
  /// ("after:features.3+after:features.7"), and then those of --frontier. `auto` is the one that
  /// the fewest bytes cross at that batch, among those that `of_auto` admits. --trainable takes
  /// those modules as frozen too. Fails: as planning::select_cuts() and FrontierFlags::cuts();
  /// kInvalidArgument (a name of several cuts, one that does not lie behind the one before it).
  Expected<std::vector<model::Cut>> find(const model::Model& model, std::int64_t batch,
                                         const planning::CutOptions& of_auto = {}) const;

 private:
  Expected<> check_behind(const std::vector<model::Cut>& cuts, const model::Cut& cut,
                          const std::string& name) const;

  std::string usual_;
  std::string split_;
  FrontierFlags frontiers_;
};

}  // namespace pareto::client::commands
