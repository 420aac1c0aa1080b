#include "client/commands/run_cuts.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>

#include "coordinator/sweep/cut_chains.h"
#include "core/base/usage.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::client::commands {
namespace {

/// Leaves the cut that the fewest bytes cross.
Expected<> keep_smallest(const model::Model& model, std::int64_t batch,
                         std::vector<model::Cut>& cuts) {
  std::size_t best = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    PARETO_ASSIGN(const std::uint64_t bytes,
                  model::boundary_bytes(model.graph(), cuts[i].before, batch));
    if (bytes >= least) continue;
    least = bytes;
    best = i;
  }
  cuts = {model::Cut(cuts[best])};
  return {};
}

}  // namespace

void RunCuts::add_to(CLI::App& app) {
  set_value(app.add_option("--split", split_,
                           "cuts, each between one device and the next: after:MODULE, percent:P, "
                           "op:N; sets of operators: after:LEFT+RIGHT, only:MODULE, op:41:50-60; "
                           "auto: the end of a module that is predicted to answer soonest if the "
                           "devices were profiled, and else the one at which the fewest bytes "
                           "cross; none lets the first device run all"),
            "LIST", {"none", "auto", "@cuts"});
  frontiers_.add_to(app, "next to --split, its cut comes behind those");
}

Expected<std::vector<model::Cut>> RunCuts::find(const model::Model& model, std::int64_t batch,
                                                const planning::CutOptions& of_auto) const {
  std::vector<model::Cut> cuts;
  const std::string names = text() == "none" ? std::string() : text();
  for (const std::string& name : model::split_cut_names(names)) {
    planning::CutOptions options = of_auto;
    options.trainable = frontiers_.trainable() || (name == "auto" && of_auto.trainable);
    PARETO_ASSIGN(auto chosen, planning::select_cuts(model, name, options));
    if (name == "auto") PARETO_TRY(keep_smallest(model, batch, chosen));
    if (chosen.size() != 1) {
      return fail(ErrorCode::kInvalidArgument, "--split {} names {} split points, not one", name,
                  chosen.size());
    }
    PARETO_TRY(check_behind(cuts, chosen.front(), name));
    cuts.push_back(std::move(chosen.front()));
  }
  PARETO_ASSIGN(const std::vector<model::Cut> of_files, frontiers_.cuts(model, of_auto.frozen));
  for (const model::Cut& cut : of_files) {
    PARETO_TRY(check_behind(cuts, cut, cut.name));
    cuts.push_back(cut);
  }
  return cuts;
}

Expected<std::vector<std::size_t>> RunCuts::choices(const model::Model& model) const {
  PARETO_ASSIGN(const std::vector<model::Cut> cuts,
                planning::select_cuts(model, "modules", {.trainable = frontiers_.trainable()}));
  std::vector<std::size_t> points;
  for (const model::Cut& cut : cuts) {
    points.push_back(static_cast<std::size_t>(cut.before.front().end - 1));
  }
  return points;
}

Expected<> RunCuts::check_behind(const std::vector<model::Cut>& cuts, const model::Cut& cut,
                                 const std::string& name) const {
  if (cuts.empty() || sweep::lies_behind(cut, cuts.back())) return {};
  if (cut.before == cuts.back().before) {
    return fail(ErrorCode::kInvalidArgument,
                "--split {}: {} is the same cut as the one before it, {}", split_, name, cut.name);
  }
  return fail(ErrorCode::kInvalidArgument, "--split {}: {} does not lie behind the one before it",
              split_, name);
}

}  // namespace pareto::client::commands
