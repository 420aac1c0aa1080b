#include "client/flags/store_flags.h"

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

Expected<std::unique_ptr<results::ResultStore>> StoreFlags::open_profiles(
    const Context& context, const std::string& flag) const {
  auto opened = open_existing(context);
  if (opened || opened.error().code != ErrorCode::kNotFound) return opened;
  return fail(ErrorCode::kNotFound,
              "{}: {} holds no profile, for nothing was kept there yet: measure one (paretoctl "
              "profile), or name another file with --store",
              flag, file(context).string());
}

std::filesystem::path StoreFlags::file(const Context& context) const {
  return path.empty() ? context.default_store : std::filesystem::path(path);
}

std::string StoreFlags::hint() const { return path.empty() ? "" : " --store " + path; }

}  // namespace pareto::client
