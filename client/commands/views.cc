// front, report, export: looks at stored runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/commands/shown_run.h"
#include "client/flags/json_flag.h"
#include "client/flags/objectives_flag.h"
#include "client/flags/picture_flags.h"
#include "client/flags/store_flags.h"
#include "client/report/page.h"
#include "coordinator/replay/settle.h"
#include "coordinator/results/run_lock.h"
#include "coordinator/statistics/objective_figures.h"
#include "core/base/file.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

std::vector<std::string> writer_names() {
  std::vector<std::string> names;
  for (const auto& writer : report::builtin_writers()) names.emplace_back(writer->name());
  return names;
}

/// The part that all views share: a store, and a run of it.
class View : public Command {
 public:
  void add_options(CLI::App& app) override {
    store_.add_to(app);
    set_value(
        app.add_option("run", run_,
                       "run to show: its name or id, the beginning or the end of its id, last, or "
                       "last~1 for the one before"),
        "RUN", {"last", "@runs"})
        ->capture_default_str();
    objectives_.add_to(app);
  }

 protected:
  Expected<results::RunRecord> load(const Context& context) const { return load(context, run_); }
  Expected<results::RunRecord> load(const Context& context, const std::string& name) const {
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    PARETO_ASSIGN(results::RunRecord run, replay::load_settled(*store, name));
    put_in_order(run);
    statistics::fill_objectives(run);
    PARETO_ASSIGN(const std::vector<std::string> objectives, objectives_.read());
    if (!objectives.empty()) {
      PARETO_TRY(with_context(statistics::choose_objectives(run, objectives), "--objectives"));
    }
    return run;
  }
  /// Loads it for a command that writes files: a file's name in the run's place is a slip.
  Expected<results::RunRecord> load_to_write(const Context& context) const {
    auto run = load(context);
    if (!run && run.error().code == ErrorCode::kNotFound &&
        std::filesystem::path(run_).has_extension()) {
      run.error().message += fmt::format(" (to write a file: -o {})", run_);
    }
    return run;
  }
  /// Says of a run that is not finished what becomes of it.
  void tell_unfinished(Context& context, const results::RunRecord& run) const {
    if (!run.finished.empty()) return;
    context.err << (results::RunLock::is_taken(store_.file(context), run.id)
                        ? fmt::format("run {} is being measured: these are its figures so far\n",
                                      run.id)
                        : unfinished_line(run, store_.hint()));
  }

 private:
  StoreFlags store_;
  ObjectivesFlag objectives_;
  std::string run_ = "last";
};

class FrontCommand final : public View {
 public:
  std::string_view name() const override { return "front"; }
  std::string_view summary() const override { return "show a stored run's Pareto front"; }
  std::string_view examples() const override {
    return "  paretoctl front\n  paretoctl front 20260131 --json\n";
  }
  void add_options(CLI::App& app) override {
    View::add_options(app);
    add_json(app, json_);
  }
  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const results::RunRecord record, load(context));
    PARETO_TRY(print_run(context, record, json_ ? "json" : "table"));
    tell_unfinished(context, record);
    return kExitDone;
  }

 private:
  bool json_ = false;
};

class ReportCommand final : public View {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "write a stored run's interactive page, or its front as a picture";
  }
  std::string_view examples() const override {
    return "  paretoctl report\n  paretoctl report last --output front.html\n"
           "  paretoctl report last --with last~1\n"
           "  paretoctl report last --png front.png --condition wifi --width 2400 --height 1350\n";
  }
  void add_options(CLI::App& app) override {
    View::add_options(app);
    set_value(app.add_option("-o,--output", output_,
                             "HTML file to write (default: report-RUN.html, none with a picture)"),
              "FILE");
    set_value(app.add_option("--with", other_, "stored run that the page lays over this one"),
              "RUN", {"last", "@runs"});
    picture_.add_to(app);
  }
  Expected<int> run(Context& context) override {
    PARETO_TRY(picture_.check());
    // The browser is in a group of its own, out of reach of Ctrl-C.
    if (picture_.any()) context.stop.watch();
    PARETO_ASSIGN(const results::RunRecord record, load_to_write(context));
    if (!output_.empty() || !picture_.any()) {
      const std::string path = output_.empty() ? "report-" + record.id + ".html" : output_;
      PARETO_TRY(other_.empty() ? write_report(context, record, path)
                                : write_compared(context, record, path));
    }
    PARETO_TRY(picture_.write(context, record));
    tell_unfinished(context, record);
    return kExitDone;
  }

 private:
  /// Writes the page with the run of --with, and says where.
  Expected<> write_compared(Context& context, const results::RunRecord& run,
                            const std::string& path) const {
    PARETO_ASSIGN(const results::RunRecord other,
                  with_context(load(context, other_), "--with {}", other_));
    if (other.model != run.model) {
      context.err << fmt::format(
          "note: run {} is of another model, {}, where run {} is of {}: their fronts are laid over "
          "each other all the same\n",
          other.id, other.model, run.id, run.model);
    }
    PARETO_ASSIGN(const std::string page, report::report_page(run, &other));
    PARETO_TRY(with_context(write_file_atomically(path, page), "writing the report"));
    context.err << "report: " << path << '\n';
    return {};
  }

  std::string output_;
  std::string other_;
  PictureFlags picture_;
};

class ExportCommand final : public View {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view summary() const override { return "write a stored run for other programs"; }
  std::string_view examples() const override {
    return "  paretoctl export --csv > trials.csv\n  paretoctl export last --format json --output "
           "run.json\n";
  }
  void add_options(CLI::App& app) override {
    View::add_options(app);
    std::string formats;
    for (const auto& writer : report::builtin_writers()) {
      formats +=
          fmt::format("{}{}: {}", formats.empty() ? "" : "; ", writer->name(), writer->summary());
    }
    set_value(app.add_option("--format", format_, "format: " + formats), "NAME", writer_names())
        ->capture_default_str();
    app.add_flag_callback(
        "--csv", [this] { format_ = "csv"; }, "write CSV, as --format csv");
    set_value(app.add_option("-o,--output", output_, "file to write (default: stdout)"), "FILE");
  }
  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const auto writer, report::make_writer(format_));
    PARETO_ASSIGN(const results::RunRecord record, load_to_write(context));
    PARETO_ASSIGN(const std::string text, writer->write(record, {}));
    if (output_.empty()) {
      context.out << text << std::flush;
    } else {
      PARETO_TRY(write_file_atomically(output_, text));
    }
    return kExitDone;
  }

 private:
  std::string format_ = "csv";
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_front_command() { return std::make_unique<FrontCommand>(); }
std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }
std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace pareto::client::commands
