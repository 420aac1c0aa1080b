// The test beds of this machine that are up: each is held by one process, which says here what it
// holds.
//
//   /run/pareto-testbeds/two-pi4/           locked by that process as long as it lives
//     testbed.json                          a RunningTestbed, once it is up
//     faults.socket                         takes faults (fault_server.h), of `testbed up` only
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"

namespace pareto::cluster {

struct RunningDevice {
  std::string name;
  std::string preset;
  std::string control;  ///< address inside the test bed
  std::string place;    ///< the file of its network namespace: nsenter --net=…
  int process = 0;      ///< process of its daemon
  double speed = 0;     ///< speed of the imitated device; see netem::TestbedDevice
  std::string steady;   ///< the same
  std::uint64_t memory_bytes = 0;
};

struct RunningLink {
  std::string first;  ///< devices; the second of a star's link is "switch"
  std::string second;
  std::string network;  ///< the file of its condition, or "none"
};

struct RunningTestbed {
  std::string name;
  int process = 0;  ///< process that holds it
  std::string
      content;  ///< digest of all that it was read from: whether a file is that of this test bed
  std::string network;   ///< network of all links; empty if they differ
  std::string emulator;  ///< emulator of its links: "user", "tc"
  std::vector<RunningDevice> devices;
  std::vector<RunningLink> links;
};

/// Test beds of one folder. Threads: any; each call by itself.
class TestbedRegistry {
 public:
  /// Next to /run/pareto-edge, which is that of the daemon's own user: only root is to say what
  /// root ends and enters.
  static constexpr const char* kFolder = "/run/pareto-testbeds";
  explicit TestbedRegistry(std::filesystem::path folder = kFolder) : folder_(std::move(folder)) {}

  /// The right to be the test bed of a name; given back when it ends. Threads: one owner.
  class Claim {
   public:
    ~Claim();
    Claim(Claim&&) noexcept = default;
    Claim& operator=(Claim&&) = delete;
    /// Publishes it, so that others find it from now on. Fails: kExhausted (no room), kPermission.
    Expected<> publish(const RunningTestbed& bed) const;

   private:
    friend class TestbedRegistry;
    Claim(std::filesystem::path folder, FolderLock lock)
        : folder_(std::move(folder)), lock_(std::move(lock)) {}
    std::filesystem::path folder_;
    std::optional<FolderLock> lock_;
  };

  /// Claims the test bed. Returns no value if another process has it. Removes what killed processes
  /// left behind of this and of all other test beds. Fails: kPermission, kUnavailable (something
  /// left behind cannot be removed).
  Expected<std::optional<Claim>> claim(const std::string& name) const;

  /// Returns the running test bed; no value if it is not up, or on its way. Fails: kCorrupt (its
  /// own description cannot be read), kPermission (another user's folder).
  Expected<std::optional<RunningTestbed>> find(const std::string& name) const;
  /// Returns all in the order of their names.
  Expected<std::vector<RunningTestbed>> all() const;
  /// Returns the socket at which the process that holds it takes faults.
  std::filesystem::path fault_socket(const std::string& name) const {
    return folder_ / name / "faults.socket";
  }
  /// Asks its process to end, and waits for that; ends it by force after half a minute. False: it
  /// was not up. Fails: kPermission, kUnavailable (it is on its way).
  Expected<bool> end(const std::string& name) const;

 private:
  Expected<> repair(const std::string& name) const;
  Expected<std::vector<std::string>> names() const;

  std::filesystem::path folder_;
};

}  // namespace pareto::cluster
