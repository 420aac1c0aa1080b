// diff: what changed from one stored run to another.
#include <CLI/CLI.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/flags/store_flags.h"
#include "client/report/diff_writer.h"
#include "coordinator/replay/settle.h"
#include "coordinator/statistics/run_diff.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "compare two stored runs plan by plan, with intervals";
  }
  std::string_view examples() const override {
    return "  paretoctl diff                     the last run against the one before\n"
           "  paretoctl diff 20260131 last --tolerance 5%\n"
           "  paretoctl diff last --between after:features.7/tcp/b1,all-on:device-1/tcp/b1\n"
           "\n"
           "Each plan that both runs measured is faster, slower, the same within the tolerance, or "
           "can't be\ntold, at 95 % confidence. The exit code is 1 if a plan failed, or is worse "
           "by "
           "more than the\ntolerance with its whole interval.\n"
           "\n"
           "Runs of different models or input sizes are refused. Other settings or devices are "
           "named above\nthe table.\n"
           "\n"
           "Few rounds give wide intervals: sweep --rounds 10 narrows them. Of twenty unchanged "
           "plans on a\nbusy machine, one now and then looks worse. Measure again before you "
           "believe a single one.\n";
  }
  void add_options(CLI::App& app) override {
    store_.add_to(app);
    set_value(app.add_option("runs", runs_,
                             "runs A and B by name or id, the beginning of an id, last, or last~1 "
                             "for the one before (default: last~1 last)"),
              "RUN", {"last", "@runs"})
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(0, 2);
    set_value(app.add_option("--between", between_,
                             "compare two plans of one run instead, round by round: ID,ID"),
              "LIST");
    set_value(app.add_option("--tolerance", tolerance_,
                             "difference that counts as none, and as no regression"),
              "SHARE")
        ->capture_default_str();
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const double tolerance, with_context(parse_share(tolerance_), "--tolerance"));
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    if (!between_.empty()) return between(context, *store, tolerance);
    const std::string name_a = runs_.empty() ? "last~1" : runs_.front();
    const std::string name_b = runs_.size() < 2 ? "last" : runs_.back();
    PARETO_ASSIGN(const results::RunRecord a, replay::load_settled(*store, name_a));
    PARETO_ASSIGN(const results::RunRecord b, replay::load_settled(*store, name_b));
    if (a.id == b.id) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" and \"{}\" are the same run, {}", name_a,
                  name_b, a.id);
    }
    PARETO_ASSIGN(const statistics::RunDiff diff, statistics::diff_runs(a, b, tolerance));
    return show(context, {a, b}, diff);
  }

 private:
  Expected<int> between(Context& context, results::ResultStore& store, double tolerance) const {
    const std::vector<std::string> ids = split_list(between_);
    if (ids.size() != 2 || runs_.size() > 1) {
      return fail(ErrorCode::kInvalidArgument,
                  "--between {}: two plans of one run are compared, ID,ID (see `paretoctl export "
                  "--csv`)",
                  between_);
    }
    PARETO_ASSIGN(const results::RunRecord run,
                  replay::load_settled(store, runs_.empty() ? "last" : runs_.front()));
    PARETO_ASSIGN(const statistics::RunDiff diff,
                  statistics::diff_trials(run, ids[0], ids[1], tolerance));
    return show(context, {run, run}, diff);
  }

  Expected<int> show(Context& context, const report::DiffSides& sides,
                     const statistics::RunDiff& diff) const {
    context.out << (json_ ? report::write_diff_json(sides, diff)
                          : write_diff_table(sides, diff, style_of(context)));
    return diff.regressions() > 0 ? kExitFailed : kExitDone;
  }

  StoreFlags store_;
  std::vector<std::string> runs_;
  std::string between_;
  std::string tolerance_ = "2%";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace pareto::client::commands
