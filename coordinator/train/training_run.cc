#include "coordinator/train/training_run.h"

#include <cmath>
#include <utility>

#include "coordinator/train/batch_feed.h"
#include "coordinator/train/batch_order.h"
#include "coordinator/train/learning_rate.h"
#include "coordinator/train/micro_batches.h"
#include "coordinator/train/scores.h"

namespace pareto::train {
namespace {

constexpr std::string_view kDiverged =
    "; the training has diverged: a smaller --learning-rate, --warm-up or --clip-norm helps";
constexpr std::string_view kNormOfOneValue =
    ": a norm had one value of each channel, so that it has no variance: give micro-batches more "
    "samples (a larger --batch, fewer --micro-batches), or leave a smaller last batch out "
    "(--drop-last)";

namespace fs = std::filesystem;

class TrainingRun {
 public:
  TrainingRun(const TrainingSetup& setup, const TrainingParts& parts, BatchOrder order,
              TrainingOutcome outcome)
      : setup_(setup),
        parts_(parts),
        order_(std::move(order)),
        feed_(parts.data, parts.clock),
        outcome_(std::move(outcome)) {}

  Expected<TrainingOutcome> run() {
    if (!outcome_.checkpoint) PARETO_TRY(write_checkpoint());
    while (!ends() && position().epoch < setup_.epochs) PARETO_TRY(run_epoch());
    if (outcome_.end == TrainingEnd::kStopped && !is_saved_) PARETO_TRY(write_checkpoint());
    if (outcome_.end != TrainingEnd::kNotFinite && !is_saved_) PARETO_TRY(fetch_state());
    return std::move(outcome_);
  }

 private:
  TrainingPosition& position() { return outcome_.progress.position; }
  TrainingHistory& history() { return outcome_.progress.history; }
  bool ends() const { return outcome_.end != TrainingEnd::kDone; }

  Expected<> run_epoch() {
    const std::int64_t steps = order_.steps_per_epoch();
    if (position().step_in_epoch < steps) {
      feed_.start(order_.batch(position().epoch, position().step_in_epoch));
    }
    while (position().step_in_epoch < steps) {
      if (parts_.stop) {
        outcome_.end = TrainingEnd::kStopped;
        return {};
      }
      PARETO_TRY(run_step());
      if (ends()) return {};
      const bool is_due = parts_.checkpoint_every > 0 &&
                          position().step % parts_.checkpoint_every == 0 &&
                          position().step_in_epoch < steps;
      if (is_due) PARETO_TRY(write_checkpoint());
      if (ends()) return {};
    }
    return end_epoch();
  }

  Expected<> run_step() {
    const TimePoint begun = parts_.clock.now();
    const TrainingPosition at = position();
    PARETO_ASSIGN(const data::Batch batch, with_place(feed_.take()));
    // The next one is read meanwhile.
    if (at.step_in_epoch + 1 < order_.steps_per_epoch()) {
      feed_.start(order_.batch(at.epoch, at.step_in_epoch + 1));
    }
    PARETO_ASSIGN(const auto micro, with_place(micro_batches(batch, setup_.micro_batches)));
    StepReport report{.epoch = at.epoch,
                      .step_in_epoch = at.step_in_epoch,
                      .steps_per_epoch = order_.steps_per_epoch(),
                      .step = at.step,
                      .learning_rate = rate_of(at.step),
                      .data_seconds = feed_.waited_s(),
                      .outcome = {}};
    const StepOrder order{.seed = setup_.batches.seed,
                          .step = static_cast<std::uint64_t>(at.step),
                          .learning_rate = report.learning_rate,
                          .clip_norm = setup_.clip_norm};
    is_saved_ = false;
    PARETO_ASSIGN(report.outcome, with_place(parts_.pipeline.step(micro, order)));
    report.seconds = to_seconds(parts_.clock.now() - begun);
    if (!is_finite(report.outcome)) return {};
    ++position().step;
    ++position().step_in_epoch;
    position().micro_batches += std::ssize(micro);
    history().losses.add(at.step, report.outcome.loss);
    history().epoch_so_far.add(report.outcome, report.seconds, report.data_seconds);
    parts_.observer.on_step(report);
    return {};
  }

  double rate_of(std::int64_t step) const {
    return rate_at(setup_.rate, {.step = step,
                                 .steps_per_epoch = order_.steps_per_epoch(),
                                 .steps = order_.steps_per_epoch() * setup_.epochs});
  }

  /// Ends the training if a step gave no numbers.
  bool is_finite(const StepOutcome& step) {
    // −1 means that there is no norm.
    const bool has_loss = std::isfinite(step.loss);
    if (has_loss && std::isfinite(step.gradient_norm)) return true;
    const bool is_nan = std::isnan(has_loss ? step.gradient_norm : step.loss);
    end_not_finite(fmt::format("{} is {}", has_loss ? "the norm of its gradients" : "its loss",
                               is_nan ? "NaN" : "infinite"),
                   kDiverged);
    return false;
  }

  void end_not_finite(const std::string& what, std::string_view remedy) {
    outcome_.end = TrainingEnd::kNotFinite;
    outcome_.reason = fmt::format("{}: {}{}", place(), what, remedy);
    outcome_.state.clear();
  }

  Expected<> end_epoch() {
    const std::int64_t epoch = position().epoch;
    EpochRecord record{.epoch = epoch,
                       .step = position().step,
                       .learning_rate = rate_of(position().step - 1),
                       .sums = history().epoch_so_far,
                       .validation = std::nullopt};
    if (parts_.validation != nullptr) {
      PARETO_ASSIGN(record.validation, validate_or_save());
      if (ends()) return {};
    }
    history().epochs.push_back(record);
    history().epoch_so_far = {};
    ++position().epoch;
    position().step_in_epoch = 0;
    is_saved_ = false;
    PARETO_TRY(write_checkpoint());
    if (!ends()) parts_.observer.on_epoch(record);
    return {};
  }

  /// Keeps what the epoch has learnt if its validation fails.
  Expected<std::optional<Validation>> validate_or_save() {
    auto validation = with_context(validate(), "validation");
    if (validation) return validation;
    // A second failure follows from the first one, which says more.
    static_cast<void>(write_checkpoint());
    return with_place(std::move(validation));
  }

  /// Returns no value if somebody wanted to stop.
  Expected<std::optional<Validation>> validate() {
    const TimePoint begun = parts_.clock.now();
    BatchOptions as_they_are = setup_.batches;
    as_they_are.shuffle = false;
    as_they_are.drop_smaller = false;
    PARETO_ASSIGN(BatchOrder order, BatchOrder::create(parts_.validation->size(), as_they_are));
    BatchFeed feed(*parts_.validation, parts_.clock);
    Scores scores;
    feed.start(order.batch(0, 0));
    for (std::int64_t i = 0; i < order.steps_per_epoch(); ++i) {
      if (parts_.stop) {
        outcome_.end = TrainingEnd::kStopped;
        return std::optional<Validation>();
      }
      PARETO_ASSIGN(data::Batch batch, feed.take());
      if (i + 1 < order.steps_per_epoch()) feed.start(order.batch(0, i + 1));
      PARETO_ASSIGN(const auto outputs, parts_.pipeline.evaluate(std::move(batch.inputs)));
      PARETO_TRY(add_scores(outputs, batch.labels, scores));
      parts_.observer.on_validation(i + 1, order.steps_per_epoch());
    }
    return std::optional(
        Validation{.samples = scores.samples,
                   .correct = scores.correct,
                   .cross_entropy = scores.cross_entropy / static_cast<double>(scores.samples),
                   .seconds = to_seconds(parts_.clock.now() - begun)});
  }

  /// Fetches the state. Ends the training if it holds what is no number.
  Expected<> fetch_state() {
    PARETO_ASSIGN(outcome_.state, with_place(parts_.pipeline.state()));
    for (const plan::StateTensor& one : outcome_.state) {
      if (!holds_nan(one.tensor)) continue;
      end_not_finite(fmt::format("\"{}\" has become NaN", one.name),
                     one.name.ends_with("running_var") ? kNormOfOneValue : kDiverged);
      return {};
    }
    is_saved_ = true;
    return {};
  }

  /// Fetches the state, and writes it if there is a folder.
  Expected<> write_checkpoint() {
    PARETO_TRY(fetch_state());
    if (!is_saved_ || parts_.checkpoints == nullptr) return {};
    auto written = parts_.checkpoints->write({setup_, outcome_.progress, outcome_.state});
    PARETO_ASSIGN(outcome_.checkpoint, with_place(std::move(written)));
    parts_.observer.on_checkpoint(*outcome_.checkpoint);
    return {};
  }

  std::string place() {
    const bool at_end = position().step_in_epoch == 0 && position().epoch > 0;
    return at_end ? fmt::format("after step {} (end of epoch {})", position().step - 1,
                                position().epoch)
                  : fmt::format("step {} (epoch {})", position().step, position().epoch + 1);
  }

  /// Says in an error at which step it came, and what is left.
  template <typename T>
  Expected<T> with_place(Expected<T> result) {
    if (result) return result;
    std::string& message = result.error().message;
    message = fmt::format("{}: {}", place(), message);
    if (outcome_.checkpoint) {
      message += fmt::format("; the last checkpoint is whole, and --resume goes on from it: {}",
                             outcome_.checkpoint->string());
    }
    return result;
  }

  const TrainingSetup& setup_;
  const TrainingParts& parts_;
  BatchOrder order_;
  BatchFeed feed_;
  TrainingOutcome outcome_;
  bool is_saved_ = false;  ///< true if outcome_.state is that of the position
};

Expected<> check_position(const TrainingProgress& progress, std::int64_t steps_per_epoch) {
  const TrainingPosition& at = progress.position;
  if (at.step_in_epoch <= steps_per_epoch &&
      at.step == at.epoch * steps_per_epoch + at.step_in_epoch) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "the checkpoint stands at step {} of epoch {}, and an epoch has {}: it is of other "
              "data",
              at.step_in_epoch, at.epoch + 1, steps_per_epoch);
}

}  // namespace

Expected<TrainingOutcome> run_training(const TrainingSetup& setup, const TrainingParts& parts,
                                       TrainingProgress begin, std::optional<fs::path> resumed) {
  PARETO_TRY(check_setup(setup));
  PARETO_ASSIGN(BatchOrder order, BatchOrder::create(parts.data.size(), setup.batches));
  PARETO_TRY(check_position(begin, order.steps_per_epoch()));
  TrainingOutcome outcome{
      .progress = std::move(begin), .state = {}, .checkpoint = std::move(resumed), .reason = {}};
  TrainingRun run(setup, parts, std::move(order), std::move(outcome));
  return run.run();
}

}  // namespace pareto::train
