// A plan: where a model is cut and what runs where. A document: it travels, is stored with every
// trial, and is a file that `run` takes. Format: core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/stage_settings.h"

namespace pareto::plan {

/// Samples of one request: what a plan may ask for and a daemon loads a shard for.
inline constexpr std::int64_t kMaxBatch = 1 << 16;

struct StagePlan {
  std::string device;      ///< a name from the inventory
  std::int64_t begin = 0;  ///< operators [begin, end), in the order in which the plan runs them
  std::int64_t end = 0;
  OperatorRanges operators{};  ///< operators of the model that it runs; empty: [begin, end) too
  std::optional<StageSettings> settings{};  ///< settings of its device; no value means the plan's
  bool operator==(const StagePlan&) const = default;

  /// Returns the operators that it runs: [begin, end) if it names none.
  OperatorRanges ranges() const;
};

/// A link's ends as numbers of stages; no value means the coordinator.
struct LinkEnds {
  std::optional<std::size_t> from;
  std::optional<std::size_t> to;
  bool operator==(const LinkEnds&) const = default;
};

struct Plan {
  std::string model;  ///< a built-in name, or the path of a TorchScript file
  std::vector<std::string>
      splits;  ///< names of the split points, one fewer than stages; empty: one device runs all
  std::vector<StagePlan> stages;  ///< stages in order, without gaps
  /// True if its stages are replicas: each is the whole model, and requests go to them in turns.
  /// Else they are a pipeline.
  bool replicated = false;
  std::string transport = "tcp";  ///< transport of every link, if `transports` is empty
  /// One a link, where they differ. Set by set_transports alone.
  std::vector<std::string> transports;
  /// Codecs by which tensors travel from stage i to the next, by the names of core/wire/codec.h;
  /// empty: as they are everywhere.
  std::vector<std::string> codecs;
  std::int64_t batch = 1;
  /// Samples that travel together, at most the batch. 0: all, or half of them if the schedule of a
  /// stage is kOverlapSchedule.
  std::int64_t micro_batch = 0;
  int window = 0;            ///< requests (whole batches) in flight; 0 = auto
  StageSettings settings{};  ///< settings of each stage that has none of its own
  bool operator==(const Plan&) const = default;

  /// Returns what that stage runs, and all that runs before it. In a plan that begins inside the
  /// model, to measure a part of it, everything before has run.
  ShardOperators operators_of(std::size_t stage) const;
  /// Returns whether some stage runs other operators than [begin, end) of the model.
  bool has_own_order() const;

  /// Returns the settings that a stage runs by: its own, or the plan's.
  const StageSettings& settings_of(std::size_t stage) const;
  /// Returns whether some stage has settings of its own.
  bool has_own_settings() const;
  /// Returns "bf16"; of stages that differ the settings of all: "fp32+bf16".
  std::string engine_text() const;
  std::string precision_text() const;
  std::string threads_text() const;
  /// Returns the same of schedules, by their titles.
  std::string schedule_text() const;

  /// Returns the device of each stage.
  std::vector<std::string> device_names() const;

  /// Returns the number of links from the source through the stages to the sink. Each replica has
  /// one link from the source and one to the sink.
  std::size_t links() const { return replicated ? 2 * stages.size() : stages.size() + 1; }
  LinkEnds ends_of(std::size_t link) const;
  /// Returns the link into a stage; out of it leads the next one.
  std::size_t link_into(std::size_t stage) const { return replicated ? 2 * stage : stage; }
  /// Requests of which each replica gets one. 1: a pipeline.
  std::size_t turn() const { return replicated ? stages.size() : 1; }
  /// Returns the transport of link 0 … links() - 1.
  const std::string& transport_of(std::size_t link) const {
    return transports.empty() ? transport : transports[link];
  }
  /// Sets the transport of each link. If all are alike, that one becomes `transport`.
  void set_transports(std::vector<std::string> names);
  /// Returns "tcp"; of links that differ all of them: "tcp+shm+tcp".
  std::string transport_text() const;

  /// Returns samples of one message.
  std::int64_t message_batch() const;
  /// Messages of one request.
  std::int64_t messages() const { return (batch + message_batch() - 1) / message_batch(); }
  /// Returns whether a batch travels in parts.
  bool is_cut() const { return micro_batch > 0 || message_batch() < batch; }
};

/// The way a model is opened, so that all who run a plan of it open the same one.
struct ModelSource {
  std::string model;          ///< a built-in name, or the path of a TorchScript file
  std::string input_shape{};  ///< per sample, "3x224x224;128:int64"; empty: as the model has it
  std::int64_t num_classes = 1000;    ///< classes of a built-in model
  std::string weights{};              ///< the path of a checkpoint; empty: its own
  std::uint64_t model_seed = 0;       ///< seed of a built-in model's own weights
  std::vector<std::string> inputs{};  ///< paths of .npy files, one an input; empty: made-up values
  std::vector<std::string> operators{};  ///< paths of libraries of operators that LibTorch lacks
  bool operator==(const ModelSource&) const = default;
};

/// A plan as a file, which may say how its model was opened.
struct PlanFile {
  Plan plan;
  std::optional<ModelSource> source;
};

std::string to_json(const Plan& plan);
std::string to_json(const ModelSource& source);
std::string to_json(const PlanFile& file);
/// Checks that stages are contiguous from 0 and hold each operator once, names present, numbers in
/// range, and that no key is unknown. Fails: kInvalidArgument, an unknown key with the nearest
/// known one.
Expected<PlanFile> plan_file_from_json(const std::string& json);
/// Reads only the plan of such a file.
Expected<Plan> plan_from_json(const std::string& json);
/// Reads only the model's source of such a file. Fails: kInvalidArgument, as above.
Expected<ModelSource> model_source_from_json(const std::string& json);

}  // namespace pareto::plan
