// A condition on an interface of this machine, as on a real device. What leaves gets the
// condition's forward direction, and what comes in gets its backward direction.
//
//   forward, at its root:                  sockets ─▶ [netem ─▶ tbf] ─▶ interface
//   backward, if it asks for anything,
//   through a device of its own:           interface ─▶ ingress ─▶ ifb [netem ─▶ tbf] ─▶ sockets
//
// It applies to all traffic of the interface, whatever it is for: do not use it on the interface
// over which you are logged in. What is done is recorded first (netem/emulation_record.h), so that
// it is taken back whatever ends the process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/condition.h"

namespace pareto::netem {

inline constexpr const char* kEmulationFolder = "/run/pareto-edge/netem";

/// An emulation on an interface of the calling thread's network namespace, where it has to end as
/// well. It is taken back when this ends, unless it is to be kept.
///
/// Threads: one owner; it has one of its own for each direction with a trace.
class InterfaceEmulation {
 public:
  /// Applies the condition, in place of one that was kept, or left by a process that is gone.
  /// `name` is the condition's name, for people. If packets vary, TCP sends and receives them one
  /// by one meanwhile (no GSO, no GRO). Packets joined by others (UDP's GSO, forwarded ones) fare
  /// together. After an error the interface is as before.
  /// Fails, each with its remedy: kNotFound (no such interface), kInvalidArgument (not a name;
  /// foreign queues, which are left alone), kUnavailable (another process holds it; the kernel
  /// lacks what it needs), kPermission (needs root).
  static Expected<InterfaceEmulation> apply(const std::string& interface,
                                            const plan::Condition& condition,
                                            const std::string& name,
                                            const std::filesystem::path& folder = kEmulationFolder);

  ~InterfaceEmulation();
  InterfaceEmulation(InterfaceEmulation&& other) noexcept;
  InterfaceEmulation& operator=(InterfaceEmulation&&) = delete;

  /// Keeps it until clear_emulation(). Fails: kInvalidArgument (it has a trace, which takes a
  /// process), as writing a file does.
  Expected<> keep();
  /// Fails, as tc does, where it could not be changed as its trace has it.
  Expected<> check() const;
  /// Takes it back now, unless it was kept, and says what the destructor cannot: fails, as tc does,
  /// with the remedy. What could not be taken back stays recorded as stale, for anybody to clear.
  Expected<> end();

 private:
  class Impl;
  explicit InterfaceEmulation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Checks that emulations can be recorded in `folder`. Fails: kPermission.
Expected<> check_emulations(const std::filesystem::path& folder = kEmulationFolder);

enum class EmulationState {
  kKept,        ///< kept until it is cleared
  kHeld,        ///< held by a process that is there
  kStale,       ///< held by one that is gone, or could not take it back
  kUnreadable,  ///< its record is garbage
};
/// Returns "kept", "held", "stale", "unreadable".
std::string_view to_string(EmulationState state);

struct InterfaceStatus {
  std::string interface;
  EmulationState state = EmulationState::kUnreadable;
  std::string name;  ///< name of the condition
  int owner = 0;     ///< process
  std::string ifb;
};

/// Lists those in this thread's network namespace, by name. Fails: kPermission.
Expected<std::vector<InterfaceStatus>> list_emulations(
    const std::filesystem::path& folder = kEmulationFolder);

/// Takes back what was done to an interface; what somebody else has put there meanwhile stays.
/// Fails: kNotFound (there is nothing), kUnavailable (a process that is there holds it: end that),
/// kPermission.
Expected<> clear_emulation(const std::string& interface,
                           const std::filesystem::path& folder = kEmulationFolder);

/// Clears all that are stale or unreadable. Returns their interfaces. Fails: as clear_emulation,
/// after all were tried.
Expected<std::vector<std::string>> clear_stale(
    const std::filesystem::path& folder = kEmulationFolder);

}  // namespace pareto::netem
