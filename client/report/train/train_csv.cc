#include "client/report/train/train_writer.h"

namespace pareto::report {

std::string train_csv(const TrainReport& report) {
  std::string text =
      "epoch,step,learning_rate,loss,accuracy,validation_loss,validation_accuracy,samples,"
      "samples_per_s,seconds,data_seconds\n";
  for (const train::EpochRecord& epoch : report.progress.history.epochs) {
    const auto accuracy = epoch.sums.accuracy();
    text += fmt::format("{},{},{},{},{},{},{},{},{:.6f},{:.6f},{:.6f}\n", epoch.epoch + 1,
                        epoch.step, epoch.learning_rate, epoch.sums.mean_loss(),
                        accuracy ? fmt::format("{:.6f}", *accuracy) : "",
                        epoch.validation ? fmt::format("{}", epoch.validation->cross_entropy) : "",
                        epoch.validation ? fmt::format("{:.6f}", epoch.validation->accuracy()) : "",
                        epoch.sums.samples, epoch.sums.samples_per_second(), epoch.sums.seconds,
                        epoch.sums.data_seconds);
  }
  return text;
}

}  // namespace pareto::report
