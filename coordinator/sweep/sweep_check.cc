#include <algorithm>
#include <set>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/sweep_plan.h"
#include "core/base/text.h"
#include "runtime/schedules/check_schedule.h"
#include "runtime/shard_runner.h"

namespace pareto::sweep {
namespace {

Expected<> refuse_below(const char* what, std::int64_t value, std::int64_t smallest) {
  if (value >= smallest) return {};
  return fail(ErrorCode::kInvalidArgument, "{} {} is less than {}", what, value, smallest);
}

/// Trials of what is named twice would be one and the same.
template <typename Item>
Expected<> refuse_twice(const char* what, const std::vector<Item>& items) {
  std::set<Item> seen;
  for (const Item& item : items) {
    if (!seen.insert(item).second) {
      return fail(ErrorCode::kInvalidArgument, "{} {} would be measured twice", what, item);
    }
  }
  return {};
}

Expected<> check_numbers(const SweepOptions& options) {
  PARETO_TRY(refuse_below("window", options.window, 0));
  PARETO_TRY(refuse_below("requests", options.requests, 1));
  PARETO_TRY(refuse_below("rounds", options.rounds, 1));
  for (const plan::StageSettings& settings : options.all_settings()) {
    PARETO_TRY(refuse_below("threads", settings.threads, 0));
  }
  if (!(options.budget_s > 0)) {
    return fail(ErrorCode::kInvalidArgument, "a budget of {} s leaves no time to measure",
                options.budget_s);
  }
  for (const int stages : options.stages) PARETO_TRY(refuse_below("stages", stages, 1));
  for (const std::int64_t batch : options.batches) PARETO_TRY(refuse_below("batch", batch, 1));
  for (const std::int64_t size : options.micro_batches) {
    PARETO_TRY(refuse_below("micro-batch", size, 0));
  }
  if (!(options.codec_error >= 0)) {
    return fail(ErrorCode::kInvalidArgument, "a codec's error of {} is not at least 0",
                options.codec_error);
  }
  return {};
}

Expected<> check_names(const SweepOptions& options) {
  std::vector<std::string> engines = runtime::engine_names();
  engines.insert(engines.begin(), "auto");
  for (const plan::StageSettings& settings : options.all_settings()) {
    if (std::ranges::find(engines, settings.engine) == engines.end()) {
      return fail(ErrorCode::kInvalidArgument, "no engine \"{}\": there are {}", settings.engine,
                  join(engines));
    }
    PARETO_TRY(runtime::parse_precision(settings.precision));
    PARETO_TRY(schedules::check_schedule(settings.schedule));
  }
  for (const std::string& name : options.transports) {
    PARETO_TRY(cluster::parse_transport_mix(name));
  }
  for (const std::string& name : options.codecs) PARETO_TRY(cluster::check_codec_name(name));
  return {};
}

/// A mix that fits no plan asked for would go unnoticed.
Expected<> check_mixes(const SweepOptions& options) {
  for (const std::string& text : options.transports) {
    PARETO_ASSIGN(const auto mix, cluster::parse_transport_mix(text));
    const auto fits = [&](int stages) {
      return cluster::fit_transports(mix, static_cast<std::size_t>(stages) + 1).has_value();
    };
    if (std::ranges::any_of(options.stages, fits)) continue;
    std::vector<std::string> links;
    for (const int stages : options.stages) links.push_back(std::to_string(stages + 1));
    return fail(
        ErrorCode::kInvalidArgument,
        "transport {} names {} links, the plans have {}: one name for all; or the source's, "
        "one for all between stages, and the sink's; or as many as links",
        text, mix.size(), join(links, " or "));
  }
  return {};
}

}  // namespace

Expected<> check_sweep(const SweepOptions& options, const cluster::Cluster& cluster) {
  if (options.stages.empty() || options.batches.empty() || options.micro_batches.empty() ||
      options.transports.empty() || options.codecs.empty() || options.conditions.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "a sweep needs at least one number of stages, batch, micro-batch, transport, codec "
                "and network");
  }
  PARETO_TRY(check_numbers(options));
  PARETO_TRY(refuse_twice("network", options.conditions));
  // What follows is about plans that are made here.
  if (!options.plans.empty()) return {};
  PARETO_TRY(check_names(options));
  PARETO_TRY(refuse_twice("stages", options.stages));
  PARETO_TRY(refuse_twice("transport", options.transports));
  const int most = std::ranges::max(options.stages);
  if (static_cast<std::size_t>(most) > cluster.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} stages need as many devices; there are {}", most,
                cluster.size());
  }
  // It makes a list of as many links as the plans have.
  PARETO_TRY(check_mixes(options));
  return {};
}

}  // namespace pareto::sweep
