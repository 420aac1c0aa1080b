// The flags for how a pipeline shares its devices with others: --weight, --priority, --deadline.
#pragma once

#include <optional>
#include <string>

#include "client/command.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::client {

struct SharingFlags {
  double weight = 1;
  int priority = 0;
  std::optional<std::string> deadline{};  ///< only of commands that ask for it

  /// `deadlines`: whether the command takes --deadline, too.
  void add_to(CLI::App& app, bool deadlines);
  /// Checks the ranges of weight and priority. Fails: kInvalidArgument, with the flag.
  Expected<> check() const;
  /// Returns --deadline; 0: there is none. Fails: kInvalidArgument.
  Expected<Nanoseconds> read_deadline() const;
};

}  // namespace pareto::client
