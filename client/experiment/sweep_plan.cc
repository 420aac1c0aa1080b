#include "client/experiment/sweep_plan.h"

#include <algorithm>
#include <set>

#include "client/cluster/codec_choice.h"
#include "client/cluster/daemon_client.h"
#include "client/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/runtime/shard_runner.h"
#include "core/transport/transport.h"
#include "partitioner/graph/split_points.h"

namespace pareto::client {
namespace {

// A sweep of more trials is a typing error, or years.
constexpr std::size_t kMaxTrials = 100'000;

Expected<> check(const SweepOptions& options, const Cluster& cluster) {
  const auto refuse_below = [](const char* what, std::int64_t value,
                               std::int64_t smallest) -> Expected<> {
    if (value >= smallest) return {};
    return fail(ErrorCode::kInvalidArgument, "{} {} is less than {}", what, value, smallest);
  };
  PARETO_TRY(refuse_below("stages", options.stages, 1));
  PARETO_TRY(refuse_below("window", options.window, 0));
  PARETO_TRY(refuse_below("requests", options.requests, 1));
  PARETO_TRY(refuse_below("rounds", options.rounds, 1));
  PARETO_TRY(refuse_below("threads", options.threads, 0));
  for (const std::int64_t batch : options.batches) PARETO_TRY(refuse_below("batch", batch, 1));
  for (const std::int64_t size : options.micro_batches) {
    PARETO_TRY(refuse_below("micro-batch", size, 0));
  }
  if (options.batches.empty() || options.micro_batches.empty() || options.transports.empty() ||
      options.codecs.empty() || options.conditions.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "a sweep needs at least one batch, micro-batch, transport, codec and network");
  }
  std::vector<std::string> engines = runtime::engine_names();
  engines.insert(engines.begin(), "auto");
  if (std::ranges::find(engines, options.engine) == engines.end()) {
    return fail(ErrorCode::kInvalidArgument, "no engine \"{}\": there are {}", options.engine,
                join(engines));
  }
  PARETO_TRY(runtime::parse_precision(options.precision));
  for (const std::string& name : options.transports) {
    if (name != kAutoTransport) PARETO_TRY(transport::make_transport(name));
  }
  for (const std::string& name : options.codecs) PARETO_TRY(check_codec_name(name));
  if (!(options.codec_error >= 0)) {
    return fail(ErrorCode::kInvalidArgument, "a codec's error of {} is not at least 0",
                options.codec_error);
  }
  if (static_cast<std::size_t>(options.stages) > cluster.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} stages need as many devices; there are {}",
                options.stages, cluster.size());
  }
  return {};
}

/// "auto" replaced by what it stands for on those devices; left out where that is asked for by name as well.
Expected<std::vector<std::string>> name_transports(const std::vector<std::string>& asked,
                                                   const std::vector<std::string>& devices,
                                                   const Cluster& cluster) {
  std::vector<std::string> named;
  for (const std::string& name : asked) {
    if (name != kAutoTransport) {
      named.push_back(name);
      continue;
    }
    PARETO_ASSIGN(std::string nearest, nearest_transport(devices, cluster));
    if (std::ranges::find(asked, nearest) == asked.end()) named.push_back(std::move(nearest));
  }
  return named;
}

/// Every ascending choice of `count` of `points`, in order.
void choose(const std::vector<std::size_t>& points, std::size_t count, std::size_t from,
            std::vector<std::size_t>& chosen, std::vector<std::vector<std::size_t>>& result) {
  if (result.size() > kMaxTrials) return;
  if (chosen.size() == count) {
    result.push_back(chosen);
    return;
  }
  for (std::size_t i = from; i < points.size(); ++i) {
    chosen.push_back(points[i]);
    choose(points, count, i + 1, chosen, result);
    chosen.pop_back();
  }
}

/// Those that cut it; one that does not is the whole batch.
std::vector<std::int64_t> micro_batches_of(std::int64_t batch,
                                           const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t size : sizes) {
    const std::int64_t cuts = size < batch ? size : 0;
    if (std::ranges::find(fitting, cuts) == fitting.end()) fitting.push_back(cuts);
  }
  return fitting;
}

}  // namespace

Expected<Plan> make_plan(const partitioner::Model& model, const std::vector<std::size_t>& points,
                         const std::vector<std::string>& devices, const std::string& transport,
                         std::int64_t batch, const SweepOptions& options) {
  if (devices.size() < points.size() + 1) {
    return fail(ErrorCode::kInvalidArgument, "{} stages need as many devices; there are {}",
                points.size() + 1, devices.size());
  }
  Plan plan;
  plan.model = model.name();
  plan.transport = transport;
  plan.batch = batch;
  plan.window = options.window;
  plan.engine = options.engine;
  plan.precision = options.precision;
  plan.threads = options.threads;
  std::int64_t begin = 0;
  for (const std::size_t index : points) {
    const partitioner::SplitPoint& point = model.split_points()[index];
    if (!point.legal) {
      return fail(ErrorCode::kInvalidArgument, "{} cannot be cut: {}", point.name, point.reason);
    }
    plan.splits.push_back(point.name);
    plan.stages.push_back({devices[plan.stages.size()], begin, point.position});
    begin = point.position;
  }
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  plan.stages.push_back({devices[plan.stages.size()], begin, end});
  return plan;
}

Expected<std::optional<SplitRecord>> describe_split(const partitioner::Model& model,
                                                    const std::vector<std::size_t>& points,
                                                    std::int64_t batch) {
  if (points.empty()) return std::optional<SplitRecord>();
  SplitRecord record;
  record.position = model.split_points()[points.front()].position;
  std::vector<std::string> names;
  for (const std::size_t index : points) {
    const partitioner::SplitPoint& point = model.split_points()[index];
    names.push_back(point.name);
    for (const BoundaryValue& value : partitioner::boundary(model.graph(), point.position)) {
      const std::vector<TensorSpec> tensors = tensors_of(value.spec);
      record.boundary.insert(record.boundary.end(), tensors.begin(), tensors.end());
    }
    PARETO_ASSIGN(const std::uint64_t bytes,
                  partitioner::boundary_bytes(model.graph(), point.position, batch));
    record.boundary_bytes += bytes;
  }
  record.name = join(names, "+");
  return std::optional<SplitRecord>(std::move(record));
}

Expected<std::vector<TrialRecord>> plan_sweep(const partitioner::Model& model,
                                              const Cluster& cluster, const SweepOptions& options) {
  PARETO_TRY(check(options, cluster));
  std::vector<std::vector<std::size_t>> choices;
  if (options.stages > 1) {
    PARETO_ASSIGN(const std::vector<std::size_t> points,
                  partitioner::select_split_points(model.split_points(), options.splits));
    std::vector<std::size_t> chosen;
    choose(points, static_cast<std::size_t>(options.stages - 1), 0, chosen, choices);
    if (choices.empty()) {
      return fail(ErrorCode::kInvalidArgument, "{} stages need {} split points; \"{}\" selects {}",
                  options.stages, options.stages - 1, options.splits, points.size());
    }
  }
  const std::size_t kinds = options.transports.size() * options.batches.size() *
                            options.micro_batches.size() * options.conditions.size();
  if ((choices.size() * options.codecs.size() + cluster.size()) * kinds > kMaxTrials) {
    return fail(ErrorCode::kInvalidArgument,
                "that would be more than {} trials: choose fewer split points", kMaxTrials);
  }
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    devices.push_back(cluster.device(i).config().name);
  }

  std::vector<TrialRecord> trials;
  const auto add_one = [&](const std::vector<std::size_t>& points,
                           const std::vector<std::string>& on, std::int64_t batch,
                           std::int64_t micro_batch, const std::string& transport,
                           const std::string& codec, const std::string& condition) -> Expected<> {
    TrialRecord trial;
    PARETO_ASSIGN(trial.split, describe_split(model, points, batch));
    PARETO_ASSIGN(trial.plan, make_plan(model, points, on, transport, batch, options));
    trial.plan.micro_batch = micro_batch;
    if (codec != "none") trial.plan.codecs.assign(points.size(), codec);
    trial.transport = transport;
    trial.codec = codec;
    trial.auto_codec = codec == kAutoCodec;
    trial.batch = batch;
    trial.condition = condition;
    trial.id = fmt::format("{}/{}/b{}", trial.split ? trial.split->name : "all-on:" + on.front(),
                           transport, batch);
    if (micro_batch > 0) trial.id += fmt::format("x{}", micro_batch);
    if (codec != "none") trial.id += "/" + codec;
    if (condition != "none") trial.id += "/" + condition;
    trials.push_back(std::move(trial));
    return {};
  };
  // One device has no link between stages that a codec could change.
  const std::vector<std::string> no_codec{"none"};
  const auto add = [&](const std::vector<std::size_t>& points,
                       const std::vector<std::string>& on) -> Expected<> {
    const std::vector<std::string> used(
        on.begin(), on.begin() + static_cast<std::ptrdiff_t>(points.size() + 1));
    PARETO_ASSIGN(const std::vector<std::string> transports,
                  name_transports(options.transports, used, cluster));
    for (const std::int64_t batch : options.batches) {
      for (const std::int64_t micro_batch : micro_batches_of(batch, options.micro_batches)) {
        for (const std::string& transport : transports) {
          for (const std::string& codec : points.empty() ? no_codec : options.codecs) {
            for (const std::string& file : options.conditions) {
              PARETO_TRY(
                  add_one(points, on, batch, micro_batch, transport, codec, condition_name(file)));
            }
          }
        }
      }
    }
    return {};
  };
  for (const std::vector<std::size_t>& points : choices) PARETO_TRY(add(points, devices));
  for (const std::string& device : devices) PARETO_TRY(add({}, {device}));
  std::set<std::string> ids;
  for (const TrialRecord& trial : trials) {
    if (!ids.insert(trial.id).second) {
      return fail(ErrorCode::kInvalidArgument, "the trial {} would be measured twice", trial.id);
    }
  }
  return trials;
}

}  // namespace pareto::client
