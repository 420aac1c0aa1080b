// All that can be set of a daemon: flags > environment (PARETOD_*) > file > defaults. Read whole, validated whole, then applied.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tls/server_certificate.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

/// The defaults are those of configs/paretod.yaml, which says what each means; a test compares them.
struct DaemonConfig {
  std::string listen = "0.0.0.0:7070";
  std::vector<DataAddress> data{{"tcp", "0.0.0.0:7071"}, {"grpc", "0.0.0.0:7072"}, {"shm", "auto"}};
  std::string name;       ///< "": the host's name
  std::string state_dir;  ///< "": pareto-edge/paretod below $XDG_STATE_HOME or ~/.local/state
  std::uint64_t store_limit_bytes = std::uint64_t{8} << 30;
  std::uint64_t memory_limit_bytes = 0;  ///< 0: what the machine has available
  std::vector<int> cpu;                  ///< cores to run on; empty: all
  int threads = 0;  ///< for shards whose coordinator names no number; 0, "auto": all cores of `cpu`
  std::string device = "cpu";          ///< what shards run on: cpu or cuda:N
  std::vector<std::string> operators;  ///< libraries that define operators LibTorch does not have
  double speed = 0;  ///< imitated: of the whole device, in cores of this machine; 0: as it is
  std::string
      steady;  ///< the imitated one takes what this file of operator times says; "": what it takes here
  std::uint64_t max_frame_bytes = std::uint64_t{1} << 30;
  Nanoseconds drain_timeout = std::chrono::seconds(10);
  Nanoseconds load_timeout = WorkLimits().load;
  Nanoseconds request_timeout = WorkLimits().request;
  std::string log_level = "info";
  bool allow_netem = false;           ///< coordinators may make this device's network worse
  std::string metrics;                ///< where GET /metrics is answered; "": nowhere
  tls::CertificateFiles metrics_tls;  ///< and with which certificate
  std::string discovery = "mdns";     ///< who looks for daemons finds this one; "off": not
};

/// One setting under its one name: "store_limit" in the file, --store-limit, PARETOD_STORE_LIMIT. All are text first, and parsed and
/// checked in one place, so that a mistake reads the same wherever it was made.
struct Setting {
  std::string key;
  std::string value_name;  ///< "SIZE"
  std::string help;
  bool reloadable = false;  ///< takes effect at SIGHUP
  Expected<> (*set)(DaemonConfig& config, const std::string& text);
  /// What set() would read the same from.
  std::string (*get)(const DaemonConfig& config);
};
/// In the order of --help.
std::span<const Setting> settings();

/// "store_limit" -> "--store-limit", "PARETOD_STORE_LIMIT"
std::string flag_of(const Setting& setting);
std::string variable_of(const Setting& setting);

/// What was given on the command line. Only what was given.
struct CommandLine {
  std::optional<std::string> config_file;
  std::vector<std::pair<std::string, std::string>> values;  ///< key of a setting, text
  std::optional<int> ready_fd;
  bool exit_with_parent = false;
  bool check_config = false;
  /// Set for --help and --version: to be printed, and then nothing else is to be done.
  std::optional<std::string> print;
};
/// Fails: kInvalidArgument, with the nearest flags.
Expected<CommandLine> parse_command_line(int argc, const char* const* argv);

/// environment: "NAME=value" strings; names that do not begin with PARETOD_ are left alone. Fails: kInvalidArgument, kNotFound (the
/// file), naming file and line, variable or flag.
Expected<DaemonConfig> load_config(const CommandLine& command_line,
                                   const std::vector<std::string>& environment);

/// This process's environment, as load_config wants it.
std::vector<std::string> process_environment();

}  // namespace pareto::daemon
