#include "client/commands/netem_interface.h"

#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/show.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/network.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/plan/builtin_conditions.h"
#include "netem/interface_emulation.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;
using netem::EmulationState;
using netem::InterfaceStatus;

bool changes(const plan::Condition& condition) {
  return !condition.forward.trace.empty() || !condition.backward.trace.empty();
}

/// Stays until the time is over or somebody interrupts; looks after the emulation meanwhile.
Expected<> stay(const std::atomic<bool>& stop, const netem::InterfaceEmulation& emulation,
                const std::optional<Nanoseconds>& duration) {
  const Deadline end = duration ? deadline_after(*duration) : std::nullopt;
  // How soon it is noticed that the trace could not be followed, or that it is to stop.
  constexpr Nanoseconds kLook = std::chrono::milliseconds(200);
  while (!stop) {
    PARETO_TRY(emulation.check());
    const TimePoint now = std::chrono::steady_clock::now();
    if (end && now >= *end) break;
    const Nanoseconds wait = end ? std::min<Nanoseconds>(*end - now, kLook) : kLook;
    const timespec time{0, static_cast<long>(wait.count())};
    ::ppoll(nullptr, 0, &time, nullptr);
  }
  return {};
}

}  // namespace

Expected<int> apply_to_interface(Context& context, const std::string& file,
                                 const InterfaceOptions& options) {
  PARETO_ASSIGN(const plan::Condition condition, plan::open_condition(file));
  const std::string name = cluster::condition_name(file);
  const bool stays = options.duration || changes(condition);
  // A signal from here on takes back what was done.
  const std::atomic<bool>& stop = context.stop.watch();
  PARETO_ASSIGN(auto emulation, netem::InterfaceEmulation::apply(options.interface, condition, name,
                                                                 options.folder));
  if (!stays) {
    PARETO_TRY(emulation.keep());
    context.err << name << " on "
                << options.interface << " until: paretoctl netem clear --interface "
                << options.interface << '\n';
    return show_interfaces(context, options);
  }
  context.err
      << name << " on "
      << options
             .interface << (options.duration ? " for the time asked for, or until Ctrl-C\n" : " until Ctrl-C: it changes over time\n");
  PARETO_TRY(show_interfaces(context, options));
  context.out.flush();
  PARETO_TRY(stay(stop, emulation, options.duration));
  PARETO_TRY(emulation.end());
  return kExitDone;
}

Expected<int> show_interfaces(Context& context, const InterfaceOptions& options) {
  PARETO_ASSIGN(const auto all, netem::list_emulations(options.folder));
  report::TextTable table(
      {{"interface"}, {"condition"}, {"state"}, {"process", report::Align::kRight}});
  auto json = Json::array();
  for (const InterfaceStatus& one : all) {
    if (!options.interface.empty() && one.interface != options.interface) continue;
    const bool held = one.state == EmulationState::kHeld;
    const bool well = held || one.state == EmulationState::kKept;
    table.add({one.interface, one.name, std::string(to_string(one.state)),
               held ? std::to_string(one.owner) : ""},
              well ? report::RowStyle::kPlain : report::RowStyle::kBad);
    json.push_back({{"interface", one.interface},
                    {"condition", one.name},
                    {"state", to_string(one.state)},
                    {"process", held ? Json(one.owner) : Json()},
                    {"ingress_device", one.ifb.empty() ? Json() : Json(one.ifb)}});
  }
  if (options.json) {
    context.out << dump(json, 2) << '\n';
  } else if (json.empty()) {
    context.out << "no network is emulated on an interface\n";
  } else {
    context.out << table.render(style_of(context));
  }
  return kExitDone;
}

Expected<int> clear_interfaces(Context& context, const InterfaceOptions& options) {
  std::vector<std::string> cleared;
  Expected<> result;
  const auto clear = [&](const std::string& interface) {
    auto done = netem::clear_emulation(interface, options.folder);
    if (done) cleared.push_back(interface);
    if (!done && result) result = std::move(done);
  };
  // What was asked for first: one that is left behind and cannot be cleared keeps nobody from it.
  if (!options.interface.empty()) {
    clear(options.interface);
  } else {
    PARETO_ASSIGN(const auto all, netem::list_emulations(options.folder));
    for (const InterfaceStatus& one : all) {
      if (one.state == EmulationState::kKept) clear(one.interface);
    }
  }
  const auto stale = netem::clear_stale(options.folder);
  if (stale) cleared.insert(cleared.end(), stale->begin(), stale->end());
  if (!stale && result) result = tl::unexpected(stale.error());
  if (!cleared.empty()) context.err << "cleared " << join(cleared) << '\n';
  PARETO_TRY(result);
  InterfaceOptions all = options;
  all.interface.clear();
  return show_interfaces(context, all);
}

}  // namespace pareto::client::commands
