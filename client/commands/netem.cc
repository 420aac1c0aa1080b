#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/experiment/sweep.h"
#include "client/report/text_table.h"
#include "netem/emulated_pair.h"
#include "netem/link_measurement.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

struct Checked {
  std::string name;
  Condition asked;
  netem::LinkMeasurement measured;
  std::string problem;  ///< empty: it is what was asked for
};

/// Between two network namespaces that nobody else uses.
Expected<Checked> check(const std::string& file) {
  Checked checked;
  checked.name = condition_name(file);
  PARETO_ASSIGN(checked.asked, read_condition(file));
  PARETO_ASSIGN(const auto pair, netem::EmulatedPair::create(checked.asked));
  PARETO_ASSIGN(checked.measured, netem::measure_link(pair.first(), pair.second(),
                                                      netem::measurement_for(checked.asked)));
  const auto judged = netem::check_measurement(checked.asked, checked.measured);
  if (!judged) checked.problem = judged.error().message;
  return checked;
}

/// "8.0 / 8.2": asked for and measured.
std::string pair_of(double asked, double measured) {
  return fmt::format("{:.4g} / {:.4g}", asked, measured);
}

class NetemCommand final : public Command {
 public:
  std::string_view name() const override { return "netem"; }
  std::string_view summary() const override {
    return "emulate network conditions on this machine, and measure whether they are what was "
           "asked for";
  }
  std::string_view examples() const override {
    return "  sudo paretoctl netem check configs/network/lte.yaml\n"
           "  sudo paretoctl netem check configs/network/*.yaml --json\n";
  }

  void add_options(CLI::App& app) override {
    app.add_option("action", action_, "check")->required()->check(CLI::IsMember({"check"}));
    app.add_option("files", files_, "conditions, as in configs/network/")->required();
    app.add_flag("--json", json_, "one JSON document on stdout");
  }

  Expected<int> run(Context& context) override {
    TextTable table({{"condition"},
                     {"round trip ms", Align::kRight},
                     {"deviation ms", Align::kRight},
                     {"Mbit/s forward", Align::kRight},
                     {"Mbit/s backward", Align::kRight},
                     {"loss % forward", Align::kRight, 1},
                     {"loss % backward", Align::kRight, 1},
                     {"is it so"}});
    auto json = Json::array();
    bool all_hold = true;
    for (const std::string& file : files_) {
      context.err << "measuring " << file << '\n';
      PARETO_ASSIGN(const Checked checked, with_context(check(file), "{}", file));
      all_hold = all_hold && checked.problem.empty();
      add_row(table, checked);
      json.push_back(to_json(checked));
    }
    if (json_) {
      context.out << json.dump(2) << '\n';
    } else {
      context.out << table.render(style_of(context)) << "asked for / measured\n";
    }
    return all_hold ? kExitDone : kExitFailed;
  }

 private:
  static void add_row(TextTable& table, const Checked& checked) {
    const LinkDirection& forward = checked.asked.forward;
    const LinkDirection& backward = checked.asked.backward;
    const netem::LinkMeasurement& found = checked.measured;
    const auto rate = [](const LinkDirection& asked, double measured) {
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
               checked.problem.empty() ? "yes" : checked.problem},
              checked.problem.empty() ? RowStyle::kPlain : RowStyle::kBad);
  }

  static Json to_json(const Checked& checked) {
    const auto direction = [](const LinkDirection& asked,
                              const netem::DirectionMeasurement& measured) {
      return Json{{"asked_bits_per_s", asked.bits_per_second},
                  {"bits_per_s", measured.bits_per_second},
                  {"asked_loss", netem::loss_of(asked)},
                  {"loss", measured.loss},
                  {"probes", measured.probes}};
    };
    return {{"condition", checked.name},
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
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_netem_command() { return std::make_unique<NetemCommand>(); }

}  // namespace pareto::client
