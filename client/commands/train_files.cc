#include "client/commands/train_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "client/commands/output_file.h"
#include "client/flags/model_flags.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {

namespace fs = std::filesystem;

void TrainFileFlags::add_to(CLI::App& app) {
  {
    const Heading heading(app, "Checkpoints");
    set_value(app.add_option("--checkpoint", folder,
                             "folder to write a checkpoint to at the beginning, after each epoch, "
                             "and if the training is stopped (default: that of --resume, or none)"),
              "DIR");
    set_value(app.add_option("--checkpoint-every", every,
                             "number of steps between checkpoints, next to those of the epochs; "
                             "0: none (default: 0)"),
              "STEPS");
    set_value(app.add_option("--keep", keep,
                             "number of checkpoints that stay, the newest ones (default: 3)"),
              "N");
    set_value(app.add_option("--resume", resume,
                             "go on from the newest whole checkpoint of a folder, or from that "
                             "checkpoint, with the flags it began with; --devices and what is "
                             "written may be named again; the final bits are those of a training "
                             "that was never stopped"),
              "DIR");
  }
  const Heading heading(app, "Results");
  set_value(app.add_option("--output", outputs,
                           "file to write the trained model to: .pt (TorchScript) or .pth (a "
                           "state_dict, as torch.save writes it); both: name two"),
            "FILE")
      ->delimiter(',');
  app.add_flag("--json", json,
               "print a line of JSON for each step, epoch and checkpoint on stdout, and nothing "
               "else there");
  set_value(app.add_option("--csv", csv, "file to write a row for each epoch to"), "FILE");
  set_value(app.add_option("--report", report, "page to write, with the curves"), "FILE");
}

Expected<> TrainFileFlags::check() const {
  for (const std::string& output : outputs) {
    if (!output.ends_with(".pt") && !output.ends_with(".pth")) {
      return fail(ErrorCode::kInvalidArgument,
                  "--output {}: a name that ends with .pt (TorchScript) or .pth (state_dict)",
                  output);
    }
    PARETO_TRY(check_writable("--output", output));
  }
  if (!csv.empty()) PARETO_TRY(check_writable("--csv", csv));
  if (!report.empty()) PARETO_TRY(check_writable("--report", report));
  if (every && *every < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "--checkpoint-every {}: at least 1, or 0 for none between epochs", *every);
  }
  if (every.value_or(0) > 0 && folder.empty() && resume.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--checkpoint-every {}: --checkpoint has to name their folder", *every);
  }
  if (keep && *keep < 1) return fail(ErrorCode::kInvalidArgument, "--keep {}: at least 1", *keep);
  return {};
}

std::vector<std::string> TrainFileFlags::complete(const train::TrainingFiles& earlier) {
  std::vector<std::string> taken;
  const auto take_number = [&](const char* flag, std::optional<std::int64_t>& named,
                               std::int64_t before, std::int64_t usual) {
    if (named || before == usual) return;
    named = before;
    taken.push_back(fmt::format("{} {}", flag, before));
  };
  const auto take_file = [&](const char* flag, std::string& named, const std::string& before) {
    if (!named.empty() || before.empty()) return;
    named = before;
    taken.push_back(fmt::format("{} {}", flag, before));
  };
  const train::TrainingFiles usual;
  take_number("--checkpoint-every", every, earlier.checkpoint_every, usual.checkpoint_every);
  take_number("--keep", keep, earlier.keep, usual.keep);
  if (outputs.empty() && !earlier.outputs.empty()) {
    outputs = earlier.outputs;
    taken.push_back("--output " + join(outputs, ","));
  }
  take_file("--csv", csv, earlier.csv);
  take_file("--report", report, earlier.report);
  return taken;
}

train::TrainingFiles TrainFileFlags::kept() const {
  train::TrainingFiles files;
  files.checkpoint_every = every.value_or(files.checkpoint_every);
  files.keep = keep.value_or(files.keep);
  for (const std::string& output : outputs) files.outputs.push_back(absolute_path(output));
  files.csv = absolute_path(csv);
  files.report = absolute_path(report);
  return files;
}

Expected<std::optional<train::CheckpointFolder>> TrainFileFlags::open_checkpoints() const {
  fs::path path = folder;
  if (path.empty() && !resume.empty()) {
    path = resume;
    // The folder of one checkpoint lies in the folder of all.
    if (!path.has_filename()) path = path.parent_path();
    std::error_code unknown;
    if (fs::exists(path / "manifest.json", unknown)) path = fs::absolute(path).parent_path();
  }
  if (path.empty()) return std::optional<train::CheckpointFolder>();
  PARETO_ASSIGN(auto opened, with_context(train::CheckpointFolder::open(
                                              path, static_cast<std::size_t>(kept().keep)),
                                          "--checkpoint"));
  if (resume.empty() && !opened.checkpoints().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--checkpoint {}: it holds checkpoints of an earlier training: go on from them "
                "(--resume {}), or name another folder",
                path.string(), path.string());
  }
  return std::optional(std::move(opened));
}

}  // namespace pareto::client::commands
