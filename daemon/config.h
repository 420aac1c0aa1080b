// All settings of a daemon: flags > environment (PARETOD_*) > file > defaults. They are all read,
// then all checked, then applied.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tls/server_certificate.h"
#include "daemon/enrolment.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

/// The value of settings that the daemon chooses itself. Of an address: this machine's own without
/// credentials, every network with them.
inline constexpr std::string_view kAuto = "auto";

/// Values of all settings. The defaults are those of configs/paretod.yaml, which explains each; a
/// test compares them.
struct DaemonConfig {
  std::string listen{kAuto};
  std::vector<DataAddress> data{{"tcp", "auto"}, {"grpc", "auto"}, {"shm", "auto"}};
  std::string socket{kAuto};  ///< Unix socket for users of this machine; "off" means none
  std::string credentials;    ///< folder of a certificate, its key and its authority; "": none
  bool insecure = false;      ///< everybody is let in, from other machines too
  std::string name;           ///< this device's name; "" means the host's
  std::string state_dir;      ///< "": pareto-edge/paretod below $XDG_STATE_HOME or ~/.local/state
  std::uint64_t store_limit_bytes = std::uint64_t{8} << 30;
  std::uint64_t memory_limit_bytes = 0;    ///< 0 means what the machine has available
  std::uint64_t request_memory_bytes = 0;  ///< 0 means half of what the machine has
  int limit_cores = 0;                     ///< cores that shards compute on together; 0 means all
  double limit_busy = 1;  ///< share of the time for which they compute; 1 means all
  std::string turns{device::kDefaultTurnPolicy};  ///< order in which stages compute
  std::vector<int> cpu;                           ///< cores to run on; empty means all
  /// Threads of shards whose coordinator names no number. 0 ("auto") means all cores of `cpu`.
  int threads = 0;
  std::string device = "cpu";          ///< device that shards run on: cpu or cuda:N
  std::vector<std::string> operators;  ///< libraries that define operators LibTorch does not have
  /// Speed of the imitated device, in cores of this machine. 0 means that none is imitated.
  double speed = 0;
  /// File of operator times that the imitated device takes. "" means the times measured here.
  std::string steady;
  std::uint64_t max_frame_bytes = std::uint64_t{1} << 30;
  Nanoseconds drain_timeout = std::chrono::seconds(10);
  Nanoseconds load_timeout = WorkLimits().load;
  Nanoseconds request_timeout = WorkLimits().request;
  std::string log_level = "info";
  bool allow_netem = false;           ///< coordinators may make this device's network worse
  std::string metrics;                ///< address that answers GET /metrics; "" means none
  tls::CertificateFiles metrics_tls;  ///< certificate for that address
  std::string discovery = "mdns";     ///< "mdns" lets others find this daemon; "off" does not
};

/// One setting with its names: "store_limit" in the file, --store-limit, PARETOD_STORE_LIMIT. What
/// begins with limit_ stands in the file's section limits. Every value is text first. It is parsed
/// and checked in one place, so a mistake reads the same wherever it was made.
struct Setting {
  std::string key;
  std::string value_name;  ///< "SIZE"
  std::string help;
  bool reloadable = false;  ///< takes effect at SIGHUP
  Expected<> (*set)(DaemonConfig& config, const std::string& text);
  /// Returns the text from which set() reads the same value.
  std::string (*get)(const DaemonConfig& config);
};
/// Returns all settings, in the order of --help.
std::span<const Setting> settings();

/// Returns the flag of a setting: "--store-limit".
std::string flag_of(const Setting& setting);
/// Returns the environment variable of a setting: "PARETOD_STORE_LIMIT".
std::string variable_of(const Setting& setting);

/// The flags that were given on the command line.
struct CommandLine {
  std::optional<std::string> config_file;
  std::vector<std::pair<std::string, std::string>> values;  ///< key of a setting, and its text
  std::optional<int> ready_fd;
  bool exit_with_parent = false;
  bool check_config = false;
  /// Arguments of `paretod enroll`; no value: it serves.
  std::optional<EnrolmentFlags> enrolment;
  /// Text that --help or --version prints; the daemon then does nothing else.
  std::optional<std::string> print;
};
/// Parses the command line. Fails: kInvalidArgument, with the nearest flags.
Expected<CommandLine> parse_command_line(int argc, const char* const* argv);

/// Reads all settings. `environment` holds "NAME=value" texts; only names that begin with PARETOD_
/// count.
/// Fails: kInvalidArgument, kNotFound (the file), with the file and line, the variable or the flag.
Expected<DaemonConfig> load_config(const CommandLine& command_line,
                                   const std::vector<std::string>& environment);

/// Returns this process's environment, in the form that load_config() takes.
std::vector<std::string> process_environment();

}  // namespace pareto::daemon
