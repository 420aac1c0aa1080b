#include "client/flags/splits_flag.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>

#include "client/command.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/planning/frontiers/cut_figures.h"
#include "partitioner/planning/frontiers/frontier_file.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::client {

void add_splits(CLI::App& app, std::string& splits, std::string_view use) {
  const std::string help = fmt::format(
      "split points to {}: all; modules: the ends of modules; auto: those ends at which a single "
      "tensor crosses; or by name: after:MODULE, percent:P, op:N",
      use);
  set_value(app.add_option("--splits", splits, help), "LIST", {"modules", "all", "auto", "@cuts"})
      ->capture_default_str();
}

void FrontierFlags::add_to(CLI::App& app, std::string_view together) {
  set_value(app.add_option("--frontier", files_,
                           fmt::format("file that names a cut by modules or operators, in any "
                                       "order (partitioner/planning/frontiers/FORMAT.md); {}",
                                       together)),
            "FILE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--trainable", trainable_,
               "keep only cuts that have parameters behind them that are not frozen; run and "
               "verify also compare a step of training, cut and whole");
}

Expected<std::vector<model::Cut>> FrontierFlags::cuts(
    const model::Model& model, const std::vector<std::string>& frozen) const {
  std::vector<model::Cut> cuts;
  for (const std::string& file : files_) {
    PARETO_ASSIGN(const planning::FrontierFile frontier,
                  with_context(planning::read_frontier(file), "--frontier"));
    PARETO_ASSIGN(model::Cut cut,
                  with_context(planning::cut_of(frontier, model.graph(), model.split_points()),
                               "--frontier {}: no cut there", file));
    if (trainable_ && !planning::has_trainable_suffix(model.graph(), cut.before, frozen)) {
      return fail(ErrorCode::kInvalidArgument,
                  "--frontier {} with --trainable: no parameter behind it is trainable", file);
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

void CutFlags::add_to(CLI::App& app, std::string& splits, std::string_view use) {
  const std::string help = fmt::format(
      "cuts to {}: all positions of the model's order; modules: the ends of modules; auto: those "
      "ends at which a single tensor crosses; frontiers: every set of operators that holds what it "
      "needs; or by name: after:MODULE, percent:P, op:N, and sets of operators: after:LEFT+RIGHT, "
      "only:MODULE, op:41:50-60",
      use);
  named_ = set_value(app.add_option("--splits", splits, help), "LIST",
                     {"modules", "all", "auto", "frontiers", "@cuts"})
               ->capture_default_str();
  frontiers_.add_to(app, "next to --splits, the cuts of both are taken");
}

Expected<std::vector<model::Cut>> CutFlags::select(Context& context, const model::Model& model,
                                                   std::string& splits) const {
  PARETO_ASSIGN(const std::vector<model::Cut> of_files, frontiers_.cuts(model));
  std::vector<std::string> names;
  for (const model::Cut& cut : of_files) names.push_back(cut.name);
  if (!names.empty()) {
    if (named_ != nullptr && named_->count() > 0) names.insert(names.begin(), splits);
    splits = join(names, ",");
  }
  PARETO_ASSIGN(auto cuts,
                planning::select_cuts(model, splits, {.trainable = frontiers_.trainable()}));
  for (const std::string& sentence : planning::cuts_named_twice(model, splits)) {
    context.err << sentence << '\n' << std::flush;
  }
  if (frontiers_.trainable()) {
    names.clear();
    for (const model::Cut& cut : cuts) names.push_back(cut.name);
    splits = join(names, ",");
  }
  return cuts;
}

}  // namespace pareto::client
