#include "coordinator/profile/codec_prober.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/text.h"
#include "core/wire/codec.h"
#include "runtime/shard_runner.h"

namespace pareto::profile {
namespace {

/// A model being run up to one cut after the other. Threads: one owner.
class Walk {
 public:
  Walk(cluster::Workload& workload, const CodecOptions& options)
      : workload_(workload), probe_(options) {}

  Expected<> begin() {
    // Plain, in the model's own precision: what crosses is the same in every engine and in bf16,
    // but for rounding.
    options_.engine = "plain";
    options_.batch = probe_.batch;
    PARETO_ASSIGN(values_, workload_.example(probe_.batch, probe_.seed));
    return {};
  }

  /// Returns the value that crosses at a position. Positions ascend from call to call.
  Expected<Value> to(std::int64_t position) {
    PARETO_ASSIGN(const plan::Shard shard,
                  workload_.shard(plan::ShardOperators::between(position_, position)));
    const auto weights = [this](const Digest& digest) { return workload_.weight(digest); };
    PARETO_ASSIGN(const auto runner, runtime::ShardRunner::load(shard, weights, options_));
    PARETO_ASSIGN(values_, runner->run(std::move(values_)));
    position_ = position;
    return Value(Tuple{values_});
  }

 private:
  cluster::Workload& workload_;
  const CodecOptions& probe_;
  runtime::RunnerOptions options_;
  std::vector<Value> values_;
  std::int64_t position_ = 0;
};

using Costs = std::vector<wire::CodecCost>;

Expected<Costs> costs_of(const Value& value, const std::vector<std::string>& codecs) {
  Costs costs;
  for (const std::string& name : codecs) {
    PARETO_ASSIGN(const wire::Codec* codec, wire::find_codec(name));
    PARETO_ASSIGN(wire::CodecCost cost,
                  with_context(wire::codec_cost(value, codec), "codec {}", name));
    costs.push_back(std::move(cost));
  }
  return costs;
}

/// Returns the costs in the order of `codecs`.
Expected<Costs> costs_on(cluster::DaemonClient& device, const std::vector<std::string>& codecs) {
  PARETO_ASSIGN(const Costs all, device.measure_codecs(""));
  Costs costs;
  for (const std::string& name : codecs) {
    const auto found = std::ranges::find(all, name, &wire::CodecCost::codec);
    if (found == all.end()) {
      return fail(ErrorCode::kNotFound, "{} knows no codec \"{}\"", device.config().name, name);
    }
    costs.push_back(*found);
  }
  return costs;
}

/// Returns the loss of a codec at the cut where it loses most.
double worst_error(const planning::ProbedCodecs& probed, std::size_t codec) {
  double worst = 0;
  for (const Costs& row : probed.crossing) worst = std::max(worst, row[codec].error);
  return worst;
}

Expected<> leave_out_lossy(planning::ProbedCodecs& probed, double allowed_error) {
  double least = std::numeric_limits<double>::infinity();
  std::string least_lossy = probed.codecs.front();
  for (std::size_t codec = probed.codecs.size(); codec-- > 0;) {
    const double error = worst_error(probed, codec);
    if (error <= allowed_error && std::isfinite(error)) continue;
    if (error < least) {
      least = error;
      least_lossy = probed.codecs[codec];
    }
    const auto at = static_cast<std::ptrdiff_t>(codec);
    probed.codecs.erase(probed.codecs.begin() + at);
    for (Costs& row : probed.crossing) row.erase(row.begin() + at);
  }
  if (!probed.codecs.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "every codec loses more than {} of a tensor at some cut; least {}, up to {:.2g}: "
              "allow more by --codec-error, or add none to --codec",
              allowed_error, least_lossy, least);
}

}  // namespace

Expected<planning::ProbedCodecs> probe_codecs(
    const cluster::Cluster& cluster, cluster::Workload& workload, const CodecOptions& options,
    const std::atomic<bool>& stop, const std::function<void(std::size_t, std::size_t)>& progress) {
  planning::ProbedCodecs probed;
  probed.codecs = options.codecs;
  const bool plain = std::ranges::all_of(probed.codecs, [](const auto& c) { return c == "none"; });
  if (plain || options.positions.empty()) return planning::ProbedCodecs{};
  Walk walk(workload, options);
  PARETO_TRY(walk.begin());
  for (const std::int64_t position : options.positions) {
    if (stop) return fail(ErrorCode::kClosed, "stopped before all codecs were measured");
    progress(probed.positions.size(), options.positions.size());
    PARETO_ASSIGN(const Value value,
                  with_context(walk.to(position), "what crosses operator {}", position));
    PARETO_ASSIGN(const wire::CodecCost none, wire::codec_cost(value, nullptr));
    PARETO_ASSIGN(Costs costs, costs_of(value, probed.codecs));
    probed.positions.push_back(position);
    probed.plain_bytes.push_back(none.bytes);
    probed.crossing.push_back(std::move(costs));
  }
  PARETO_TRY(leave_out_lossy(probed, options.allowed_error));
  PARETO_ASSIGN(const Value same, wire::standard_activations());
  PARETO_ASSIGN(probed.standard, costs_of(same, probed.codecs));
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    PARETO_ASSIGN(Costs costs, costs_on(cluster.device(i), probed.codecs));
    probed.on_devices.push_back(std::move(costs));
  }
  return probed;
}

}  // namespace pareto::profile
