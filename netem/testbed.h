// Several devices and the network between them, imitated on one machine: the document. A file:
//
//   name: two-pi4                                # empty: the file's own, without folder and ending
//   topology: chain                              # or star
//   network: ../network/paretopipe.yaml          # of every link; unset: as fast as the machine
//   devices:
//     - {name: pi-1, preset: pi4}
//     - {name: pi-2, preset: pi4, speed: 0.3, memory: 2GiB, network: ../network/wifi.yaml}
//
//   chain   pi-1 ══ link 0 ══ pi-2 ══ link 1 ══ pi-3       forward: away from the first
//   star    pi-1 ══ link 0 ══ switch ══ link 1 ══ pi-2     forward: from the device into the switch
//
// In a chain a device's `network` is that of the link to the next one. The coordinator is next to
// the first device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/link_emulator.h"

namespace pareto::netem {

enum class Topology { kChain, kStar };
std::string_view to_string(Topology topology);

/// The figures of the device that is imitated.
struct DevicePreset {
  std::string name;
  /// Speed as a share of one core of this machine, the whole device; 0: all that this machine has.
  double speed = 0;
  std::uint64_t memory_bytes = 0;  ///< 0: no limit
  std::string what;                ///< one line for people
};
/// Returns presets that imitate only speed and memory. They are rough ratios of convolutions in
/// fp32, against one core of an x86 server with AVX-512 (some 100 GFLOP/s). Caches, precisions,
/// accelerators and clocks that fall with heat are not imitated.
const std::vector<DevicePreset>& device_presets();

struct TestbedDevice {
  std::string name;
  std::string preset = "server";
  double speed = 0;    ///< speed; see DevicePreset
  std::string steady;  ///< file, as in configs/paretod.yaml
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;  ///< size of a disk of its own, in memory; 0: this machine's
  int threads = 1;               ///< threads of a shard whose coordinator names no number
};

/// A link with the file that its condition came from; "none" without one.
struct TestbedLink {
  std::string network = "none";
  plan::Condition condition;
};

struct Testbed {
  static constexpr std::size_t kMaxDevices = 64;

  std::string name;
  Topology topology = Topology::kChain;
  EmulatorKind emulator = EmulatorKind::kAuto;
  std::vector<TestbedDevice> devices;
  std::vector<TestbedLink> links;  ///< chain: one less than devices; star: one each
  std::string content;             ///< digest of all files it was read from, as hex

  /// Returns the file that all links have their condition from; empty where they differ.
  std::string common_network() const;
};

/// Makes as many equal devices as this machine gives, on a chain of links that do nothing:
/// "local-0", "local-1" ….
Testbed plain_testbed(std::size_t devices);

/// Reads a test bed's file and the files it names, all of it before any is used. Fails: kNotFound,
/// kPermission, kInvalidArgument with file, line and nearest key.
Expected<Testbed> read_testbed(const std::filesystem::path& path);

}  // namespace pareto::netem
