// One way of running a shard's graph. A plug: one file that implements Engine, one line in
// builtin_engines.cc; judged by agreeing with "plain". Sees LibTorch: for runtime sources
// only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engines/options.h"
#include "runtime/engines/sample_blocks.h"
#include "runtime/kernels/layout_change.h"
#include "runtime/kernels/packed_bytes.h"
#include "runtime/torch/ready_marks.h"

namespace pareto::runtime::kernels {
class PackedWeights;
}  // namespace pareto::runtime::kernels

namespace pareto::runtime {

/// A shard's module with its weights in place, on its device, in eval mode; its one method is
/// "run".
struct LoadedModule {
  torch::jit::Module module;
  c10::Device device = c10::kCPU;
  Precision precision = Precision::kFloat32;
};

/// EarlyOutputs in LibTorch's values.
class EarlyResults {
 public:
  virtual ~EarlyResults() = default;
  virtual bool wants(std::size_t index) = 0;
  virtual void take(std::size_t index, const c10::IValue& result) = 0;
};

/// A shard's graph, prepared to run in one way.
///
/// Threads: one at a time. May throw c10::Error and std::exception.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Arguments of "run" on the engine's device; returns the elements of its tuple, None where
  /// `early` took it. early may be null.
  virtual std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, EarlyResults* early) = 0;
  /// Returns the bytes of weights that it shares with other engines (packed_weights.h), after its
  /// first run.
  virtual std::uint64_t packed_bytes() const { return 0; }
  /// Returns whether its kernels share the caller's pool, and LibTorch's own threads do nothing.
  virtual bool is_pooled() const { return false; }
  /// Returns how long each worker has computed in all; empty if it has no workers. Threads: any.
  virtual std::vector<Nanoseconds> worker_times() const { return {}; }
};

/// The layout in which an engine wants images. Its results lie as the graph made them.
enum class Layout { kRowMajor, kChannelsLast };

/// The graph that an engine makes of a module, and the values that go with it.
struct EngineGraph {
  /// Its first input is the module's object, its last ones are `extra`. It returns one tuple.
  std::shared_ptr<torch::jit::Graph> graph;
  c10::IValue self;                  ///< the module's object
  std::vector<c10::IValue> extra{};  ///< values made once, of one engine alone (packed weights)
  Layout layout = Layout::kRowMajor;
  /// With bf16 results may be bf16 where the model's are float32: the caller casts them back.
  Precision precision = Precision::kFloat32;
  std::shared_ptr<const kernels::PackedWeights>
      packed{};  ///< weights shared with other engines, or null
  /// Its kernels share their work among the threads of the caller's pool (thread_pool.h), where
  /// LibTorch's own threads would be in the way: all other operators run on one thread (OneThread).
  /// A batch goes through it in blocks of samples, as is the fastest.
  bool pooled = false;
};

struct EngineEntry {
  std::string name;
  /// Throws where this engine cannot run the module.
  EngineGraph (*prepare)(const LoadedModule& loaded);

  /// Returns an engine that runs the whole graph at once.
  std::unique_ptr<Engine> build(const LoadedModule& loaded) const;
};

/// Returns "plain" first: the reference of all others.
const std::vector<EngineEntry>& builtin_engines();
/// Returns the engine of that name for a module. Throws where it cannot run it, or there is none.
std::unique_ptr<Engine> build_engine(std::string_view name, const LoadedModule& loaded);

EngineGraph prepare_plain(const LoadedModule& loaded);
EngineGraph prepare_onednn(const LoadedModule& loaded);
EngineGraph prepare_channels_last(const LoadedModule& loaded);
EngineGraph prepare_prepacked(const LoadedModule& loaded);

/// Brings arguments into the layout and precision of an engine.
/// Threads: one at a time. May throw c10::Error.
class ArgumentChange {
 public:
  ArgumentChange(Layout layout, Precision precision) : layout_(layout), precision_(precision) {}
  c10::IValue apply(const c10::IValue& argument);

 private:
  at::Tensor changed(const at::Tensor& tensor);

  Layout layout_;
  Precision precision_;
  kernels::LayoutChange layout_change_;
};

/// Returns of each result of a graph the argument that it is, unchanged; -1 for what the graph
/// computes. Arguments are numbered without the module's object.
std::vector<std::ptrdiff_t> find_passed_through(const std::shared_ptr<torch::jit::Graph>& graph);

/// Returns the values of the tuple that a graph returned. Throws std::runtime_error if they are not
/// as many as its code says.
std::vector<c10::IValue> results_in(const c10::IValue& tuple, std::size_t count);

/// Interprets a graph as a whole: all operators one after the other.
class GraphEngine final : public Engine {
 public:
  explicit GraphEngine(EngineGraph graph);
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, EarlyResults* early) override;
  std::uint64_t packed_bytes() const override;
  bool is_pooled() const override { return pooled_; }

 private:
  /// Returns whether arguments go through the graph in blocks of samples.
  bool runs_in_blocks(const torch::jit::Stack& arguments) const;

  c10::intrusive_ptr<ReadyMarks> marks_;
  std::vector<std::ptrdiff_t> passed_through_;
  const bool pooled_;
  BlockedGraph blocked_;  ///< empty if all samples always run at once
  torch::jit::Code code_;
  std::optional<torch::jit::Code> blocked_code_;
  c10::IValue self_;
  std::vector<c10::IValue> extra_;
  std::shared_ptr<const kernels::PackedWeights> packed_;
  ArgumentChange change_;
};

/// Returns the attribute by which an operator of our own names the kind that it stands for.
inline c10::Symbol kind_attribute() {
  static const c10::Symbol kKind = c10::Symbol::attr("stands_for");
  return kKind;
}

/// A graph that nobody else has, and the object that is its first argument.
struct FrozenShard {
  std::shared_ptr<torch::jit::Graph> graph;
  c10::IValue self;
};
/// Returns the module's "run" frozen, its constants folded and its convolutions merged with their
/// batch norms. Throws where a stride, dilation or kernel is below 1, or a padding below 0.
FrozenShard freeze_shard(const LoadedModule& loaded);
/// Turns the float32 constants of a frozen graph into bf16.
void constants_to_bfloat16(torch::jit::Graph& graph);

}  // namespace pareto::runtime
