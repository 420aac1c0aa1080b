// Flags that several commands share, and what they stand for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/commands/model_flags.h"
#include "client/commands/store_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/runtime/shard_runner.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client {

/// Help text of --devices.
inline constexpr const char* kDevicesHelp =
    "inventory of daemons (configs/inventory.yaml), or their addresses, HOST:PORT,HOST:PORT "
    "(environment: PARETO_DEVICES)";

/// The devices of an inventory that have to answer; the default: all of them.
struct NeededDevices {
  std::vector<std::string>
      names{};            ///< empty: not by name. If the inventory lacks one, all have to
  std::size_t first = 0;  ///< inputs from the beginning, as many as this; 0: all
};

/// The flags for where a command runs.
struct DeviceFlags {
  std::string inventory;
  std::string testbed;

  void add_to(CLI::App& app);
  /// If neither was given, takes the devices of the environment (PARETO_DEVICES).
  void settle(const Context& context);
  /// Connects to the devices of the inventory or of the test bed, or to `count` daemons of this
  /// build on loopback. If conditions are to be applied, the daemons run in network namespaces of
  /// this machine.
  /// Fails: as Cluster and open_testbed do; kUnavailable (no paretod to start); kInvalidArgument
  /// (conditions for devices that let nobody change their network).
  Expected<cluster::Cluster> connect(const Context& context, int count,
                                     std::vector<cluster::NamedCondition> conditions = {},
                                     const NeededDevices& needed = {}) const;
  /// Returns ChosenTestbed::content; "" where none is named. Fails: as find_testbed.
  Expected<std::string> testbed_content() const;
};

/// The flags for how requests travel through a pipeline. A command says whether it takes one of
/// each or a list.
struct PipelineFlags {
  std::string transport = "auto";  ///< transports for run, sweep and plan alike
  std::string codec = "none";
  double codec_error = 0;
  std::string micro_batch = "none";
  std::string window = "auto";
  bool no_checksum = false;

  void add_to(CLI::App& app);
};

/// runtime::kDefaultMaxError as people write it.
inline constexpr const char* kDefaultMaxErrorText = "5%";
/// Parses "5%" or "0.05" as a share, above 0 and at most 1; 0 for the default. Fails:
/// kInvalidArgument naming --max-error.
Expected<double> parse_max_error(const std::string& text);
/// Adds --no-checksum.
void add_no_checksum(CLI::App& app, bool& no_checksum);

/// The flags for how a shard is run, one way.
struct RunnerFlags {
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;  ///< 0: as each device is set
  std::string max_error{kDefaultMaxErrorText};

  void add_to(CLI::App& app);
  void add_engine_to(CLI::App& app);
  /// Fails: kInvalidArgument naming the flag.
  Expected<plan::StageSettings> settings() const;
};

/// The ways in which shards are profiled: every combination of those named, separated by commas.
struct SettingLists {
  std::string batches = "1";
  std::string threads = "0";  ///< 0: as each device is set
  std::string precisions = "fp32";
  std::string max_error{kDefaultMaxErrorText};

  void add_to(CLI::App& app);
  /// Returns all settings on that engine, batch by batch, in each threads by threads; none twice.
  /// Fails: kInvalidArgument naming the flag.
  Expected<std::vector<control::ShardSettings>> read(const std::string& engine) const;
};

/// Checks an option that takes one value, for CLI::Option::check. Returns what is wrong with
/// several values separated by commas; "" for one.
std::string check_one_value(const std::string& text);
/// Returns what is wrong with the value of --devices, for a parser: it is empty. No device is not
/// the same as no flag.
std::string check_names_devices(const std::string& text);

/// The flag for the time that a request may take before its pipeline counts as broken.
struct TimeoutFlag {
  std::optional<std::string> timeout;  ///< no value means kRequestTimeout

  void add_to(CLI::App& app);
  /// Fails: kInvalidArgument.
  Expected<std::chrono::milliseconds> read() const;
};

/// The objectives that a front is of: --objectives latency,memory.
struct ObjectivesFlag {
  std::string names;

  void add_to(CLI::App& app);
  /// Returns the names; empty if none were given. Fails: kInvalidArgument (no such objective, one
  /// that stands twice, or fewer than two).
  Expected<std::vector<std::string>> read() const;
};

/// Returns whether a network is a condition's file: neither "none" nor what a test bed has of its
/// own.
bool is_condition_file(const std::string& network);
/// Returns what --network names; where it names nothing, what the test bed has of its own, or
/// "none". Fails: as find_testbed.
Expected<std::string> networks_of(const std::string& networks, const DeviceFlags& devices);
/// Checks that the network of those devices can take each of these conditions. Fails: as
/// Network::offers.
Expected<> check_offered(const cluster::Cluster& cluster, const std::vector<std::string>& networks);
/// Reads "none,lte.yaml": the conditions of those that are files, by their names. Fails: as
/// read_condition; kInvalidArgument (a file that is called like no file).
Expected<std::vector<cluster::NamedCondition>> read_conditions(const std::string& networks);

/// Parses "2,3" -> {2, 3}; "auto" -> {}. Fails with kInvalidArgument naming the flag where one is
/// below 1.
Expected<std::vector<int>> parse_stages(const std::string& text);
/// Parses "1,8" -> {1, 8}. Fails with kInvalidArgument naming the flag where one is below 1.
Expected<std::vector<std::int64_t>> parse_batches(const std::string& text);
/// Like parse_batches(), but for a flag that need not be given: "" -> {}.
Expected<std::vector<std::int64_t>> parse_named_batches(const std::string& text);
/// Parses "none,2" -> {0, 2}. Fails with kInvalidArgument naming the flag.
Expected<std::vector<std::int64_t>> parse_micro_batches(const std::string& text);
/// Parses "none,fp16", "auto", each known and once. Fails: kNotFound with the nearest.
Expected<std::vector<std::string>> parse_codecs(const std::string& text);
/// Fails: kInvalidArgument.
Expected<> check_codec_error(double error);
/// Parses "tcp,grpc", "auto", "shm+tcp+grpc", each known and once. Fails: as parse_transport_mix.
Expected<std::vector<std::string>> parse_transports(const std::string& text);
/// Parses "auto" -> 0. Fails: kInvalidArgument.
Expected<int> parse_window(const std::string& text);
/// Parses "90s", "5m", "1h". Fails: kInvalidArgument, naming the flag.
Expected<Nanoseconds> parse_long_time(const std::string& text, const char* flag);
/// Parses "90s", "5m", "1h": in seconds. Fails: kInvalidArgument.
Expected<double> parse_budget(const std::string& text);

}  // namespace pareto::client
