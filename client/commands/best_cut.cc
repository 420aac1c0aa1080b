#include "client/commands/best_cut.h"

#include <ostream>
#include <utility>

#include "client/commands/progress.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/profile/best_cut.h"

namespace pareto::client::commands {
namespace {

Expected<profile::PredictedCut> predict_best(Context& context, const CutRequest& request,
                                             const RunCuts& named, const StoreFlags& profiles) {
  PARETO_ASSIGN(const std::vector<std::size_t> points, named.choices(request.model));
  PARETO_ASSIGN(const auto transports, cluster::parse_transport_mix(request.transport));
  auto opened = profiles.open_existing(context);
  if (!opened && opened.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound,
                "no device was profiled yet (paretoctl profile measures them)");
  }
  PARETO_ASSIGN(const auto store, std::move(opened));
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  return profile::best_cut(request.model, request.cluster, request.plan, points, transports, *store,
                           context.stop.watch(), [&](const std::string& link) {
                             progress.show(0, 1, "probing links", "probing " + link);
                           });
}

}  // namespace

Expected<> take_best_cut(Context& context, const CutRequest& request, const RunCuts& named,
                         const StoreFlags& profiles, std::vector<model::Cut>& cuts) {
  const auto best = predict_best(context, request, named, profiles);
  if (best) {
    cuts = {model::cut_at(request.model.split_points()[best->point])};
    context.err << fmt::format("--split auto: {}, predicted to take {:.2f} ms\n", cuts.front().name,
                               to_milliseconds(best->latency))
                << std::flush;
    return {};
  }
  if (best.error().code != ErrorCode::kNotFound) return tl::unexpected(best.error());
  context.err << fmt::format("--split auto: {}, which the fewest bytes cross: {}\n",
                             cuts.front().name, best.error().message)
              << std::flush;
  return {};
}

}  // namespace pareto::client::commands
