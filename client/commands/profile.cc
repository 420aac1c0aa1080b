#include <CLI/CLI.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/leave_soon.h"
#include "client/commands/planning.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/flags/number_flags.h"
#include "client/report/profile_writer.h"
#include "coordinator/cluster/network.h"
#include "coordinator/profile/device_profiler.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

class ProfileCommand final : public Command {
 public:
  std::string_view name() const override { return "profile"; }
  std::string_view summary() const override {
    return "time a model on each device, cut by cut, and the links between them; kept for plan";
  }
  std::string_view examples() const override {
    return "  paretoctl profile --model mobilenetv2\n"
           "  paretoctl profile --model resnet50 --devices inventory.yaml --batch 1,8 --threads "
           "1,2,4 --precision fp32,bf16\n"
           "  paretoctl profile --model resnet50 --devices inventory.yaml --codec all "
           "--per-operator\n"
           "  paretoctl profile --model inceptionv3 --devices inventory.yaml --splits all "
           "--measured-cuts 0 --fresh\n";
  }
  void add_options(CLI::App& app) override {
    flags_.add_to(app, settings_);
    batch_ = app.get_option("--batch");
    codecs_.add_to(app, "codecs to measure");
    app.add_flag("--per-operator", operators_,
                 "show each operator too: its time in the plain engine, weights and output");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once(kStoppedEarly);
    PARETO_ASSIGN(auto wanted, settings_.read(flags_.runner.engine));
    PARETO_ASSIGN(const PlanCodecs codecs, codecs_.read());
    if (batch_->count() > 0) {
      PARETO_ASSIGN(flags_.named_batches, parse_batches(settings_.batches));
    }
    flags_.options.probed_batches = flags_.named_batches;
    PARETO_ASSIGN(const auto session, PlanningSession::open(context, flags_, {}));
    for (control::ShardSettings& settings : wanted) {
      if (batch_->count() == 0) settings.batch = flags_.batch;
    }
    report::ProfileReport report;
    report.model = session->model().name();
    report.transports = profile::names_in(session->transports());
    std::set<std::int64_t> batches;
    context.phase = Phase::kRunning;
    for (const control::ShardSettings& settings : wanted) {
      auto measured = profile(context, *session, settings, report.links);
      // A stop has nothing to do with the settings.
      if (!context.stop.watch()) {
        measured = with_context(std::move(measured), "{}", profile::settings_text(settings));
      }
      PARETO_ASSIGN(report::ProfiledSettings profiled, std::move(measured));
      // What crosses depends on the batch alone.
      if (batches.insert(settings.batch).second) {
        PARETO_ASSIGN(profiled.codecs, session->probe_codecs(context, codecs));
      }
      report.settings.push_back(std::move(profiled));
    }
    name_positions(*session, report);
    context.out << (json_ ? report::write_profile_json(report)
                          : write_profile_table(report, style_of(context)));
    session->tell_of_others(context);
    return kExitDone;
  }

 private:
  /// `links`: as they are at rest, probed once for all settings.
  Expected<report::ProfiledSettings> profile(Context& context, PlanningSession& session,
                                             const control::ShardSettings& settings,
                                             std::vector<planning::ProbedTransport>& links) const {
    report::ProfiledSettings profiled;
    profiled.settings = settings;
    session.profiler().use(settings);
    PARETO_TRY(session.profile(context));
    PARETO_ASSIGN(links,
                  session.probe(context, cluster::resting_condition(session.cluster().network())));
    PARETO_ASSIGN(profiled.inputs, session.profiler().space().inputs(links));
    for (const planning::DeviceFacts& device : session.profiler().devices()) {
      profiled.devices.push_back(device.profile);
    }
    if (operators_) {
      PARETO_ASSIGN(profiled.operators,
                    planning::profiled_operators(session.model().graph(), settings.batch));
    }
    profiled.measured_now = session.profiler().measured_now();
    return profiled;
  }

  static void name_positions(const PlanningSession& session, report::ProfileReport& report) {
    report.positions = {0};
    for (const std::size_t index : session.profiler().splits()) {
      const model::SplitPoint& point = session.model().split_points()[index];
      report.positions.push_back(point.position);
      report.cuts.push_back(point.name);
    }
    report.positions.push_back(std::ssize(session.model().graph().operators));
  }

  PlanningFlags flags_;
  SettingLists settings_;
  const CLI::Option* batch_ = nullptr;
  CodecFlags codecs_;
  bool operators_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace pareto::client::commands
