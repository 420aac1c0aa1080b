#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/commands/testbed_fault.h"
#include "client/flags/json_flag.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/fault_server.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/process.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

std::string speed_of(const cluster::RunningDevice& device) {
  const std::string speed =
      device.speed > 0 ? fmt::format("{:.3g} of a core", device.speed) : "all";
  return device.steady.empty() ? speed : speed + ", steady";
}

std::string memory_of(const cluster::RunningDevice& device) {
  return device.memory_bytes > 0 ? format_bytes(device.memory_bytes) : "all";
}

Json to_json(const cluster::RunningTestbed& bed) {
  auto devices = Json::array();
  for (const cluster::RunningDevice& device : bed.devices) {
    devices.push_back({{"name", device.name},
                       {"preset", device.preset},
                       {"speed", device.speed},
                       {"steady", device.steady},
                       {"memory_bytes", device.memory_bytes},
                       {"control", device.control},
                       {"process", device.process},
                       {"namespace", device.place}});
  }
  auto links = Json::array();
  for (const cluster::RunningLink& link : bed.links) {
    links.push_back({{"first", link.first}, {"second", link.second}, {"network", link.network}});
  }
  return {{"name", bed.name}, {"process", bed.process}, {"devices", devices}, {"links", links}};
}

void print(Context& context, const cluster::RunningTestbed& bed) {
  report::TextTable devices({{"device"},
                             {"imitates"},
                             {"speed"},
                             {"memory"},
                             {"control address"},
                             {"its network: nsenter --net=", report::Align::kLeft, 1}});
  for (const cluster::RunningDevice& device : bed.devices) {
    devices.add({device.name, device.preset, speed_of(device), memory_of(device), device.control,
                 device.place});
  }
  context.out << fmt::format("test bed {}, process {}\n", bed.name, bed.process)
              << devices.render(style_of(context));
  if (bed.links.empty()) return;
  report::TextTable links({{"link"}, {"network"}});
  for (const cluster::RunningLink& link : bed.links) {
    links.add({link.first + " - " + link.second, link.network});
  }
  context.out << links.render(style_of(context));
}

Expected<> tell_ready(int descriptor) {
  if (::write(descriptor, "up\n", 3) == 3) {
    ::close(descriptor);
    return {};
  }
  return tl::unexpected(error_from_errno(errno, fmt::format("--ready-fd {}", descriptor)));
}

class TestbedCommand final : public Command {
 public:
  std::string_view name() const override { return "testbed"; }
  std::string_view summary() const override {
    return "imitate several devices and the links between them on this machine";
  }
  std::string_view examples() const override {
    return "  sudo paretoctl testbed up configs/testbed/two-pi4.yaml\n"
           "  sudo paretoctl sweep --model mobilenetv2 --testbed two-pi4\n"
           "  sudo paretoctl testbed status\n"
           "  sudo paretoctl testbed up configs/testbed/faulty.yaml\n"
           "  sudo paretoctl testbed fault configs/faults/minute.yaml faulty\n"
           "  sudo paretoctl testbed down two-pi4\n";
  }

  void add_options(CLI::App& app) override {
    app.add_option("action", action_,
                   "make a test bed that stays (up FILE), end one (down), show them "
                   "(status), make the faults of a file on one that is up (fault FILE [NAME]), or "
                   "list what devices can imitate (presets)")
        ->required()
        ->check(CLI::IsMember({"up", "down", "status", "fault", "presets"}));
    set_value(app.add_option("testbed", what_,
                             "file as in configs/testbed/, or the name of a test bed that is up; "
                             "for fault, the file of faults, as configs/faults/minute.yaml"),
              "FILE|NAME", {"@testbeds"});
    set_value(app.add_option("name", bed_,
                             "the test bed that faults are made on; default: the only one that "
                             "is up"),
              "NAME", {"@testbeds"});
    app.add_flag(
        "--foreground", foreground_,
        "stay in the foreground until Ctrl-C, for up; otherwise it runs in the background");
    set_value(app.add_option("--ready-fd", ready_fd_,
                             "descriptor that gets a line when the test bed is up, for up "
                             "--foreground"),
              "N");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    if (action_ == "presets") return show_presets(context);
    if (action_ == "status") return show_status(context);
    if (what_.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "testbed {}: which one? Give a file, as in "
                  "configs/testbed/{}",
                  action_, action_ == "down" ? ", or a name" : "");
    }
    if (!bed_.empty() && action_ != "fault") {
      return fail(ErrorCode::kInvalidArgument, "testbed {}: takes one file or name, not {} too",
                  action_, bed_);
    }
    if (action_ == "down") return take_down(context);
    if (action_ == "fault") return make_faults(context, what_, bed_, json_);
    return foreground_ ? hold(context) : put_up(context);
  }

 private:
  /// The document of one that is up, for people or programs.
  int show(Context& context, const cluster::RunningTestbed& bed) const {
    if (json_) {
      context.out << dump(to_json(bed), 2) << '\n';
    } else {
      print(context, bed);
    }
    return kExitDone;
  }

  Expected<int> put_up(Context& context) const {
    PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(what_));
    if (chosen.running) {
      context.err << fmt::format("test bed {} is up\n", chosen.name());
      return show(context, *chosen.running);
    }
    PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("pareto-testbed"));
    std::vector<std::string> arguments{"testbed", "up", what_, "--foreground"};
    std::error_code no_proc;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", no_proc);
    PARETO_ASSIGN(
        cluster::ChildProcess holder,
        cluster::ChildProcess::start(program, std::move(arguments), folder.path() / "log"));
    // However long: it measures every link, and is noticed when it ends.
    PARETO_TRY(with_context(holder.wait_ready(std::nullopt), "test bed {}", chosen.name()));
    holder.leave_running();
    PARETO_ASSIGN(const auto running, cluster::TestbedRegistry().find(chosen.name()));
    if (running) return show(context, *running);
    return fail(ErrorCode::kUnavailable, "test bed {} ended as soon as it was up", chosen.name());
  }

  Expected<int> hold(Context& context) const {
    // The terminal may go; the test bed stays.
    static_cast<void>(::signal(SIGHUP, SIG_IGN));
    // The reader that wanted to know that it is up may have gone: then it ends in order.
    static_cast<void>(::signal(SIGPIPE, SIG_IGN));
    PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(what_));
    if (chosen.running) {
      return fail(ErrorCode::kUnavailable, "test bed {} is up, held by process {}", chosen.name(),
                  chosen.running->process);
    }
    const std::atomic<bool>& stop = context.stop.watch();
    PARETO_ASSIGN(cluster::Cluster cluster, cluster::open_testbed(chosen, {}, context.paretod));
    PARETO_TRY(with_context(judge_links(*chosen.bed, cluster), "test bed {}", chosen.name()));
    PARETO_ASSIGN(const auto running, cluster::TestbedRegistry().find(chosen.name()));
    if (stop) return kExitDone;
    cluster::TestbedFaults faults(*chosen.bed, cluster);
    if (ready_fd_ >= 0) {
      PARETO_TRY(tell_ready(ready_fd_));
    } else if (running) {
      show(context, *running);
    }
    PARETO_TRY(cluster::serve_faults(cluster::TestbedRegistry().fault_socket(chosen.name()), faults,
                                     context.stop.descriptor()));
    return kExitDone;
  }

  /// Checks the links: a network that cannot be had is reported before anybody measures on it.
  static Expected<> judge_links(const netem::Testbed& bed, const cluster::Cluster& cluster) {
    const bool shaped = std::ranges::any_of(bed.links, [](const netem::TestbedLink& link) {
      return link.network != cluster::Network::kNone;
    });
    if (!shaped || cluster.network() == nullptr) return {};
    PARETO_TRY(cluster.network()->apply(cluster::EmulatedNetwork::kOwn));
    return cluster.network()->check();
  }

  Expected<int> take_down(Context& context) const {
    std::string name = what_;
    if (cluster::is_testbed_file(what_)) {
      PARETO_ASSIGN(const netem::Testbed bed, netem::read_testbed(what_));
      name = bed.name;
    }
    PARETO_ASSIGN(const bool was_up, cluster::TestbedRegistry().end(name));
    if (!was_up && name == what_) {
      return fail(ErrorCode::kNotFound,
                  "test bed {} was not up: paretoctl testbed status lists those that are", name);
    }
    if (json_) {
      context.out << dump(Json{{"name", name}, {"was_up", was_up}}, 2) << '\n';
    } else {
      context.err << fmt::format("test bed {} {}\n", name, was_up ? "is down" : "was not up");
    }
    return kExitDone;
  }

  Expected<int> show_status(Context& context) const {
    std::vector<cluster::RunningTestbed> beds;
    if (what_.empty()) {
      PARETO_ASSIGN(beds, cluster::TestbedRegistry().all());
    } else {
      PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(what_));
      if (chosen.running) beds.push_back(*chosen.running);
    }
    if (json_) {
      auto all = Json::array();
      for (const cluster::RunningTestbed& bed : beds) all.push_back(to_json(bed));
      context.out << dump(all, 2) << '\n';
      return kExitDone;
    }
    if (beds.empty()) context.out << "no test bed is up\n";
    for (const cluster::RunningTestbed& bed : beds) print(context, bed);
    return kExitDone;
  }

  Expected<int> show_presets(Context& context) const {
    report::TextTable table({{"preset"}, {"speed"}, {"memory"}, {"imitates"}});
    auto all = Json::array();
    for (const netem::DevicePreset& preset : netem::device_presets()) {
      table.add({preset.name,
                 preset.speed > 0 ? fmt::format("{:.3g} of a core", preset.speed) : "all",
                 preset.memory_bytes > 0 ? format_bytes(preset.memory_bytes) : "all", preset.what});
      all.push_back({{"name", preset.name},
                     {"speed", preset.speed},
                     {"memory_bytes", preset.memory_bytes},
                     {"imitates", preset.what}});
    }
    if (json_) {
      context.out << dump(all, 2) << '\n';
    } else {
      context.out
          << table.render(style_of(context))
          << "Imitations: the share of one core of this machine that the whole device gets, "
             "and its memory; nothing else is as there.\n";
    }
    return kExitDone;
  }

  std::string action_;
  std::string what_;
  std::string bed_;
  bool foreground_ = false;
  int ready_fd_ = -1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_testbed_command() { return std::make_unique<TestbedCommand>(); }

}  // namespace pareto::client::commands
