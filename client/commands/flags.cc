#include "client/commands/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <ostream>

#include "client/cluster/codec_choice.h"
#include "client/cluster/remote_network.h"
#include "client/cluster/transport_choice.h"
#include "client/experiment/lost_request.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/wire/codec.h"
#include "partitioner/models/model_builder.h"

namespace pareto::client {
namespace {

constexpr const char* kPrecisionHelp = "fp32, or bf16 where an error below a percent is fine";
constexpr const char* kThreadsHelp =
    "a device uses for one request; 0: as each is set (paretod.yaml: threads)";

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

/// Other durations are so short that "5m" could be taken for something else.
Expected<Nanoseconds> parse_long_time(const std::string& text, const char* flag) {
  return with_context(parse_duration(text.ends_with("m") ? text + "in" : text), "{}", flag);
}

std::string codec_help() {
  std::vector<std::string> names{"none"};
  for (const wire::Codec* codec : wire::builtin_codecs()) names.emplace_back(codec->name());
  return "how tensors travel between stages: " + join(names) +
         "; auto: by what encoding, decoding and the link are measured to take";
}

std::string codec_error_help() {
  return "what auto may lose of a tensor: mean difference, relative to its largest magnitude; 0: "
         "nothing";
}

}  // namespace

void ModelFlags::add_to(CLI::App& app, bool required, const std::string& shape_flags) {
  auto* option = app.add_option("--model", model,
                                "a built-in name (see `paretoctl models`) or a TorchScript file");
  if (required) option->required();
  app.add_option(
      shape_flags, input_shape,
      "per sample, without the batch: 3x224x224; several inputs separated by ';', a dtype "
      "after a colon: 128:int64");
  app.add_option("--num-classes", num_classes, "classes of a built-in model")
      ->capture_default_str();
  app.add_option("--weights", weights, "a torchvision checkpoint (.pth) or TorchScript file (.pt)");
  app.add_option("--model-seed", model_seed, "of a built-in model's weights, without --weights")
      ->capture_default_str();
}

void ModelFlags::complete(const ModelSource& source) {
  const ModelFlags plain;
  if (model.empty()) model = source.model;
  if (input_shape.empty()) input_shape = source.input_shape;
  if (num_classes == plain.num_classes) num_classes = source.num_classes;
  if (weights.empty()) weights = source.weights;
  if (model_seed == plain.model_seed) model_seed = source.model_seed;
}

ModelSource ModelFlags::source() const {
  const bool is_file = model.find('/') != std::string::npos || model.ends_with(".pt");
  ModelSource source;
  source.model = is_file ? absolute_path(model) : model;
  source.input_shape = input_shape;
  source.num_classes = num_classes;
  source.weights = absolute_path(weights);
  source.model_seed = model_seed;
  return source;
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).lexically_normal().string();
}

Expected<partitioner::Model> ModelFlags::open(Context& context) const {
  partitioner::ModelOptions options;
  options.num_classes = num_classes;
  options.weights = weights;
  options.seed = model_seed;
  if (!input_shape.empty()) {
    PARETO_ASSIGN(options.input,
                  with_context(partitioner::parse_input_shapes(input_shape), "--input-shape"));
  }
  PARETO_ASSIGN(partitioner::Model opened, partitioner::open_model(model, options));
  const std::string notice = training_notice(opened.graph());
  if (!notice.empty()) context.err << notice << '\n' << std::flush;
  return opened;
}

std::string training_notice(const partitioner::Graph& graph) {
  std::map<std::string, int> kinds;
  for (const partitioner::Operator& op : graph.operators) {
    if (op.trains) ++kinds[op.kind.substr(op.kind.rfind(':') + 1)];
  }
  if (kinds.empty()) return {};
  std::vector<std::string> counts;
  for (const auto& [kind, count] : kinds) counts.push_back(fmt::format("{} {}", count, kind));
  return fmt::format(
      "{} was saved in training mode ({}): its results are at random, or depend on what else is in "
      "a batch; call its eval() before it is traced",
      graph.model, join(counts, ", "));
}

void DeviceFlags::add_to(CLI::App& app) {
  auto* devices = app.add_option(
      "--devices", inventory,
      "inventory of daemons (configs/inventory.yaml); without it, daemons are started on "
      "this machine");
  app.add_option(
         "--testbed", testbed,
         "devices and links imitated on this machine (configs/testbed/two-pi4.yaml), or the "
         "name of a test bed that is up. Needs root")
      ->excludes(devices);
}

Expected<Cluster> DeviceFlags::connect(const Context& context, int count,
                                       std::vector<NamedCondition> conditions) const {
  const auto start = [&]() -> Expected<Cluster> {
    if (!testbed.empty()) {
      PARETO_ASSIGN(const ChosenTestbed chosen, find_testbed(testbed));
      return open_testbed(chosen, std::move(conditions), context.paretod);
    }
    if (static_cast<std::size_t>(count) > netem::Testbed::kMaxDevices) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} devices on this machine are more than {}: name others (--devices)", count,
                  netem::Testbed::kMaxDevices);
    }
    if (conditions.empty()) return Cluster::start_local(count, context.paretod);
    const netem::Testbed bed = netem::plain_testbed(static_cast<std::size_t>(count));
    PARETO_ASSIGN(auto network, EmulatedNetwork::create(bed, std::move(conditions)));
    return Cluster::start_local(bed, context.paretod, std::move(network), {});
  };
  if (inventory.empty()) {
    auto local = start();
    // A missing program is no wrong flag.
    if (!local && local.error().code == ErrorCode::kNotFound && testbed.empty()) {
      local.error().code = ErrorCode::kUnavailable;
    }
    return local;
  }
  PARETO_ASSIGN(const auto devices, read_inventory(inventory));
  if (!conditions.empty()) PARETO_TRY(check_changeable(devices));
  PARETO_ASSIGN(Cluster cluster, Cluster::connect(devices));
  if (!conditions.empty()) {
    std::vector<DaemonClient*> clients;
    for (std::size_t i = 0; i < cluster.size(); ++i) clients.push_back(&cluster.device(i));
    PARETO_ASSIGN(auto network, RemoteNetwork::create(std::move(conditions), std::move(clients)));
    cluster.use_network(std::move(network));
  }
  return cluster;
}

Expected<std::string> DeviceFlags::testbed_content() const {
  if (testbed.empty()) return std::string();
  PARETO_ASSIGN(const ChosenTestbed chosen, find_testbed(testbed));
  return chosen.content();
}

void PipelineFlags::add_to(CLI::App& app) {
  app.add_option("--transport", transport,
                 "of the links: tcp, grpc, shm; auto: of each link by itself shm where both its "
                 "ends are on one machine and of one user, else tcp; shm+tcp+grpc: a mix, of the "
                 "source's link, those "
                 "between stages, and the sink's")
      ->capture_default_str();
  app.add_option("--codec", codec, codec_help())->capture_default_str();
  app.add_option("--codec-error", codec_error, codec_error_help())->capture_default_str();
  app.add_option("--micro-batch", micro_batch,
                 "samples of a batch that travel together, so that stages overlap within one "
                 "request; none: the whole batch")
      ->capture_default_str();
  app.add_option("--window", window,
                 "requests in flight for throughput; auto: the fewest within 1 % of the best")
      ->capture_default_str();
}

void RunnerFlags::add_to(CLI::App& app) {
  add_engine_to(app);
  app.add_option("--precision", precision, kPrecisionHelp)
      ->capture_default_str()
      ->check(check_one_value);
  app.add_option("--threads", threads, kThreadsHelp)->capture_default_str()->check(check_one_value);
}

void RunnerFlags::add_engine_to(CLI::App& app) {
  app.add_option("--engine", engine, "auto keeps the fastest; or " + join(runtime::engine_names()))
      ->capture_default_str();
}

Expected<> RunnerFlags::check() const {
  const auto& names = runtime::engine_names();
  if (engine != "auto" && std::find(names.begin(), names.end(), engine) == names.end()) {
    return fail(ErrorCode::kInvalidArgument, "--engine {}: no such engine{}; there are auto, {}",
                engine, did_you_mean(engine, names), join(names));
  }
  if (threads < 0 || threads > 256) {
    return fail(ErrorCode::kInvalidArgument, "--threads {}: 0 to 256 are possible", threads);
  }
  PARETO_TRY(with_context(runtime::parse_precision(precision), "--precision"));
  return {};
}

void SettingLists::add_to(CLI::App& app) {
  const auto add = [&app](const char* flag, std::string& list, const std::string& help) {
    app.add_option(flag, list, help + "; several separated by commas, each is profiled with each")
        ->capture_default_str();
  };
  add("--batch", batches, "samples of a request");
  add("--threads", threads, kThreadsHelp);
  add("--precision", precisions, kPrecisionHelp);
}

Expected<std::vector<ShardSettings>> SettingLists::read(const std::string& engine) const {
  PARETO_ASSIGN(const std::vector<std::int64_t> each_batch, parse_batches(batches));
  std::vector<ShardSettings> all;
  for (const std::int64_t batch : each_batch) {
    for (const std::string& count : split_list(threads)) {
      PARETO_ASSIGN(const int number, parse_number(count, "--threads", 0));
      for (const std::string& precision : split_list(precisions)) {
        PARETO_TRY((RunnerFlags{engine, precision, number}.check()));
        const ShardSettings settings{engine, precision, number, batch};
        if (std::ranges::find(all, settings) == all.end()) all.push_back(settings);
      }
    }
  }
  if (!all.empty()) return all;
  return fail(ErrorCode::kInvalidArgument, "{} names none",
              split_list(threads).empty() ? "--threads" : "--precision");
}

std::string check_one_value(const std::string& text) {
  if (text.find(',') == std::string::npos) return {};
  return text + ": one value is taken here; paretoctl profile takes several";
}

void TimeoutFlag::add_to(CLI::App& app) {
  app.add_option("--timeout", timeout,
                 fmt::format("of a request, 90s or 5m, before its pipeline counts as broken; where "
                             "requests were seen to take long, 50 times that, if it is more "
                             "(default: {}s)",
                             kRequestTimeout.count() / 1000));
}

Expected<std::chrono::milliseconds> TimeoutFlag::read() const {
  if (!timeout) return kRequestTimeout;
  PARETO_ASSIGN(const Nanoseconds limit, parse_long_time(*timeout, "--timeout"));
  if (limit < std::chrono::milliseconds(1) || limit > std::chrono::hours(24)) {
    return fail(ErrorCode::kInvalidArgument, "--timeout {}: 1ms to 24h are possible", *timeout);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(limit);
}

void StoreFlags::add_to(CLI::App& app) {
  app.add_option("--store", path, "results database (default: below ~/.local/share/pareto-edge)");
}

Expected<std::unique_ptr<ResultStore>> StoreFlags::open(const Context& context) const {
  return ResultStore::open(file(context));
}

Expected<std::unique_ptr<ResultStore>> StoreFlags::open_existing(const Context& context) const {
  return ResultStore::open_existing(file(context));
}

std::filesystem::path StoreFlags::file(const Context& context) const {
  return path.empty() ? context.default_store : std::filesystem::path(path);
}

std::string StoreFlags::hint() const { return path.empty() ? "" : " --store " + path; }

bool is_condition_file(const std::string& network) {
  return network != Network::kNone && network != EmulatedNetwork::kOwn;
}

Expected<std::string> networks_of(const std::string& networks, const DeviceFlags& devices) {
  if (!networks.empty()) return networks;
  if (devices.testbed.empty()) return std::string(Network::kNone);
  PARETO_ASSIGN(const ChosenTestbed chosen, find_testbed(devices.testbed));
  return chosen.network();
}

Expected<> check_offered(const Cluster& cluster, const std::vector<std::string>& networks) {
  const Network* const network = cluster.network();
  if (network == nullptr) return {};
  for (const std::string& file : networks) PARETO_TRY(network->offers(condition_name(file)));
  return {};
}

Expected<std::vector<NamedCondition>> read_conditions(const std::string& networks) {
  std::vector<NamedCondition> conditions;
  std::map<std::string, std::string> files;
  for (const std::string& file : split_list(networks)) {
    if (!is_condition_file(file)) continue;
    if (!is_condition_file(condition_name(file))) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: \"{}\" is the name of another network: call the file otherwise",
                  file, condition_name(file));
    }
    if (!files.emplace(condition_name(file), file).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: {} is called \"{}\" too: call one of the files otherwise", file,
                  files.at(condition_name(file)), condition_name(file));
    }
    PARETO_ASSIGN(Condition condition, read_condition(file));
    conditions.push_back({condition_name(file), std::move(condition)});
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
    PARETO_TRY(with_context(check_codec_name(name), "--codec {}", name));
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--codec names none");
  return chosen;
}

Expected<std::vector<std::string>> parse_transports(const std::string& text) {
  std::vector<std::string> chosen;
  for (const std::string& mix : split_list(text)) {
    PARETO_TRY(with_context(parse_transport_mix(mix), "--transport {}", mix));
    if (std::find(chosen.begin(), chosen.end(), mix) == chosen.end()) chosen.push_back(mix);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--transport names none");
  return chosen;
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
