// A list of faults, and when each is made: the document. A file:
//
//   seed: 7                                            # for what is chosen at random
//   faults:
//     - {fault: kill, device: pi-2, at: 2s, for: 3s}
//     - {fault: partition, link: pi-1 - pi-2, direction: forward, at: 10s, for: 5s}
//     - {fault: corrupt, link: any, share: 0.1%, at: 20s, for: 1s, every: 10s, times: 6}
//
// Format: netem/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::netem {

enum class FaultKind {
  // of a device
  kKill,
  kStop,
  kRestart,
  kDiskFull,
  // of a link
  kPartition,
  kDrop,
  kDelay,
  kDuplicate,
  kReorder,
  kCorrupt,
  kRepeatBytes,
  kSwapBytes,
  kTruncate,
  kHalfClose,
};
/// Returns "kill", "disk-full", "half-close" ….
std::string_view to_string(FaultKind kind);
/// Finds a kind of fault by its name. Fails: kInvalidArgument with the nearest.
Expected<FaultKind> parse_fault_kind(const std::string& name);
bool is_of_device(FaultKind kind);

enum class FaultDirection { kBoth, kForward, kBackward, kAny };
/// Returns "both", "forward", "backward", "any".
std::string_view to_string(FaultDirection direction);
/// Finds a direction by its name. Fails: kInvalidArgument.
Expected<FaultDirection> parse_fault_direction(std::string_view name);

/// A fault, whenever it is made.
struct Fault {
  /// The name of a device or link that is chosen at random each time.
  static constexpr const char* kAny = "any";

  FaultKind kind = FaultKind::kKill;
  std::string place;  ///< a device; of a link both its ends: "pi-1 - pi-2"; kAny
  FaultDirection direction = FaultDirection::kBoth;
  double share = 1;           ///< share of packets that are hit
  std::uint64_t packets = 0;  ///< number of packets that are hit at most; 0 means no limit
  Nanoseconds delay{};        ///< of kDelay
  std::uint64_t seed = 1;     ///< what chooses packets and places in them

  bool operator==(const Fault&) const = default;
};

struct PlannedFault {
  Fault fault;
  Nanoseconds at{};  ///< time of the first, since the beginning
  /// Time that it lasts; no value means until the end of the plan, or that it is done at once
  /// (kRestart).
  std::optional<Nanoseconds> lasts;
  Nanoseconds every{};  ///< time between the first and the second, and so on
  int times = 1;
};

struct FaultPlan {
  static constexpr Nanoseconds kLongest = std::chrono::hours(24);
  static constexpr int kMostFaults = 1000;
  static constexpr int kMostTimes = 100'000;

  std::uint64_t seed = 1;
  std::vector<PlannedFault> faults;
};

/// Reads a plan's file, all of it before any is used. Fails: kNotFound, kPermission,
/// kInvalidArgument with file, line and nearest key.
Expected<FaultPlan> read_fault_plan(const std::filesystem::path& path);

/// A moment of a plan: a fault begins or ends.
struct FaultMoment {
  Nanoseconds at{};
  std::uint64_t number = 0;  ///< the fault's; its beginning and its end have the same
  bool begins = true;
  Fault fault;  ///< with place, direction and seed as they were chosen
};

/// The moments of a plan, in order. The same seed gives the same ones.
///
/// Threads: one owner.
class FaultTimeline {
 public:
  /// `devices` and `links` are those of the test bed; links by both ends, "pi-1 - pi-2". Fails:
  /// kNotFound with the nearest (the plan names others), kInvalidArgument (a link's fault, and
  /// there are no links).
  static Expected<FaultTimeline> create(FaultPlan plan, std::vector<std::string> devices,
                                        std::vector<std::string> links);

  /// Returns the next moment; no value at the end. Faults without an end last until then.
  std::optional<FaultMoment> next();

 private:
  struct Later {
    bool operator()(const FaultMoment& first, const FaultMoment& second) const {
      if (first.at != second.at) return first.at > second.at;
      // What ends makes room for what begins.
      if (first.begins != second.begins) return first.begins;
      return first.number > second.number;
    }
  };

  FaultTimeline(FaultPlan plan, std::vector<std::string> devices, std::vector<std::string> links);
  Fault chosen(std::size_t entry, int time) const;
  void add_beginning(std::size_t entry, int time);

  FaultPlan plan_;
  std::vector<std::string> devices_;
  std::vector<std::string> links_;
  std::priority_queue<FaultMoment, std::vector<FaultMoment>, Later> moments_;
};

}  // namespace pareto::netem
