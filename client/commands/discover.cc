// discover: which daemons announce themselves on this network. A hint, to make an inventory of; the
// inventory is what counts.
#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/report/text_table.h"
#include "coordinator/discovery/inventory_file.h"
#include "coordinator/discovery/mdns_browser.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/protocol.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

class DiscoverCommand final : public Command {
 public:
  std::string_view name() const override { return "discover"; }
  std::string_view summary() const override { return "find daemons on this network, by mDNS"; }
  std::string_view examples() const override {
    return "  paretoctl discover\n"
           "  paretoctl discover --timeout 10s --write inventory.yaml\n"
           "\n"
           "Exits with 3 if no daemon answers.\n";
  }
  void add_options(CLI::App& app) override {
    set_value(app.add_option("--timeout", timeout_, "time to wait for answers, 100ms to 60s"),
              "DURATION")
        ->capture_default_str();
    set_value(app.add_option("--write", file_,
                             "new file to write the devices to, as an inventory for --devices"),
              "FILE");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const Nanoseconds time, with_context(parse_duration(timeout_), "--timeout"));
    if (time < std::chrono::milliseconds(100) || time > std::chrono::minutes(1)) {
      return fail(ErrorCode::kInvalidArgument, "--timeout {}: 100ms to 60s are possible", timeout_);
    }
    if (!file_.empty()) PARETO_TRY(with_context(discovery::check_new_file(file_), "--write"));
    PARETO_ASSIGN(const std::vector<discovery::FoundDevice> devices,
                  discovery::browse(plan::kServiceType, time));
    if (devices.empty()) {
      context.err << "No daemon answered. On each device there has to be Avahi (or another mDNS "
                     "responder that paretod\nspeaks to), and paretod has to listen on this "
                     "network, with \"discovery: mdns\". Routers keep mDNS out, and so\ndo "
                     "firewalls here that let no UDP in from port 5353. Commands also take "
                     "addresses:\n--devices HOST:7070,HOST:7070\n";
    }
    show(context, devices);
    if (file_.empty()) return devices.empty() ? kExitEnvironment : kExitDone;
    if (devices.empty())
      return fail(ErrorCode::kUnavailable, "--write {}: nothing was found", file_);
    PARETO_TRY(with_context(discovery::write_inventory(file_, devices), "--write"));
    context.err << "wrote " << file_ << ": look it through, its order is that of the stages\n";
    return kExitDone;
  }

 private:
  void show(Context& context, const std::vector<discovery::FoundDevice>& devices) const {
    report::TextTable table({{"device"},
                             {"address"},
                             {"version", report::Align::kLeft, 1},
                             {"host", report::Align::kLeft, 2},
                             {"other addresses", report::Align::kLeft, 3}});
    auto json = Json::array();
    for (const discovery::FoundDevice& device : devices) {
      const std::span others = std::span(device.addresses).subspan(1);
      table.add({device.name, device.control_address(), device.version, device.host, join(others)});
      json.push_back({{"name", device.name},
                      {"device_name", device.device_name},
                      {"address", device.control_address()},
                      {"host", device.host},
                      {"port", device.port},
                      {"addresses", device.addresses},
                      {"version", device.version}});
    }
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else if (!devices.empty()) {
      context.out << table.render(style_of(context));
    }
  }

  std::string timeout_ = "3s";
  std::string file_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_discover_command() { return std::make_unique<DiscoverCommand>(); }

}  // namespace pareto::client::commands
