#include "client/commands/splits_flag.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/usage.h"

namespace pareto::client {

void add_splits(CLI::App& app, std::string& splits, std::string_view use) {
  const std::string help = fmt::format(
      "split points to {}: all; modules: the ends of modules; auto: those ends at which a single "
      "tensor crosses; or by name: after:MODULE, percent:P, op:N",
      use);
  set_value(app.add_option("--splits", splits, help), "LIST", {"modules", "all", "auto", "@cuts"})
      ->capture_default_str();
}

}  // namespace pareto::client
