#include "client/commands/validation.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include "client/command.h"
#include "client/commands/progress.h"
#include "client/commands/validated_batches.h"
#include "client/flags/number_flags.h"
#include "coordinator/sweep/cut_chains.h"
#include "coordinator/train/training_replay.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/emit/verify.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/zoo/losses.h"
#include "runtime/shard_runner.h"

namespace pareto::client::commands {
namespace {

constexpr std::uint64_t kMostMemoryBytes = 4 << 20;

/// Returns the part of what is remembered that is of training, or of inference.
const char* part_of(bool trained) { return trained ? "trained" : "cuts"; }

/// Returns what is remembered of a model by this LibTorch (validated_by()).
nlohmann::json remembered(const std::filesystem::path& file) {
  const auto text = read_file(file, kMostMemoryBytes);
  return validated_by(text.value_or(""), runtime::runtime_info().torch_version);
}

std::string batches_text(const std::set<std::int64_t>& batches) {
  std::vector<std::string> texts;
  for (const std::int64_t batch : batches) texts.push_back(std::to_string(batch));
  return (texts.size() > 1 ? "batches " : "batch ") + join(texts);
}

/// Runs one cut at a batch. Returns whether the whole model runs there.
Expected<bool> replay(const model::Model& model, const model::Cut& cut, std::int64_t batch) {
  model::VerifyOptions options;
  options.batches = {batch};
  options.cuts = {cut};
  options.runner.engine = "plain";
  options.runner.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 64);
  // The number of threads that it sets is that of its own thread.
  Expected<std::vector<model::VerifyRow>> rows;
  std::jthread([&] { rows = model::verify(model, options, {}); }).join();
  if (!rows) return false;
  const model::VerifyRow& row = rows->front();
  if (row.bit_equal) return true;
  return fail(
      ErrorCode::kInvalidArgument,
      "no cut at \"{}\": at batch {} its two halves do not compute what the whole model "
      "does: {}",
      cut.name, batch,
      row.failure.empty() ? fmt::format("they differ by {:.2g}", row.relative_error) : row.failure);
}

/// Runs one cut at those batches. Returns those at which it is equal; the whole model need not run
/// at batches that nobody named.
Expected<std::set<std::int64_t>> replay_each(Context& context, const model::Model& model,
                                             const model::Cut& cut,
                                             const std::set<std::int64_t>& batches,
                                             const std::set<std::int64_t>& named) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  const std::string now = "validating " + cut.name;
  std::set<std::int64_t> equal;
  std::size_t done = 0;
  for (const std::int64_t batch : batches) {
    progress.show(done++, batches.size(), now, now);
    PARETO_ASSIGN(const bool runs, replay(model, cut, batch));
    if (runs) equal.insert(batch);
    if (runs || !named.contains(batch)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} does not run at batch {}: name another one (--batch, --batch-range)",
                model.name(), batch);
  }
  return equal;
}

/// Trains the model with a cut for a step. Returns whether the whole model can be trained at that
/// batch: norms need more than one number.
Expected<bool> replay_training(Context& context, const model::Model& model,
                               const model::Model& loss, const model::Cut& cut,
                               std::int64_t batch) {
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  const std::string now = "training with " + cut.name;
  progress.show(0, 1, now, now);
  PARETO_ASSIGN(const plan::Plan plan, sweep::plan_of_cuts(model, {cut}, {"a", "b"}, batch, {}));
  const int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 64);
  const auto difference = train::training_difference(model, loss, plan, threads);
  if (!difference) {
    progress.clear();
    context.err << fmt::format("{}: not compared in training at batch {}: {}\n", cut.name, batch,
                               difference.error().message)
                << std::flush;
    return false;
  }
  if (difference->empty()) return true;
  return fail(ErrorCode::kInvalidArgument,
              "no cut to train at \"{}\": at batch {} its two halves do not learn what the whole "
              "model does: {}; `paretoctl verify --trainable` tries the others",
              cut.name, batch, *difference);
}

/// Trains with each cut for a step at those batches, unless somebody did.
Expected<> compare_training(Context& context, const model::Model& model, const model::Model& loss,
                            const std::vector<model::Cut>& cuts,
                            const std::set<std::int64_t>& batches) {
  const ValidationMemory memory(context.default_store.parent_path() / "validated");
  for (const model::Cut& cut : cuts) {
    std::set<std::int64_t> known = memory.recall(model.digest(), cut, true);
    std::set<std::int64_t> equal;
    for (const std::int64_t one : batches) {
      if (known.contains(one)) continue;
      PARETO_ASSIGN(const bool trains, replay_training(context, model, loss, cut, one));
      if (trains) equal.insert(one);
    }
    if (equal.empty()) continue;
    context.err << fmt::format(
                       "{}: a step of training has the whole model's loss, gradients and "
                       "parameters at {}, bit for bit\n",
                       cut.name, batches_text(equal))
                << std::flush;
    known.insert(equal.begin(), equal.end());
    static_cast<void>(memory.remember(model.digest(), cut, known, true));
  }
  return {};
}

}  // namespace

Expected<model::Model> open_any_loss(const model::Model& model) {
  std::optional<Error> why;
  for (const std::string& name : model::zoo::loss_names()) {
    auto loss = model::zoo::open_loss(name, model);
    if (loss) return loss;
    if (!why) why = std::move(loss).error();
  }
  return tl::unexpected(*why);
}

std::filesystem::path ValidationMemory::file_of(const Digest& model) const {
  return folder_ / (model.hex() + ".json");
}

std::set<std::int64_t> ValidationMemory::recall(const Digest& model, const model::Cut& cut,
                                                bool trained) const {
  return validated_batches_in(remembered(file_of(model)), part_of(trained),
                              model::cut_name(cut.before));
}

Expected<> ValidationMemory::remember(const Digest& model, const model::Cut& cut,
                                      const std::set<std::int64_t>& batches, bool trained) const {
  const nlohmann::json all = remembered(file_of(model));
  nlohmann::ordered_json json{{"torch", runtime::runtime_info().torch_version}};
  for (const bool part : {false, true}) {
    const auto known = all.find(part_of(part));
    nlohmann::ordered_json cuts = nlohmann::ordered_json::object();
    if (known != all.end() && known->is_object()) cuts = *known;
    if (part == trained) cuts[model::cut_name(cut.before)] = batches;
    if (!cuts.empty()) json[part_of(part)] = std::move(cuts);
  }
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  return write_file_atomically(file_of(model), dump(json) + "\n");
}

void add_batch_range(CLI::App& app, std::string& text) {
  set_value(app.add_option("--batch-range", text,
                           "batches that the cuts are to be used at, as 1:64: before they are, "
                           "each is run against the whole model at the plan's batch, another one "
                           "and the largest. Cuts before sets of operators are without it, too. "
                           "What is equal is remembered"),
            "A:B");
}

std::set<std::int64_t> validated_batches(const model::Model& model, std::int64_t batch,
                                         const std::optional<BatchRange>& range) {
  if (model.only_batch() || !model::has_batch(model.inputs())) return {batch};
  std::set<std::int64_t> batches{batch};
  const std::int64_t least = range ? range->least : 1;
  batches.insert(least != batch ? least : batch + 1);
  if (range) batches.insert(range->most);
  return batches;
}

std::vector<model::Cut> cuts_of(const plan::Plan& plan) {
  std::vector<model::Cut> cuts;
  for (std::size_t i = 0; i < plan.splits.size(); ++i) {
    cuts.push_back({plan.splits[i], plan.operators_of(i + 1).before});
  }
  return cuts;
}

Expected<> validate(Context& context, const model::Model& model,
                    const std::vector<model::Cut>& cuts, std::int64_t batch,
                    const std::optional<BatchRange>& range) {
  if (range && model.only_batch() &&
      (range->least != *model.only_batch() || range->most != *model.only_batch())) {
    return fail(ErrorCode::kInvalidArgument, "--batch-range {}:{}: {} runs at batch {} only",
                range->least, range->most, model.name(), *model.only_batch());
  }
  const ValidationMemory memory(context.default_store.parent_path() / "validated");
  for (const model::Cut& cut : cuts) {
    if (!range && model::is_position(cut.before)) continue;
    const std::set<std::int64_t> known = memory.recall(model.digest(), cut);
    std::set<std::int64_t> left = validated_batches(model, batch, range);
    std::erase_if(left, [&](std::int64_t one) { return known.contains(one); });
    if (left.empty()) continue;
    std::set<std::int64_t> named{batch};
    if (range) named.insert({range->least, range->most});
    PARETO_ASSIGN(std::set<std::int64_t> equal, replay_each(context, model, cut, left, named));
    if (equal.empty()) continue;
    context.err << fmt::format("{}: equal to the whole model at {}, bit for bit\n", cut.name,
                               batches_text(equal))
                << std::flush;
    equal.insert(known.begin(), known.end());
    // A folder that cannot be written only means that it is done again.
    static_cast<void>(memory.remember(model.digest(), cut, equal));
  }
  return {};
}

Expected<> validate_training(Context& context, const model::Model& model,
                             const std::vector<model::Cut>& cuts, std::int64_t batch,
                             const std::optional<BatchRange>& range) {
  if (cuts.empty()) return {};
  const auto loss = open_any_loss(model);
  if (!loss) {
    context.err << fmt::format("--trainable: loss and gradients are not compared: {}\n",
                               loss.error().message)
                << std::flush;
    return {};
  }
  return compare_training(context, model, *loss, cuts, validated_batches(model, batch, range));
}

Expected<> validate_trained(Context& context, const model::Model& model, const model::Model& loss,
                            const std::vector<model::Cut>& cuts,
                            const std::vector<std::int64_t>& micro_batches) {
  return compare_training(context, model, loss, cuts, {micro_batches.begin(), micro_batches.end()});
}

}  // namespace pareto::client::commands
