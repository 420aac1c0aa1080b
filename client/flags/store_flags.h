// --store: the results file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "client/command.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"

namespace pareto::client {

/// The file that results are kept in.
struct StoreFlags {
  std::string path;

  void add_to(CLI::App& app);
  Expected<std::unique_ptr<results::ResultStore>> open(const Context& context) const;
  /// Opens a file that is there already, for commands that only look.
  Expected<std::unique_ptr<results::ResultStore>> open_existing(const Context& context) const;
  /// Opens such a file for profiles of devices. `flag`: what asks for them. Fails: kNotFound (it is
  /// not there), with the command that measures them.
  Expected<std::unique_ptr<results::ResultStore>> open_profiles(const Context& context,
                                                                const std::string& flag) const;
  std::filesystem::path file(const Context& context) const;
  /// Returns " --store FILE", or "" for the default: to be put behind a command that is proposed.
  std::string hint() const;
};

}  // namespace pareto::client
