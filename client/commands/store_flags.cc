#include "client/commands/store_flags.h"

#include <CLI/CLI.hpp>

#include "core/base/usage.h"

namespace pareto::client {

void StoreFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Results");
  set_value(app.add_option("--store", path,
                           "results database (environment: PARETO_STORE; default: "
                           "~/.local/share/pareto-edge/results.db)"),
            "FILE");
}

Expected<std::unique_ptr<results::ResultStore>> StoreFlags::open(const Context& context) const {
  return results::ResultStore::open(file(context));
}

Expected<std::unique_ptr<results::ResultStore>> StoreFlags::open_existing(
    const Context& context) const {
  return results::ResultStore::open_existing(file(context));
}

std::filesystem::path StoreFlags::file(const Context& context) const {
  return path.empty() ? context.default_store : std::filesystem::path(path);
}

std::string StoreFlags::hint() const { return path.empty() ? "" : " --store " + path; }

}  // namespace pareto::client
