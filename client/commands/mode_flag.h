// --mode: how `run` computes, and what it says of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/command.h"
#include "client/flags/runner_flags.h"
#include "coordinator/sweep/run_once.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::client::commands {

enum class Mode {
  kInterpret,  ///< operator by operator in this process, each value compared
  kEager,      ///< the plain engine
  kOptimised,  ///< the engine that --engine names, or the fastest
};

/// The value of --mode, "optimised" unless it is given.
///
/// Threads: one owner.
class ModeFlag {
 public:
  void add_to(CLI::App& app);
  /// Returns the mode, and sets the engine of eager. Fails: kInvalidArgument (no such mode, or
  /// flags of the runner that it leaves nothing to do).
  Expected<Mode> read(RunnerFlags& runner) const;
  const std::string& text() const { return mode_; }

 private:
  std::string mode_ = "optimised";
};

/// Returns lines on what was loaded and sent before the first request that counts, and on stages
/// that fall back to a slower engine or precision, with the reason.
std::string start_text(const std::string& mode, const sweep::RunStart& start);
nlohmann::ordered_json start_json(const std::string& mode, const sweep::RunStart& start);

/// Interprets the model between those cuts, at the batch and with the threads of a plan, and prints
/// what was compared. Returns the exit code: kExitFailed if a value differs. Fails: as
/// model::interpret() does.
Expected<int> interpret_cuts(Context& context, const model::Model& model,
                             const std::vector<model::Cut>& cuts, const plan::Plan& plan,
                             std::uint64_t seed, bool json);

}  // namespace pareto::client::commands
