// Ends a shard that computes without end, and pauses one. Nothing in LibTorch can be interrupted;
// but a graph can be made to ask, in loops and between operators. Sees LibTorch: for runtime
// sources only.
#pragma once

#include <torch/script.h>

#include <atomic>

namespace pareto::runtime {

/// The flag that loops of graphs ask in this thread, for as long as it exists; null: they go on.
/// Threads: one.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::atomic<bool>* const before_;
};

/// Returns the flag of the calling thread's StopScope, for one in a thread that helps it; or null.
const std::atomic<bool>* current_stop();

/// Makes every loop of the graph ask: it throws once the StopScope's flag is true, and pauses if
/// the thread's PauseScope (core/base/pause.h) wants it. To be called after all passes: they take
/// the question for something that may write anywhere.
void insert_stop_checks(torch::jit::Graph& graph);

/// Visits the graph of every method and function that the module's method "run" may call. What it
/// changes in one takes effect only before that has run.
void for_each_called(const torch::jit::Module& module, void (*visit)(torch::jit::Graph&));

/// Makes the graph ask before each operator that computes something of a tensor too. For graphs
/// that one thread runs from end to end. To be called after all passes.
void insert_questions(torch::jit::Graph& graph);

}  // namespace pareto::runtime
