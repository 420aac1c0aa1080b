#include "partitioner/planning/search/media_roles.h"
#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/replicas.h"
#include "partitioner/planning/search/strategies.h"
#include "partitioner/planning/search/threshold_search.h"

namespace pareto::search {
namespace {

class ExactSearch final : public SearchStrategy {
 public:
  std::string_view name() const override { return "exact"; }

  Expected<std::vector<FrontPoint>> search(const planning::CostInputs& inputs,
                                           const SearchOptions& options) const override {
    PARETO_TRY(check_search(inputs, options));
    if (!options.also.empty() || media_roles(inputs).any()) {
      return label_search()->search(inputs, options);
    }
    PointFront front(options.windows, options.also);
    std::vector<planning::Placement> witnesses;
    PARETO_TRY(threshold_search(inputs, options.windows, front, witnesses));
    add_lone_devices(inputs, options, front, witnesses);
    PARETO_TRY(add_replicas(inputs, options, front, witnesses));
    return with_placements(front, witnesses, inputs, options);
  }
};

}  // namespace

const SearchStrategy* exact_search() {
  static const ExactSearch kSearch;
  return &kSearch;
}

}  // namespace pareto::search
