// --json of commands that print one document.
#pragma once

namespace CLI {
class App;
}

namespace pareto::client {

/// Adds --json: one JSON document in place of what people read.
void add_json(CLI::App& app, bool& json);

}  // namespace pareto::client
