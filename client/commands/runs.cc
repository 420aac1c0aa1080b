// runs: lists, names and removes stored runs. Needs no LibTorch: the program's front (client/front)
// has it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/commands/shown_run.h"
#include "client/flags/store_flags.h"
#include "client/report/text_table.h"
#include "coordinator/results/run_lock.h"
#include "core/base/json_text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

class RunsCommand final : public Command {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override { return "list, name or remove stored runs"; }
  std::string_view examples() const override {
    return "  paretoctl runs\n"
           "  paretoctl runs --json\n"
           "  paretoctl runs tag last kitchen       name a run: paretoctl front kitchen\n"
           "  paretoctl runs tag kitchen ''         take its name away\n"
           "  paretoctl runs rm kitchen 20260131    remove runs and all that was measured in "
           "them\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("action", action_, "list runs (the default), tag RUN NAME, or rm RUN...")
        ->check(CLI::IsMember({"list", "tag", "rm"}));
    set_value(app.add_option("runs", words_,
                             "runs by name or id, an id's beginning or end, last, or last~1"),
              "RUN", {"last", "@runs"})
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    store_.add_to(app);
    app.add_flag("--json", json_, "print the list as one JSON document on stdout");
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    if (action_ == "rm") return remove(context, *store);
    if (action_ == "tag") return tag(context, *store);
    if (!words_.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "runs list takes no run: paretoctl front {} shows it", words_.front());
    }
    return list(context, *store);
  }

 private:
  /// Looks up all runs before it removes the first.
  Expected<int> remove(Context& context, results::ResultStore& store) const {
    if (words_.empty()) {
      return fail(ErrorCode::kInvalidArgument, "runs rm names no run (paretoctl runs lists them)");
    }
    std::vector<std::string> ids;
    for (const std::string& word : words_) {
      PARETO_ASSIGN(std::string id, store.find_run(word));
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
    }
    PARETO_TRY(store.check_writable());
    for (const std::string& id : ids) {
      PARETO_ASSIGN(const auto lock, results::RunLock::try_take(store_.file(context), id));
      if (!lock) {
        return fail(ErrorCode::kUnavailable,
                    "run {} is being measured by another process: stop it there first (Ctrl-C)",
                    id);
      }
      PARETO_TRY(store.remove_run(id));
      context.err << "removed run " << id << '\n';
      std::error_code ignored;
      if (const auto page = default_report(store_.file(context), id);
          std::filesystem::exists(page, ignored)) {
        context.err << "its report stays: " << page.string() << '\n';
      }
    }
    return kExitDone;
  }

  Expected<int> tag(Context& context, results::ResultStore& store) const {
    if (words_.size() != 2) {
      return fail(ErrorCode::kInvalidArgument,
                  "runs tag takes a run and its new name: paretoctl runs tag last kitchen");
    }
    PARETO_ASSIGN(const std::string id, store.find_run(words_[0]));
    PARETO_TRY(store.check_writable());
    PARETO_TRY(store.tag_run(id, words_[1]));
    context.err << (words_[1].empty() ? fmt::format("run {} has no name any more\n", id)
                                      : fmt::format("run {} is called {}\n", id, words_[1]));
    return kExitDone;
  }

  Expected<int> list(Context& context, results::ResultStore& store) const {
    PARETO_ASSIGN(const auto runs, store.list_runs());
    const bool any_named =
        std::ranges::any_of(runs, [](const auto& run) { return !run.tag.empty(); });
    std::vector<report::TextColumn> columns{{"run"}};
    if (any_named) columns.push_back({"name"});
    for (report::TextColumn column :
         {report::TextColumn{"model"}, report::TextColumn{"trials", report::Align::kRight},
          report::TextColumn{"measured", report::Align::kRight},
          report::TextColumn{"failed", report::Align::kRight},
          report::TextColumn{"skipped", report::Align::kRight}, report::TextColumn{"finished"},
          report::TextColumn{"command"}}) {
      columns.push_back(std::move(column));
    }
    report::TextTable table(std::move(columns));
    auto json = Json::array();
    for (const results::RunRecord& record : runs) {
      const auto with_status = [&](results::TrialStatus status) {
        return std::ranges::count(record.trials, status, &results::TrialRecord::status);
      };
      const auto measured =
          std::ranges::count_if(record.trials, [](const results::TrialRecord& trial) {
            return trial.status == results::TrialStatus::kOk && trial.latency.p50_ms > 0;
          });
      const auto failed = with_status(results::TrialStatus::kFailed);
      const auto skipped = with_status(results::TrialStatus::kSkipped);
      const bool finished = !record.finished.empty();
      json.push_back({{"run", record.id},
                      {"name", record.tag.empty() ? Json() : Json(record.tag)},
                      {"model", record.model},
                      {"started", record.started},
                      {"finished", finished ? Json(record.finished) : Json()},
                      {"trials", record.trials.size()},
                      {"measured", measured},
                      {"failed", failed},
                      {"skipped", skipped},
                      {"damage", record.damage.empty() ? Json() : Json(record.damage)},
                      {"command_line", record.command_line}});
      std::vector<std::string> cells{record.id};
      if (any_named) cells.push_back(record.tag);
      for (std::string cell :
           {record.model, std::to_string(record.trials.size()), std::to_string(measured),
            std::to_string(failed), std::to_string(skipped), finished_text(record),
            record.command_line}) {
        cells.push_back(std::move(cell));
      }
      table.add(std::move(cells), finished ? report::RowStyle::kPlain : report::RowStyle::kFaint);
    }
    if (runs.empty() && !json_) {
      context.err << "no runs yet: measure one (paretoctl sweep)\n";
      return kExitDone;
    }
    context.out << (json_ ? dump(json, 2) + "\n" : table.render(style_of(context)));
    return kExitDone;
  }

  static std::string finished_text(const results::RunRecord& run) {
    if (!run.damage.empty()) return "damaged: runs rm " + run.id;
    return run.finished.empty() ? "no: sweep --resume " + run.id : run.finished;
  }

  StoreFlags store_;
  std::string action_ = "list";
  std::vector<std::string> words_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_runs_command() { return std::make_unique<RunsCommand>(); }

}  // namespace pareto::client::commands
