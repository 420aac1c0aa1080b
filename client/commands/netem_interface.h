// paretoctl netem apply, show, clear: conditions on interfaces of this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "client/command.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::client::commands {

struct InterfaceOptions {
  std::string interface;  ///< empty: all
  std::filesystem::path folder;
  /// The time for which it stays. No value means until it is taken away, or until it is interrupted
  /// if it has a trace.
  std::optional<Nanoseconds> duration;
  bool json = false;
};

/// Applies a condition to an interface. Each of these functions prints what there is afterwards,
/// and returns the exit code. Fails: as netem/interface_emulation.h.
Expected<int> apply_to_interface(Context& context, const std::string& file,
                                 const InterfaceOptions& options);
Expected<int> show_interfaces(Context& context, const InterfaceOptions& options);
/// Clears the interface's, or all that no running process holds.
Expected<int> clear_interfaces(Context& context, const InterfaceOptions& options);

}  // namespace pareto::client::commands
