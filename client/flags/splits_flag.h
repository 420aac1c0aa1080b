// --splits, and the flags next to it that choose cuts, as several commands take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pareto::client {

struct Context;

/// Adds --splits of positions only. `use`: what is done with the split points, "try".
void add_splits(CLI::App& app, std::string& splits, std::string_view use);

/// --frontier and --trainable.
///
/// Threads: one owner.
class FrontierFlags {
 public:
  /// `together`: half a sentence on what cuts of files and of names are together.
  void add_to(CLI::App& app, std::string_view together);
  bool trainable() const { return trainable_; }
  const std::vector<std::string>& files() const { return files_; }
  /// Returns the cuts of the files, as they are listed. `frozen`: module paths whose parameters
  /// --trainable does not count. Fails: as read_frontier() and cut_of(), naming the file.
  Expected<std::vector<model::Cut>> cuts(const model::Model& model,
                                         const std::vector<std::string>& frozen = {}) const;

 private:
  std::vector<std::string> files_;
  bool trainable_ = false;
};

/// The three of them.
///
/// Threads: one owner; the parser outlives it.
class CutFlags {
 public:
  /// `use`: what is done with the cuts, "try". `splits` keeps the text of --splits and outlives it.
  void add_to(CLI::App& app, std::string& splits, std::string_view use);
  /// Selects the cuts, smaller sets first, and says on stderr which parts of the text are one cut.
  /// If a file or --trainable chose them, `splits` becomes a list of their names. Fails: as
  /// planning::select_cuts() and FrontierFlags::cuts().
  Expected<std::vector<model::Cut>> select(Context& context, const model::Model& model,
                                           std::string& splits) const;
  bool trainable() const { return frontiers_.trainable(); }

 private:
  FrontierFlags frontiers_;
  const CLI::Option* named_ = nullptr;
};

}  // namespace pareto::client
