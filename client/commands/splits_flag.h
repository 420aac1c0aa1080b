// --splits, as several commands take it.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace pareto::client {

/// Adds --splits. `use`: what is done with the split points, "try".
void add_splits(CLI::App& app, std::string& splits, std::string_view use);

}  // namespace pareto::client
