// One way of running a shard's graph. A plug: one file that implements Engine, one line in
// builtin_engines.cc; judged by agreeing with "plain". Sees LibTorch: for core/runtime sources
// only.
#pragma once

#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/engines/options.h"
#include "core/runtime/kernels/layout_change.h"
#include "core/runtime/torch/ready_marks.h"

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
};

struct EngineEntry {
  std::string name;
  /// Throws where this engine cannot run the module.
  std::unique_ptr<Engine> (*build)(const LoadedModule& loaded);
};

/// Returns "plain" first: the reference of all others.
const std::vector<EngineEntry>& builtin_engines();

std::unique_ptr<Engine> build_plain_engine(const LoadedModule& loaded);
std::unique_ptr<Engine> build_onednn_engine(const LoadedModule& loaded);
std::unique_ptr<Engine> build_channels_last_engine(const LoadedModule& loaded);
std::unique_ptr<Engine> build_prepacked_engine(const LoadedModule& loaded);

/// The layout in which a GraphEngine wants images. Its results lie as the graph made them.
enum class Layout { kRowMajor, kChannelsLast };

/// Interprets a graph whose first input is the module's object: every engine ends in this. The
/// graph returns one tuple. With bf16 its results may be bf16 where the model's are float32: the
/// caller casts them back.
class GraphEngine : public Engine {
 public:
  /// `extra`: values of the graph's last inputs, made once (packed weights).
  GraphEngine(std::shared_ptr<torch::jit::Graph> graph, c10::IValue self,
              std::vector<c10::IValue> extra = {}, Layout layout = Layout::kRowMajor,
              Precision precision = Precision::kFloat32);
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, EarlyResults* early) override;

 private:
  at::Tensor prepared(const at::Tensor& tensor);

  c10::intrusive_ptr<ReadyMarks> marks_;
  /// The argument that each result is, unchanged, or -1.
  std::vector<std::ptrdiff_t> passed_through_;
  torch::jit::Code code_;
  c10::IValue self_;
  std::vector<c10::IValue> extra_;
  Layout layout_;
  Precision precision_;
  LayoutChange layout_change_;
};

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
