// To add a strategy: one row here.
#include <string>

#include "core/base/text.h"
#include "partitioner/planning/search/strategies.h"

namespace pareto::search {

const std::vector<const SearchStrategy*>& builtin_searches() {
  static const std::vector<const SearchStrategy*> kAll{exact_search(), label_search(),
                                                       exhaustive_search()};
  return kAll;
}

Expected<const SearchStrategy*> find_search(std::string_view name) {
  std::vector<std::string> names;
  for (const SearchStrategy* const strategy : builtin_searches()) {
    if (strategy->name() == name) return strategy;
    names.emplace_back(strategy->name());
  }
  return fail(ErrorCode::kNotFound, "no search is called \"{}\"; there are {}{}", name, join(names),
              did_you_mean(name, names));
}

}  // namespace pareto::search
