#include "client/commands/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "client/commands/known_names.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/remote_network.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/load/lost_request.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/builtin_conditions.h"
#include "core/wire/codec.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::client {
namespace {

constexpr const char* kPrecisionHelp =
    "number format of the computation: fp32, or bf16 if that is faster on a stage's device and "
    "within --max-error";
constexpr const char* kMaxErrorHelp =
    "largest error of a stage in bf16, against plain fp32 and relative to the largest output; a "
    "stage that is further off computes in fp32. An engine named by --engine is not checked";
constexpr const char* kThreadsHelp =
    "number of threads that a device uses for one request; 0: as each is set (threads in "
    "paretod.yaml)";

template <typename Number>
Expected<Number> parse_number(const std::string& text, const char* flag, Number least = 1) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || at != end || number < least || number > 1'000'000) {
    return fail(ErrorCode::kInvalidArgument, "{} {}: a whole number from {} to 1000000 is needed",
                flag, text, least);
  }
  return number;
}

std::string codec_help() {
  std::vector<std::string> names{"none"};
  for (const wire::Codec* codec : wire::builtin_codecs()) names.emplace_back(codec->name());
  return "codec of the tensors between stages: " + join(names) +
         "; auto: the fastest, by measured times of encoding, link and decoding";
}

std::string codec_error_help() {
  return "loss that auto accepts: mean difference of a tensor, as a share of its largest magnitude";
}

/// Removes the devices that nobody needs. The check of the plan reports a name that is not there.
void keep_needed(const NeededDevices& needed, std::vector<cluster::DeviceConfig>& devices) {
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(devices, name, &cluster::DeviceConfig::name) != devices.end();
  };
  if (needed.first > 0 && needed.first < devices.size()) devices.resize(needed.first);
  if (needed.names.empty() || !std::ranges::all_of(needed.names, is_there)) return;
  std::erase_if(devices, [&](const cluster::DeviceConfig& device) {
    return std::ranges::find(needed.names, device.name) == needed.names.end();
  });
}

}  // namespace

void DeviceFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Devices");
  auto* devices =
      set_value(app.add_option("--devices", inventory,
                               std::string(kDevicesHelp) +
                                   "; without any, daemons are started on this machine"),
                "FILE|LIST", {"@addresses"})
          ->check(check_names_devices);
  set_value(app.add_option("--testbed", testbed,
                           "devices and links imitated on this machine: a file "
                           "(configs/testbed/two-pi4.yaml) or the name of a test bed that is up; "
                           "needs root"),
            "FILE|NAME", {"@testbeds"})
      ->excludes(devices);
}

void DeviceFlags::settle(const Context& context) {
  if (inventory.empty() && testbed.empty()) inventory = context.devices;
}

Expected<cluster::Cluster> DeviceFlags::connect(const Context& context, int count,
                                                std::vector<cluster::NamedCondition> conditions,
                                                const NeededDevices& needed) const {
  const auto start = [&]() -> Expected<cluster::Cluster> {
    if (!testbed.empty()) {
      PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(testbed));
      return open_testbed(chosen, std::move(conditions), context.paretod);
    }
    if (static_cast<std::size_t>(count) > netem::Testbed::kMaxDevices) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} devices on this machine are more than {}: name others (--devices)", count,
                  netem::Testbed::kMaxDevices);
    }
    if (conditions.empty()) return cluster::Cluster::start_local(count, context.paretod);
    const netem::Testbed bed = netem::plain_testbed(static_cast<std::size_t>(count));
    PARETO_ASSIGN(auto network, cluster::EmulatedNetwork::create(bed, std::move(conditions)));
    return cluster::Cluster::start_local(bed, context.paretod, std::move(network), {});
  };
  if (inventory.empty()) {
    auto local = start();
    // A missing program is no wrong flag.
    if (!local && local.error().code == ErrorCode::kNotFound && testbed.empty()) {
      local.error().code = ErrorCode::kUnavailable;
    }
    return local;
  }
  PARETO_ASSIGN(auto devices, with_context(cluster::read_devices(inventory), "--devices"));
  keep_needed(needed, devices);
  if (!conditions.empty()) PARETO_TRY(cluster::check_changeable(devices));
  PARETO_ASSIGN(cluster::Cluster cluster, cluster::Cluster::connect(devices));
  if (!conditions.empty()) {
    std::vector<cluster::DaemonClient*> clients;
    for (std::size_t i = 0; i < cluster.size(); ++i) clients.push_back(&cluster.device(i));
    PARETO_ASSIGN(auto network,
                  cluster::RemoteNetwork::create(std::move(conditions), std::move(clients)));
    cluster.use_network(std::move(network));
  }
  return cluster;
}

Expected<std::string> DeviceFlags::testbed_content() const {
  if (testbed.empty()) return std::string();
  PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(testbed));
  return chosen.content();
}

void PipelineFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Pipeline");
  set_value(app.add_option("--transport", transport,
                           "transport of the links: tcp, grpc or shm; auto: for each link shm, if "
                           "its two ends share a machine and a user, and tcp otherwise; "
                           "shm+tcp+grpc: that of the source's link, of those between stages, and "
                           "of the sink's"),
            "LIST", transport_names())
      ->capture_default_str();
  set_value(app.add_option("--codec", codec, codec_help()), "LIST", codec_names({"none", "auto"}))
      ->capture_default_str();
  set_value(app.add_option("--codec-error", codec_error, codec_error_help()), "SHARE")
      ->capture_default_str();
  set_value(app.add_option("--micro-batch", micro_batch,
                           "number of a batch's samples that travel together, so that stages "
                           "overlap within one request; none sends the whole batch"),
            "LIST", {"none"})
      ->capture_default_str();
  set_value(app.add_option("--window", window,
                           "number of requests in flight when throughput is measured; auto: the "
                           "fewest within 1 % of the best"),
            "N|auto", {"auto"})
      ->capture_default_str();
  add_no_checksum(app, no_checksum);
}

void add_no_checksum(CLI::App& app, bool& no_checksum) {
  app.add_flag("--no-checksum", no_checksum,
               "send tensors without a checksum over tcp and grpc: a byte that changes on its way "
               "is not noticed then");
}

void RunnerFlags::add_to(CLI::App& app) {
  add_engine_to(app);
  const Heading heading(app, "Computing");
  set_value(app.add_option("--precision", precision, kPrecisionHelp), "NAME", {"fp32", "bf16"})
      ->capture_default_str()
      ->check(check_one_value);
  set_value(app.add_option("--threads", threads, kThreadsHelp), "N")
      ->capture_default_str()
      ->check(check_one_value);
  set_value(app.add_option("--max-error", max_error, kMaxErrorHelp), "PERCENT")
      ->capture_default_str();
}

void RunnerFlags::add_engine_to(CLI::App& app) {
  const Heading heading(app, "Computing");
  set_value(app.add_option("--engine", engine,
                           "engine that runs a shard: " + join(runtime::engine_names()) +
                               "; auto: the fastest on each device"),
            "NAME", engine_choices())
      ->capture_default_str();
}

Expected<double> parse_max_error(const std::string& text) {
  if (text == kDefaultMaxErrorText) return 0.0;
  const bool percent = text.ends_with('%');
  const char* const end = text.data() + text.size() - (percent ? 1 : 0);
  double number = 0;
  const auto [at, status] = std::from_chars(text.data(), end, number);
  if (percent) number /= 100;
  if (status != std::errc() || at != end || !(number > 0 && number <= 1)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "--max-error {}: a share of the largest output is needed, above 0 and at most 1, as "
        "in 5% or 0.05",
        text);
  }
  return number;
}

Expected<plan::StageSettings> RunnerFlags::settings() const {
  const auto& names = runtime::engine_names();
  if (engine != "auto" && std::find(names.begin(), names.end(), engine) == names.end()) {
    return fail(ErrorCode::kInvalidArgument, "--engine {}: no such engine{}; there are auto, {}",
                engine, did_you_mean(engine, names), join(names));
  }
  if (threads < 0 || threads > plan::kMostThreads) {
    return fail(ErrorCode::kInvalidArgument, "--threads {}: 0 to {} are possible", threads,
                plan::kMostThreads);
  }
  PARETO_TRY(with_context(runtime::parse_precision(precision), "--precision"));
  PARETO_ASSIGN(const double share, parse_max_error(max_error));
  return plan::StageSettings{engine, precision, threads, share};
}

void SettingLists::add_to(CLI::App& app) {
  const Heading heading(app, "Computing");
  const auto add = [&app](const char* flag, std::string& list, const std::string& help) {
    set_value(app.add_option(flag, list, help + "; of lists every combination is profiled"), "LIST")
        ->capture_default_str();
  };
  add("--batch", batches, "samples of a request");
  add("--threads", threads, kThreadsHelp);
  add("--precision", precisions, kPrecisionHelp);
  set_value(app.add_option("--max-error", max_error, kMaxErrorHelp), "PERCENT")
      ->capture_default_str();
}

Expected<std::vector<control::ShardSettings>> SettingLists::read(const std::string& engine) const {
  PARETO_ASSIGN(const std::vector<std::int64_t> each_batch, parse_batches(batches));
  std::vector<control::ShardSettings> all;
  for (const std::int64_t batch : each_batch) {
    for (const std::string& count : split_list(threads)) {
      PARETO_ASSIGN(const int number, parse_number(count, "--threads", 0));
      for (const std::string& precision : split_list(precisions)) {
        const RunnerFlags flags{engine, precision, number, max_error};
        PARETO_ASSIGN(plan::StageSettings one, flags.settings());
        const control::ShardSettings settings{std::move(one), batch};
        if (std::ranges::find(all, settings) == all.end()) all.push_back(settings);
      }
    }
  }
  if (!all.empty()) return all;
  return fail(ErrorCode::kInvalidArgument, "{} names none",
              split_list(threads).empty() ? "--threads" : "--precision");
}

std::string check_names_devices(const std::string& text) {
  return text.empty() ? "it names no device: name some, or leave the flag out" : "";
}

std::string check_one_value(const std::string& text) {
  if (text.find(',') == std::string::npos) return {};
  return text + ": one value is taken here; paretoctl profile takes several";
}

void TimeoutFlag::add_to(CLI::App& app) {
  set_value(app.add_option("--timeout", timeout,
                           fmt::format("time after which a request counts as lost (default: {}s, "
                                       "or 50 times what requests were seen to take)",
                                       load::kRequestTimeout.count() / 1000)),
            "DURATION");
}

void ObjectivesFlag::add_to(CLI::App& app) {
  std::vector<std::string> known;
  for (const planning::Objective& one : planning::builtin_objectives()) {
    known.emplace_back(one.name);
  }
  set_value(app.add_option("--objectives", names,
                           "objectives that the front is of, two or more, the first two on the "
                           "page's axes: " +
                               join(known) + " (default: latency,throughput)"),
            "LIST", known);
}

Expected<std::vector<std::string>> ObjectivesFlag::read() const {
  std::vector<std::string> chosen = split_list(names);
  if (chosen.empty()) return chosen;
  PARETO_TRY(
      with_context(planning::find_objectives(chosen, planning::all_objectives()), "--objectives"));
  if (chosen.size() < 2) {
    return fail(ErrorCode::kInvalidArgument, "--objectives {}: a front needs two or more", names);
  }
  return chosen;
}

Expected<std::chrono::milliseconds> TimeoutFlag::read() const {
  if (!timeout) return load::kRequestTimeout;
  PARETO_ASSIGN(const Nanoseconds limit, parse_long_time(*timeout, "--timeout"));
  if (limit < std::chrono::milliseconds(1) || limit > std::chrono::hours(24)) {
    return fail(ErrorCode::kInvalidArgument, "--timeout {}: 1ms to 24h are possible", *timeout);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(limit);
}

bool is_condition_file(const std::string& network) {
  return network != cluster::Network::kNone && network != cluster::EmulatedNetwork::kOwn;
}

Expected<std::string> networks_of(const std::string& networks, const DeviceFlags& devices) {
  if (!networks.empty()) return networks;
  if (devices.testbed.empty()) return std::string(cluster::Network::kNone);
  PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(devices.testbed));
  return chosen.network();
}

Expected<> check_offered(const cluster::Cluster& cluster,
                         const std::vector<std::string>& networks) {
  const cluster::Network* const network = cluster.network();
  if (network == nullptr) return {};
  for (const std::string& file : networks)
    PARETO_TRY(network->offers(cluster::condition_name(file)));
  return {};
}

Expected<std::vector<cluster::NamedCondition>> read_conditions(const std::string& networks) {
  std::vector<cluster::NamedCondition> conditions;
  std::map<std::string, std::string> files;
  for (const std::string& file : split_list(networks)) {
    if (!is_condition_file(file)) continue;
    if (!is_condition_file(cluster::condition_name(file))) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: \"{}\" is the name of another network: call the file otherwise",
                  file, cluster::condition_name(file));
    }
    if (!files.emplace(cluster::condition_name(file), file).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: {} is called \"{}\" too: call one of the files otherwise", file,
                  files.at(cluster::condition_name(file)), cluster::condition_name(file));
    }
    PARETO_ASSIGN(plan::Condition condition, with_context(plan::open_condition(file), "--network"));
    conditions.push_back({cluster::condition_name(file), std::move(condition)});
  }
  return conditions;
}

Expected<std::vector<int>> parse_stages(const std::string& text) {
  std::vector<int> numbers;
  if (text == "auto") return numbers;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const int number, parse_number<int>(part, "--stages"));
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  }
  if (numbers.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--stages names no number; auto: as many as devices");
  }
  return numbers;
}

Expected<std::vector<std::int64_t>> parse_batches(const std::string& text) {
  std::vector<std::int64_t> batches;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const auto batch, parse_number<std::int64_t>(part, "--batch"));
    if (std::find(batches.begin(), batches.end(), batch) == batches.end()) batches.push_back(batch);
  }
  if (batches.empty()) return fail(ErrorCode::kInvalidArgument, "--batch names no batch size");
  return batches;
}

Expected<std::vector<std::int64_t>> parse_named_batches(const std::string& text) {
  if (text.empty()) return std::vector<std::int64_t>{};
  return parse_batches(text);
}

Expected<std::vector<std::int64_t>> parse_micro_batches(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const auto size, part == "none"
                                       ? Expected<std::int64_t>(0)
                                       : parse_number<std::int64_t>(part, "--micro-batch"));
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  if (sizes.empty()) return fail(ErrorCode::kInvalidArgument, "--micro-batch names no size");
  return sizes;
}

Expected<> check_codec_error(double error) {
  if (error >= 0) return {};
  return fail(ErrorCode::kInvalidArgument, "--codec-error {}: at least 0 is needed", error);
}

Expected<std::vector<std::string>> parse_codecs(const std::string& text) {
  std::vector<std::string> chosen;
  for (const std::string& name : split_list(text)) {
    PARETO_TRY(with_context(cluster::check_codec_name(name), "--codec {}", name));
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--codec names none");
  return chosen;
}

Expected<std::vector<std::string>> parse_transports(const std::string& text) {
  std::vector<std::string> chosen;
  for (const std::string& mix : split_list(text)) {
    PARETO_TRY(with_context(cluster::parse_transport_mix(mix), "--transport {}", mix));
    if (std::find(chosen.begin(), chosen.end(), mix) == chosen.end()) chosen.push_back(mix);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--transport names none");
  return chosen;
}

/// Other durations are so short that "5m" could be taken for something else.
Expected<Nanoseconds> parse_long_time(const std::string& text, const char* flag) {
  return with_context(parse_duration(text.ends_with("m") ? text + "in" : text), "{}", flag);
}

Expected<int> parse_window(const std::string& text) {
  if (text == "auto") return 0;
  return parse_number<int>(text, "--window");
}

Expected<double> parse_budget(const std::string& text) {
  PARETO_ASSIGN(const Nanoseconds budget, parse_long_time(text, "--budget"));
  if (budget.count() > 0) return to_seconds(budget);
  return fail(ErrorCode::kInvalidArgument, "--budget {}: leaves no time to measure", text);
}

}  // namespace pareto::client
