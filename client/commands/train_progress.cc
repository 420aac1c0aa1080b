#include "client/commands/train_progress.h"

#include <ostream>

namespace pareto::client::commands {

TrainProgress::TrainProgress(Context& context, bool json, std::int64_t epochs)
    : context_(context),
      json_(json),
      epochs_(epochs),
      progress_(context.err, context.err_is_terminal ? context.columns : 0) {}

void TrainProgress::begin(const report::TrainReport& report) {
  epoch_ = report.progress.position.epoch;
  if (json_) {
    context_.out << report::train_start_json(report) << std::flush;
    return;
  }
  context_.out << report::train_line_titles();
  for (const train::EpochRecord& epoch : report.progress.history.epochs) {
    context_.out << report::train_epoch_line(epoch, epochs_);
  }
  context_.out << std::flush;
}

void TrainProgress::on_step(const train::StepReport& step) {
  epoch_ = step.epoch;
  if (json_) context_.out << report::train_step_json(step) << std::flush;
  progress_.show(
      static_cast<std::size_t>(step.step + 1),
      static_cast<std::size_t>(step.steps_per_epoch * epochs_),
      fmt::format("epoch {}/{}", step.epoch + 1, epochs_),
      fmt::format("epoch {}/{}, loss {:.4f}, {:.4g} samples/s", step.epoch + 1, epochs_,
                  step.outcome.loss,
                  step.seconds > 0 ? static_cast<double>(step.outcome.samples) / step.seconds : 0));
}

void TrainProgress::on_validation(std::int64_t done, std::int64_t all) {
  progress_.show(static_cast<std::size_t>(done), static_cast<std::size_t>(all),
                 fmt::format("validation of epoch {}/{}", epoch_ + 1, epochs_),
                 fmt::format("validation of epoch {}/{}", epoch_ + 1, epochs_));
}

void TrainProgress::on_epoch(const train::EpochRecord& epoch) {
  progress_.clear();
  context_.out << (json_ ? report::train_epoch_json(epoch)
                         : report::train_epoch_line(epoch, epochs_))
               << std::flush;
}

void TrainProgress::on_checkpoint(const std::filesystem::path& path) {
  if (json_) context_.out << report::train_checkpoint_json(path.string()) << std::flush;
}

}  // namespace pareto::client::commands
