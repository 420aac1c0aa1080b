#include "client/flags/json_flag.h"

#include <CLI/CLI.hpp>

namespace pareto::client {

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print one JSON document on stdout, and nothing else there");
}

}  // namespace pareto::client
