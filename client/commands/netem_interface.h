// paretoctl netem apply, show, clear: conditions on interfaces of this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "client/command.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::client {

struct InterfaceOptions {
  std::string interface;  ///< empty: all
  std::filesystem::path folder;
  std::optional<Nanoseconds>
      duration;  ///< none: kept, or until it is interrupted where it has a trace
  bool json = false;
};

/// Each prints what there is afterwards, and returns the exit code. Fails: as netem/interface_emulation.h.
Expected<int> apply_to_interface(Context& context, const std::string& file,
                                 const InterfaceOptions& options);
Expected<int> show_interfaces(Context& context, const InterfaceOptions& options);
/// The interface's, or all that no running process holds.
Expected<int> clear_interfaces(Context& context, const InterfaceOptions& options);

}  // namespace pareto::client
