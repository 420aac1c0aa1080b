#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/netem_interface.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/flags/known_names.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/network.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/builtin_conditions.h"
#include "netem/emulated_pair.h"
#include "netem/interface_emulation.h"
#include "netem/link_measurement.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

struct Checked {
  std::string name;
  plan::Condition asked;
  netem::EmulatorKind emulator = netem::EmulatorKind::kAuto;
  netem::LinkMeasurement measured;
  std::string problem;  ///< empty: it is what was asked for
};

/// Checks a condition between two network namespaces that nobody else uses.
Expected<Checked> check(const std::string& file, netem::EmulatorKind emulator) {
  Checked checked;
  checked.name = cluster::condition_name(file);
  PARETO_ASSIGN(checked.asked, plan::open_condition(file));
  PARETO_ASSIGN(const auto pair, netem::EmulatedPair::create(checked.asked, emulator));
  checked.emulator = pair.link().kind();
  PARETO_ASSIGN(checked.measured, netem::measure_link(pair.first(), pair.second(),
                                                      netem::measurement_for(checked.asked)));
  const auto judged = netem::check_measurement(checked.asked, checked.measured);
  if (!judged) checked.problem = judged.error().message;
  return checked;
}

/// Returns "8.0 / 8.2": asked for and measured.
std::string pair_of(double asked, double measured) {
  return fmt::format("{:.4g} / {:.4g}", asked, measured);
}

class NetemCommand final : public Command {
 public:
  std::string_view name() const override { return "netem"; }
  std::string_view summary() const override {
    return "emulate network conditions: measure whether they are what was asked for, put them on "
           "an interface";
  }
  std::string_view examples() const override {
    return "  sudo paretoctl netem check lte\n"
           "  sudo paretoctl netem check configs/network/*.yaml --emulator tc --json\n"
           "  sudo paretoctl netem apply --interface eth1 configs/network/lte.yaml\n"
           "  sudo paretoctl netem apply --interface eth1 configs/network/lte.yaml --for 60s\n"
           "  sudo paretoctl netem show\n"
           "  sudo paretoctl netem clear --interface eth1\n"
           "\n"
           "check measures a link between two network namespaces that nobody else uses.\n"
           "\n"
           "apply changes an interface until clear, or until Ctrl-C if the condition changes over "
           "time. What\nleaves the interface fares as the condition's forward direction, and what "
           "comes in as its backward\none. Never apply a condition to the interface that leads to "
           "you.\n";
  }

  void add_options(CLI::App& app) override {
    app.add_option("action", action_,
                   "check conditions, apply one to an interface, show it, or clear it")
        ->required()
        ->check(CLI::IsMember({"check", "apply", "show", "clear"}));
    set_value(app.add_option("conditions", files_,
                             "conditions by name (wifi) or by file: one or more for check, one for "
                             "apply"),
              "NAME|FILE", network_names({}));
    set_value(app.add_option("--interface", interface_,
                             "interface of this machine, for apply, show and clear"),
              "NAME");
    set_value(app.add_option("--for", duration_,
                             "time after which apply clears the interface again, as 60s"),
              "DURATION");
    set_value(
        app.add_option("--emulator", emulator_,
                       "emulator that check uses: tc (the kernel's), user, or auto: tc if the "
                       "kernel has netem"),
        "NAME", {"auto", "tc", "user"})
        ->capture_default_str();
    set_value(app.add_option("--state", folder_, "folder of the records of changed interfaces"),
              "FOLDER")
        ->capture_default_str();
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    PARETO_TRY(check_flags());
    if (action_ == "check") return check_all(context);
    InterfaceOptions options{interface_, folder_, std::nullopt, json_};
    if (action_ == "show") return show_interfaces(context, options);
    if (action_ == "clear") return clear_interfaces(context, options);
    if (!duration_.empty()) {
      PARETO_ASSIGN(options.duration, with_context(parse_duration(duration_), "--for"));
    }
    return apply_to_interface(context, files_.front(), options);
  }

 private:
  Expected<> check_flags() const {
    const bool applies = action_ == "apply";
    const bool takes_files = applies || action_ == "check";
    if (takes_files ? files_.empty() : !files_.empty()) {
      return fail(ErrorCode::kInvalidArgument, "netem {} takes {}", action_,
                  takes_files ? "a file, as in configs/network/" : "no files");
    }
    if (applies && (files_.size() != 1 || interface_.empty())) {
      return fail(ErrorCode::kInvalidArgument,
                  "netem apply takes one file and an interface (--interface eth1)");
    }
    if (!applies && !duration_.empty()) {
      return fail(ErrorCode::kInvalidArgument, "--for is for netem apply");
    }
    if (action_ == "check" && !interface_.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "netem check makes a link of its own: --interface is for apply, show and clear");
    }
    return {};
  }

  Expected<int> check_all(Context& context) {
    PARETO_ASSIGN(const netem::EmulatorKind emulator, netem::parse_emulator_kind(emulator_));
    report::TextTable table({{"condition"},
                             {"round trip ms", report::Align::kRight},
                             {"deviation ms", report::Align::kRight},
                             {"Mbit/s forward", report::Align::kRight},
                             {"Mbit/s backward", report::Align::kRight},
                             {"loss % forward", report::Align::kRight, 1},
                             {"loss % backward", report::Align::kRight, 1},
                             {"emulator", report::Align::kLeft, 2},
                             {"is it so"}});
    auto json = Json::array();
    bool all_hold = true;
    for (const std::string& file : files_) {
      context.err << "measuring " << file << '\n';
      PARETO_ASSIGN(const Checked checked, with_context(check(file, emulator), "{}", file));
      all_hold = all_hold && checked.problem.empty();
      add_row(table, checked);
      json.push_back(to_json(checked));
    }
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else {
      context.out << table.render(style_of(context)) << "asked for / measured\n";
    }
    return all_hold ? kExitDone : kExitFailed;
  }

  static void add_row(report::TextTable& table, const Checked& checked) {
    const plan::LinkDirection& forward = checked.asked.forward;
    const plan::LinkDirection& backward = checked.asked.backward;
    const netem::LinkMeasurement& found = checked.measured;
    const auto rate = [](const plan::LinkDirection& asked, double measured) {
      const double megabits = measured / 1e6;
      if (asked.bits_per_second == 0) return fmt::format("any / {:.4g}", megabits);
      return pair_of(static_cast<double>(asked.bits_per_second) / 1e6, megabits);
    };
    const double deviation = std::hypot(to_milliseconds(forward.jitter.deviation),
                                        to_milliseconds(backward.jitter.deviation));
    table.add({checked.name,
               pair_of(to_milliseconds(forward.delay + backward.delay),
                       to_milliseconds(found.round_trip)),
               pair_of(deviation, to_milliseconds(found.round_trip_deviation)),
               rate(forward, found.forward.bits_per_second),
               rate(backward, found.backward.bits_per_second),
               pair_of(netem::loss_of(forward) * 100, found.forward.loss * 100),
               pair_of(netem::loss_of(backward) * 100, found.backward.loss * 100),
               std::string(to_string(checked.emulator)),
               checked.problem.empty() ? "yes" : checked.problem},
              checked.problem.empty() ? report::RowStyle::kPlain : report::RowStyle::kBad);
  }

  static Json to_json(const Checked& checked) {
    const auto direction = [](const plan::LinkDirection& asked,
                              const netem::DirectionMeasurement& measured) {
      return Json{{"asked_bits_per_s", asked.bits_per_second},
                  {"bits_per_s", measured.bits_per_second},
                  {"asked_loss", netem::loss_of(asked)},
                  {"loss", measured.loss},
                  {"probes", measured.probes}};
    };
    return {{"condition", checked.name},
            {"emulator", to_string(checked.emulator)},
            {"asked_round_trip_ms",
             to_milliseconds(checked.asked.forward.delay + checked.asked.backward.delay)},
            {"round_trip_ms", to_milliseconds(checked.measured.round_trip)},
            {"round_trip_deviation_ms", to_milliseconds(checked.measured.round_trip_deviation)},
            {"forward", direction(checked.asked.forward, checked.measured.forward)},
            {"backward", direction(checked.asked.backward, checked.measured.backward)},
            {"holds", checked.problem.empty()},
            {"problem", checked.problem}};
  }

  std::string action_;
  std::vector<std::string> files_;
  std::string interface_;
  std::string duration_;
  std::string emulator_ = "auto";
  std::string folder_ = netem::kEmulationFolder;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_netem_command() { return std::make_unique<NetemCommand>(); }

}  // namespace pareto::client::commands
