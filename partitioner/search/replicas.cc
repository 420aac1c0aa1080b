#include "partitioner/search/replicas.h"

#include <algorithm>

#include "partitioner/search/point_front.h"

namespace pareto::partitioner {

Expected<std::vector<FrontPoint>> replicas_beyond(const std::vector<FrontPoint>& front,
                                                  const CostInputs& inputs, SearchOptions options) {
  PARETO_TRY(check_search(inputs, options));
  options.replicas = true;
  PointFront all(options.windows);
  std::vector<Placement> witnesses;
  for (const FrontPoint& point : front) {
    all.add(point.point, point.third, witnesses.size());
    witnesses.push_back(point.placement);
  }
  PARETO_TRY(add_replicas(inputs, options, all, witnesses));
  PARETO_ASSIGN(auto points, with_placements(all, witnesses, inputs, options));
  std::erase_if(points, [](const FrontPoint& point) { return !point.placement.replicated; });
  return points;
}

}  // namespace pareto::partitioner
