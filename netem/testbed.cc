#include "netem/testbed.h"

#include <algorithm>
#include <set>

#include "core/base/config_reader.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/plan/builtin_conditions.h"
#include "netem/resource_group.h"

namespace pareto::netem {
namespace {

constexpr double kLeastSpeed = 0.1;
constexpr double kMostSpeed = 64;
constexpr std::uint64_t kLeastMemory = 256 << 20;
constexpr std::uint64_t kLeastDisk = 1 << 20;
constexpr std::uint64_t kMostDisk = std::uint64_t{16} << 30;
constexpr int kMaxThreads = 64;
constexpr std::size_t kMaxName = 32;

/// Returns whether a name is plain: it names folders and control groups.
bool is_plain_name(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= kMaxName && name.front() != '-' &&
         name.find_first_not_of(kAllowed) == std::string::npos;
}

void check_name(ConfigSection& section, const std::string& name) {
  if (is_plain_name(name)) return;
  section.problem("name",
                  fmt::format("\"{}\" is not 1 to {} letters, digits, - and _", name, kMaxName));
}

/// Returns a file as it stands in the one at `base`: seen from that one's folder.
std::string beside(const std::filesystem::path& base, const std::string& file) {
  return std::filesystem::absolute(base.parent_path() / file).lexically_normal().string();
}

/// Reads the condition that a test bed's file at `base` names: a built-in one, or a file as seen
/// from that one's folder.
Expected<TestbedLink> read_link(const std::string& network, const std::filesystem::path& base,
                                Hasher& content) {
  TestbedLink link;
  if (network == "none") return link;
  link.network = plan::is_builtin_condition(network) ? network : beside(base, network);
  PARETO_ASSIGN(link.condition, plan::open_condition(network, base.parent_path()));
  content.update(to_text(link.condition));
  return link;
}

void read_preset(ConfigSection& entry, TestbedDevice& device) {
  entry.optional("preset", device.preset);
  std::vector<std::string> names;
  for (const DevicePreset& preset : device_presets()) {
    if (preset.name == device.preset) {
      device.speed = preset.speed;
      device.memory_bytes = preset.memory_bytes;
      return;
    }
    names.push_back(preset.name);
  }
  entry.problem("preset",
                fmt::format("is one of {}{}", join(names), did_you_mean(device.preset, names)));
}

TestbedDevice read_device(ConfigSection& entry) {
  TestbedDevice device;
  entry.required("name", device.name);
  if (entry.has("name")) check_name(entry, device.name);
  read_preset(entry, device);
  entry.optional("speed", device.speed);
  if (device.speed != 0 && (device.speed < kLeastSpeed || device.speed > kMostSpeed)) {
    entry.problem("speed", fmt::format("{} is neither 0 (all this machine gives) nor {} to {} of "
                                       "one of its cores",
                                       device.speed, kLeastSpeed, kMostSpeed));
  }
  entry.optional("steady", device.steady);
  entry.optional_bytes("memory", device.memory_bytes);
  if (device.memory_bytes != 0 && device.memory_bytes < kLeastMemory) {
    entry.problem("memory",
                  fmt::format("{} is less than the {} a daemon needs",
                              format_bytes(device.memory_bytes), format_bytes(kLeastMemory)));
  }
  entry.optional_bytes("disk", device.disk_bytes);
  if (device.disk_bytes != 0 && (device.disk_bytes < kLeastDisk || device.disk_bytes > kMostDisk)) {
    entry.problem("disk", fmt::format("{} is neither 0 (this machine's) nor {} to {}",
                                      format_bytes(device.disk_bytes), format_bytes(kLeastDisk),
                                      format_bytes(kMostDisk)));
  }
  entry.optional("threads", device.threads);
  if (device.threads < 1 || device.threads > kMaxThreads) {
    entry.problem("threads", fmt::format("is not 1 to {}", kMaxThreads));
  }
  return device;
}

Topology read_topology(ConfigSection& root) {
  std::string name{to_string(Topology::kChain)};
  root.optional("topology", name);
  if (name == to_string(Topology::kStar)) return Topology::kStar;
  if (name != to_string(Topology::kChain)) root.problem("topology", "is one of chain, star");
  return Topology::kChain;
}

EmulatorKind read_emulator(ConfigSection& root) {
  std::string name{to_string(EmulatorKind::kAuto)};
  root.optional("emulator", name);
  const auto kind = parse_emulator_kind(name);
  if (kind) return *kind;
  root.problem("emulator", "is one of auto, tc, user");
  return EmulatorKind::kAuto;
}

}  // namespace

std::string_view to_string(Topology topology) {
  return topology == Topology::kStar ? "star" : "chain";
}

const std::vector<DevicePreset>& device_presets() {
  static const std::vector<DevicePreset> kPresets{
      {"pi4", 0.2, std::uint64_t{4} << 30, "a Raspberry Pi 4, all four cores together"},
      {"pi5", 0.5, std::uint64_t{8} << 30, "a Raspberry Pi 5, all four cores together"},
      {"jetson-like", 1, std::uint64_t{8} << 30, "a small board with a GPU"},
      {"server", 0, 0, "this machine as it is"},
  };
  return kPresets;
}

std::string Testbed::common_network() const {
  if (links.empty()) return "none";
  const bool same = std::ranges::all_of(
      links, [&](const TestbedLink& link) { return link.network == links.front().network; });
  return same ? links.front().network : "";
}

Testbed plain_testbed(std::size_t devices) {
  Testbed bed;
  for (std::size_t i = 0; i < devices; ++i) {
    bed.devices.emplace_back().name = fmt::format("local-{}", i);
    if (i > 0) bed.links.emplace_back();
  }
  return bed;
}

Expected<Testbed> read_testbed(const std::filesystem::path& path) {
  PARETO_ASSIGN(ConfigReader file, ConfigReader::from_file(path));
  ConfigSection root = file.root();
  Testbed bed;
  bed.name = path.stem().string();
  root.optional("name", bed.name);
  check_name(root, bed.name);
  bed.topology = read_topology(root);
  bed.emulator = read_emulator(root);
  std::string network = "none";
  root.optional("network", network);

  std::vector<ConfigSection> entries = root.sections("devices");
  std::set<std::string> names;
  std::vector<std::string> networks;
  for (ConfigSection& entry : entries) {
    TestbedDevice& device = bed.devices.emplace_back(read_device(entry));
    if (!device.steady.empty()) device.steady = beside(path, device.steady);
    if (!names.insert(bed.devices.back().name).second) {
      entry.problem("name", "another device is called so as well");
    }
    std::string own = network;
    entry.optional("network", own);
    const bool last_of_chain =
        bed.topology == Topology::kChain && bed.devices.size() == entries.size();
    if (last_of_chain && entry.has("network")) {
      entry.problem("network", "is that of the link to the next device, and this is the last one");
    }
    if (!last_of_chain) networks.push_back(own);
  }
  if (entries.empty() || entries.size() > Testbed::kMaxDevices) {
    root.problem("devices", fmt::format("lists {} devices, not 1 to {}", entries.size(),
                                        Testbed::kMaxDevices));
  }
  PARETO_TRY(file.finish());
  Hasher content;
  PARETO_ASSIGN(const std::string text, read_file(path));
  content.update(text);
  for (const std::string& one : networks) {
    PARETO_ASSIGN(TestbedLink link,
                  with_context(read_link(one, path, content), "{}", path.string()));
    bed.links.push_back(std::move(link));
  }
  bed.content = content.finish().hex();
  return bed;
}

}  // namespace pareto::netem
