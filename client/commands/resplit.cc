// resplit: lists the deployments of this user, and changes the plan of one while it runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "client/commands/commands.h"
#include "client/commands/deploy_control.h"
#include "client/commands/progress.h"
#include "client/commands/runtime_folder.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/plan_file.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

using AnswerJson = nlohmann::json;

/// Returns a text of another process, fit for a terminal.
std::string shown_text(const AnswerJson& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return printable(found->get<std::string>());
  if (found->is_array()) {
    std::vector<std::string> parts;
    for (const AnswerJson& part : *found) {
      if (part.is_string()) parts.push_back(printable(part.get<std::string>()));
    }
    return join(parts, "+");
  }
  return printable(found->dump());
}

double number_at(const AnswerJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

class ResplitCommand final : public Command {
 public:
  std::string_view name() const override { return "resplit"; }
  std::string_view summary() const override {
    return "change the plan of a running deploy, without losing a request";
  }
  std::string_view examples() const override {
    return "  paretoctl resplit                              # the deployments of this user\n"
           "  paretoctl resplit --split after:features.7     # of the only one there is\n"
           "  paretoctl resplit --plan plan.json --deployment camera\n"
           "\n"
           "The next pipeline is opened next to the running one. New requests go through it, and\n"
           "the other answers those that it has. If the next one cannot be opened, or breaks,\n"
           "the other goes on: the exit code is 1, and the reason is told.\n";
  }
  void add_options(CLI::App& app) override {
    auto* plan = set_value(
        app.add_option("--plan", plan_file_, "plan to change to, as run --save-plan writes it"),
        "FILE");
    set_value(app.add_option("--split", split_,
                             "split points at which the plan that runs is cut instead; devices and "
                             "all else stay"),
              "SPLITS")
        ->excludes(plan);
    set_value(app.add_option("--deployment", deployment_,
                             "the deployment: its name or process id (default: the only one)"),
              "NAME|PID");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    const FoundDeployments found = find_deployments(runtime_folder());
    const std::vector<FoundDeployment>& all = found.answering;
    for (const std::filesystem::path& file : found.silent) {
      context.err << fmt::format(
          "a deployment does not answer within {} s ({}): is it stopped (kill -CONT), or busy?\n",
          kControlPatience.count(), printable(file.string()));
    }
    if (all.empty() && !found.silent.empty()) {
      return fail(ErrorCode::kTimeout, "no deployment answers");
    }
    if (plan_file_.empty() && split_.empty()) return list(context, all);
    PARETO_ASSIGN(const FoundDeployment chosen, choose(all));
    AnswerJson question{{"ask", "resplit"}};
    if (plan_file_.empty()) {
      question["split"] = split_;
    } else {
      PARETO_ASSIGN(const cluster::NamedPlan named, cluster::read_plan_file(plan_file_));
      question["plan"] = AnswerJson::parse(plan::to_json(plan::PlanFile{named.plan, named.source}));
    }
    context.phase = Phase::kRunning;
    const std::string title = shown_text(chosen.description, "name");
    AnswerJson done;
    {
      Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
      progress.show(0, 1, "changing " + title, "the next pipeline is opened and takes over");
      PARETO_ASSIGN(
          done, with_context(ask_to_resplit(chosen.file, question, context.stop.descriptor()), "{}",
                             title));
    }
    if (json_) {
      context.out << done.dump(2, ' ', false, AnswerJson::error_handler_t::replace) << '\n';
    } else {
      context.out << text_of(done);
    }
    return kExitDone;
  }

 private:
  Expected<FoundDeployment> choose(const std::vector<FoundDeployment>& all) const {
    if (all.empty()) {
      return fail(ErrorCode::kNotFound,
                  "no deploy of this user runs here (in {}): start one with paretoctl deploy",
                  runtime_folder().string());
    }
    std::vector<FoundDeployment> named;
    std::vector<std::string> names;
    for (const FoundDeployment& one : all) {
      const std::string name = shown_text(one.description, "name");
      const std::string pid = shown_text(one.description, "pid");
      names.push_back(fmt::format("{} (process {})", name, pid));
      if (deployment_.empty() || deployment_ == name || deployment_ == pid) named.push_back(one);
    }
    if (named.size() == 1) return named.front();
    if (named.empty()) {
      return fail(ErrorCode::kNotFound, "--deployment {}: there is none; there are {}", deployment_,
                  join(names));
    }
    return fail(ErrorCode::kInvalidArgument, "{} deployments run: choose by --deployment: {}",
                named.size(), join(names));
  }

  Expected<int> list(Context& context, const std::vector<FoundDeployment>& all) const {
    if (!deployment_.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--deployment {}: it is to be changed to what? --plan FILE or --split SPLITS",
                  deployment_);
    }
    if (json_) {
      AnswerJson document = AnswerJson::array();
      for (const FoundDeployment& one : all) document.push_back(one.description);
      context.out << document.dump(2, ' ', false, AnswerJson::error_handler_t::replace) << '\n';
      return kExitDone;
    }
    if (all.empty()) {
      context.err << "no deployments: start one (paretoctl deploy)\n";
      return kExitDone;
    }
    report::TextTable table({{"name"},
                             {"process", report::Align::kRight},
                             {"model"},
                             {"plan"},
                             {"split"},
                             {"devices"},
                             {"epoch", report::Align::kRight}});
    for (const FoundDeployment& one : all) {
      std::vector<std::string> cells;
      for (const char* key : {"name", "pid", "model", "plan", "splits", "devices", "epoch"}) {
        cells.push_back(shown_text(one.description, key));
      }
      table.add(std::move(cells));
    }
    context.out << table.render(style_of(context));
    return kExitDone;
  }

  static std::string text_of(const AnswerJson& done) {
    std::string text = fmt::format("{} runs {}, {}: epoch {}\n", shown_text(done, "name"),
                                   shown_text(done, "plan"), shown_text(done, "splits"),
                                   shown_text(done, "epoch"));
    text += fmt::format("opened in {:.2f} s; ", number_at(done, "opening_ms") / 1000);
    if (number_at(done, "gap_ms") > 0) {
      text += fmt::format(
          "longest gap between results {:.1f} ms (one every {:.1f} ms before, latency {:.1f} ms)\n",
          number_at(done, "gap_ms"), number_at(done, "period_ms"), number_at(done, "latency_ms"));
    } else {
      text += "no request came meanwhile\n";
    }
    if (done.contains("lost")) {
      text += fmt::format("the pipeline before was lost: {}; requests that were sent again: {}\n",
                          shown_text(done, "lost"), shown_text(done, "sent_again"));
    }
    return text;
  }

  std::string plan_file_;
  std::string split_;
  std::string deployment_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_resplit_command() { return std::make_unique<ResplitCommand>(); }

}  // namespace pareto::client::commands
