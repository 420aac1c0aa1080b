#include "partitioner/model/emit/verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/progress.h"
#include "client/commands/verify_training.h"
#include "client/flags/inputs.h"
#include "client/flags/json_flag.h"
#include "client/flags/model_flags.h"
#include "client/flags/number_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/splits_flag.h"
#include "core/base/json_text.h"
#include "core/base/usage.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::client::commands {
namespace {

using model::Cut;
using model::Model;
using model::VerifyRow;

constexpr const char* kPlain = "plain";

struct Tally {
  std::size_t points = 0;
  std::size_t equal = 0;
  std::size_t failed = 0;
  double worst_error = 0;
};

class VerifyCommand final : public Command {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override { return "run every cut against the whole model"; }
  std::string_view examples() const override {
    return "  paretoctl verify --model resnet18\n"
           "  paretoctl verify --model swin_t.pt --input-shape 3x224x224 --batch 1,3 --engine "
           "plain\n"
           "  paretoctl verify --model inceptionv3 --splits frontiers --batch 1\n"
           "  paretoctl verify --model resnet18 --input-shape 3x64x64 --batch 4 --trainable\n"
           "  paretoctl verify --model tagger.pt --input tokens.npy,lengths.npy\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    runner_.add_to(app);
    cuts_.add_to(app, splits_, "check");
    set_value(
        app.add_option("--batch", batches_, "batch sizes (default: 1,3,8, or that of --input)"),
        "LIST");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before all split points were compared");
    PARETO_ASSIGN(const plan::StageSettings settings, runner_.settings());
    if (runner_.engine == kPlain && runner_.precision != "fp32") {
      return fail(ErrorCode::kInvalidArgument,
                  "--precision {}: it is for another engine than {}, because split points are "
                  "compared in fp32 with that one: leave --engine out, or name another",
                  runner_.precision, kPlain);
    }
    PARETO_ASSIGN(const auto named, parse_named_batches(batches_));
    PARETO_ASSIGN(const Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named, {1, 3, 8}));
    PARETO_ASSIGN(const auto cuts, cuts_.select(context, model, splits_));
    model::VerifyOptions options;
    options.batches = batches;
    options.cuts = cuts;
    options.runner.engine = kPlain;
    options.runner.threads = std::max(1, runner_.threads);
    options.runner.schedule = settings.schedule;
    PARETO_ASSIGN(const auto plain, cuts.size() > kMostAlone && planning::selects_sets(splits_)
                                        ? rows_together(context, model, options)
                                        : rows_of(context, model, options));
    std::vector<VerifyRow> fast;
    std::vector<Cut> sampled;
    if (runner_.engine != kPlain) {
      // The error of other engines does not depend on the position in a way that every one would
      // show: an even sample is stated.
      options.runner.engine = runner_.engine;
      PARETO_ASSIGN(options.runner.precision, runtime::parse_precision(runner_.precision));
      if (settings.max_error > 0) options.runner.max_error = settings.max_error;
      sampled = sample(cuts);
      options.cuts = sampled;
      options.most_error = most_error(options.runner);
      PARETO_ASSIGN(fast, rows_of(context, model, options));
    }
    std::vector<TrainedRow> trained;
    if (cuts_.trainable()) {
      PARETO_ASSIGN(trained,
                    verify_training(context, model, cuts, batches, std::max(1, runner_.threads)));
    }
    print(context, model, {plain, cuts}, {fast, sampled}, trained);
    const bool all_equal =
        std::all_of(plain.begin(), plain.end(), [](const VerifyRow& row) { return row.bit_equal; });
    const bool all_ran = std::all_of(fast.begin(), fast.end(),
                                     [](const VerifyRow& row) { return row.failure.empty(); });
    const bool all_trained =
        std::ranges::all_of(trained, [](const TrainedRow& row) { return row.difference.empty(); });
    return all_equal && all_ran && all_trained ? kExitDone : kExitFailed;
  }

 private:
  static constexpr std::size_t kSample = 12;
  // Sets of operators that are more than this are compared together.
  static constexpr std::size_t kMostAlone = 12;

  /// Returns the largest error that rounding explains. Engines are chosen by the error of one
  /// shard; those of two in a row add up, and the second may enlarge the first's.
  static double most_error(const runtime::RunnerOptions& options) {
    constexpr double kMostOfFloat32 = 0.01;
    constexpr double kTimesMaxError = 4;
    if (options.precision == runtime::Precision::kFloat32) return kMostOfFloat32;
    return kTimesMaxError * options.max_error;
  }

  static std::vector<Cut> sample(const std::vector<Cut>& cuts) {
    if (cuts.size() <= kSample) return cuts;
    std::vector<Cut> chosen;
    for (std::size_t i = 0; i < kSample; ++i)
      chosen.push_back(cuts[i * (cuts.size() - 1) / (kSample - 1)]);
    return chosen;
  }

  Expected<std::vector<VerifyRow>> rows_of(Context& context, const Model& model,
                                           const model::VerifyOptions& options) const {
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    const std::size_t total = options.cuts.size() * options.batches.size();
    std::size_t done = 0;
    return model::verify(model, options, [&](const VerifyRow& row) {
      ++done;
      progress.show(done, total, "verifying, engine " + options.runner.engine,
                    options.cuts[row.cut].name);
    });
  }

  /// Compares as the shards between neighbouring cuts.
  Expected<std::vector<VerifyRow>> rows_together(Context& context, const Model& model,
                                                 const model::VerifyOptions& options) const {
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    return model::verify_together(model, options, [&](std::size_t done, std::size_t total) {
      const std::string now =
          fmt::format("verifying {} cuts by the shards between them", options.cuts.size());
      progress.show(done, total, now, now);
    });
  }

  /// Returns the rows counted by batch and sizes of the inputs: "8", "8, H = 192, W = 192".
  static std::map<std::pair<std::int64_t, std::string>, Tally> tally(
      const std::vector<VerifyRow>& rows) {
    std::map<std::pair<std::int64_t, std::string>, Tally> by_batch;
    for (const VerifyRow& row : rows) {
      Tally& batch = by_batch[{row.batch, row.sizes.empty() ? "" : ", " + row.sizes}];
      ++batch.points;
      batch.equal += row.bit_equal ? 1 : 0;
      batch.failed += row.failure.empty() ? 0 : 1;
      batch.worst_error = std::max(batch.worst_error, row.relative_error);
    }
    return by_batch;
  }

  /// Rows, and the cuts that they are of.
  struct Compared {
    const std::vector<VerifyRow>& rows;
    const std::vector<Cut>& cuts;
    const std::string& name_of(const VerifyRow& row) const { return cuts[row.cut].name; }
  };

  void print(Context& context, const Model& model, const Compared& plain, const Compared& fast,
             const std::vector<TrainedRow>& trained) const {
    if (json_) return print_json(context, model, plain, fast, trained);
    for (const auto& [at, result] : tally(plain.rows)) {
      context.out << fmt::format("{} batch {}{}: {} of {} cuts equal the whole model bit for bit\n",
                                 model.name(), at.first, at.second, result.equal, result.points);
    }
    for (const auto& [at, result] : tally(fast.rows)) {
      context.out << fmt::format(
          "{} batch {}{}: engine {} {}: largest error {:.2g} of the largest output, {} cuts "
          "sampled{}\n",
          model.name(), at.first, at.second, runner_.engine, runner_.precision, result.worst_error,
          result.points, result.failed > 0 ? fmt::format(", {} FAILED", result.failed) : "");
    }
    for (const auto& [compared, engine] :
         {std::pair(&plain, std::string(kPlain)), std::pair(&fast, runner_.engine)}) {
      for (const VerifyRow& row : compared->rows) {
        if (row.failure.empty() && (engine != kPlain || row.bit_equal)) continue;
        context.out << fmt::format(
            "  {} at batch {}, engine {}: {}\n", compared->name_of(row), row.batch, engine,
            row.failure.empty() ? fmt::format("differs by {:.2g}", row.relative_error)
                                : row.failure);
      }
    }
    if (const auto differs = std::ranges::find(plain.rows, false, &VerifyRow::bit_equal);
        differs != plain.rows.end()) {
      context.out << fmt::format(
          "the first value that differs: paretoctl run --model {} --split {} --batch {} --mode "
          "interpret\n",
          model_.model, plain.name_of(*differs), differs->batch);
    }
    print_trained(context, model, plain.cuts, trained);
  }

  static void print_trained(Context& context, const Model& model, const std::vector<Cut>& cuts,
                            const std::vector<TrainedRow>& rows) {
    std::map<std::int64_t, std::size_t> equal;
    for (const TrainedRow& row : rows) equal[row.batch] += row.difference.empty() ? 1 : 0;
    for (const auto& [batch, count] : equal) {
      context.out << fmt::format(
          "{} batch {}: a step of training at {} of {} cuts has the whole model's loss, gradients "
          "and parameters bit for bit\n",
          model.name(), batch, count, cuts.size());
    }
    for (const TrainedRow& row : rows) {
      if (row.difference.empty()) continue;
      context.out << fmt::format("  {} at batch {}, training: {}\n", cuts[row.cut].name, row.batch,
                                 row.difference);
    }
  }

  void print_json(Context& context, const Model& model, const Compared& plain, const Compared& fast,
                  const std::vector<TrainedRow>& trained) const {
    const auto rows_json = [&](const Compared& compared) {
      auto list = nlohmann::ordered_json::array();
      for (const VerifyRow& row : compared.rows) {
        list.push_back({{"split", compared.name_of(row)},
                        {"batch", row.batch},
                        {"sizes", row.sizes},
                        {"bit_equal", row.bit_equal},
                        {"relative_error", row.relative_error},
                        {"failure", row.failure}});
      }
      return list;
    };
    nlohmann::ordered_json json{{"model", model.name()},
                                {"plain", rows_json(plain)},
                                {"engine", runner_.engine},
                                {"precision", runner_.precision},
                                {"engine_sample", rows_json(fast)}};
    if (cuts_.trainable()) json["trained"] = nlohmann::ordered_json::array();
    for (const TrainedRow& row : trained) {
      json["trained"].push_back({{"split", plain.cuts[row.cut].name},
                                 {"batch", row.batch},
                                 {"bit_equal", row.difference.empty()},
                                 {"difference", row.difference}});
    }
    context.out << dump(json, 2) << '\n';
  }

  ModelFlags model_;
  RunnerFlags runner_;
  CutFlags cuts_;
  std::string splits_ = "all";
  std::string batches_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace pareto::client::commands
