// The devices that the pipelines of a stream use, and those that were lost.
//
//   used ──▶ lost: give_up() ──▶ used by nobody any more: begin_replacing() ──▶ connected to again
//     ▲                                                                               │
//     └────────────────────────── end_replacing(back: true) ◀─────────────────────────┘
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::load {

/// All who open pipelines of a stream share it. A device that was given up is used by nobody new,
/// and its client is replaced only when nobody uses it any more. So two pipelines may be opened at
/// the same time.
///
/// Threads: any.
class DevicesInUse {
 public:
  /// Uses these devices. Fails: kUnavailable (one of them is given up; none is used then).
  Expected<> use(const std::vector<std::string>& devices);
  void leave(const std::vector<std::string>& devices);
  void give_up(const std::string& device);
  bool is_given_up(const std::string& device) const;
  std::set<std::string> given_up() const;
  /// Returns whether a device that was given up may be connected to again: end_replacing() follows
  /// then.
  bool begin_replacing(const std::string& device);
  /// `back`: there is a new client, so that the device may be used again.
  void end_replacing(const std::string& device, bool back);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> users_;  ///< number of pipelines that use each
  std::set<std::string> given_up_;
  std::set<std::string> replaced_;  ///< those whose client is being replaced
};

/// Uses devices for as long as it lives. Threads: one owner.
class UseOfDevices {
 public:
  /// Begins to use the devices of those names. Fails: as DevicesInUse::use(). `devices` outlives
  /// it.
  static Expected<UseOfDevices> begin(DevicesInUse& devices, std::vector<std::string> names);
  ~UseOfDevices();
  UseOfDevices(UseOfDevices&& other) noexcept;
  UseOfDevices& operator=(UseOfDevices&&) = delete;

 private:
  UseOfDevices(DevicesInUse& devices, std::vector<std::string> names)
      : devices_(&devices), names_(std::move(names)) {}

  DevicesInUse* devices_;  ///< null: moved from
  std::vector<std::string> names_;
};

}  // namespace pareto::load
