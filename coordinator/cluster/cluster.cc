#include "coordinator/cluster/cluster.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/process.h"
#include "core/base/cores.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "netem/resource_group.h"
#include "netem/small_disk.h"

namespace pareto::cluster {
namespace {

constexpr std::chrono::seconds kConnectTimeout{5};
// LibTorch alone takes a second or two to be mapped on a slow disk, and ten times that on an
// imitated slow device.
constexpr std::chrono::seconds kStartTimeout{60};

Expected<std::string> control_address(const std::string& ready_line) {
  const auto json = nlohmann::json::parse(ready_line, nullptr, false);
  if (!json.is_object() || !json.contains("control") || !json["control"].is_string()) {
    return fail(ErrorCode::kCorrupt, "its ready line is not understood: {}", ready_line);
  }
  return json["control"].get<std::string>();
}

/// Connects to all at once: devices that hang cost the time of one. Fails: as the first that fails,
/// naming the others that do.
Expected<std::vector<std::unique_ptr<DaemonClient>>> connect_all(
    const std::vector<DeviceConfig>& devices) {
  std::vector<std::unique_ptr<DaemonClient>> clients(devices.size());
  std::vector<std::optional<Error>> problems(devices.size());
  std::vector<std::jthread> connecting;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    connecting.emplace_back([&, i] {
      auto client = connect_daemon(devices[i], kConnectTimeout);
      if (client) {
        clients[i] = *std::move(client);
      } else {
        problems[i] = std::move(client).error();
      }
    });
  }
  connecting.clear();
  std::optional<Error> first;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!problems[i]) continue;
    if (first) others.push_back(devices[i].name);
    if (!first) first = std::move(problems[i]);
  }
  if (!first) return clients;
  if (!others.empty()) first->message += fmt::format("; nor could be used: {}", join(others));
  return tl::unexpected(*std::move(first));
}

}  // namespace

struct Cluster::Impl {
  // In this order: clients end before the daemons, the daemons before their control groups, the
  // folder that holds their state and the network between them.
  std::optional<TestbedRegistry::Claim> claim;
  std::unique_ptr<Network> network;
  std::unique_ptr<TemporaryFolder> folder;
  std::vector<std::optional<netem::SmallDisk>> disks;
  std::vector<netem::ResourceGroup> groups;
  std::vector<std::optional<ChildProcess>> children;
  std::vector<std::unique_ptr<DaemonClient>> devices;
  mutable std::mutex replacing;  ///< guards `devices` against a client that is replaced
  /// The inventory's addresses as they were asked for: a service's host is found again by its name.
  std::vector<DeviceConfig> asked;
  std::unique_ptr<Network> asking;  ///< uses the devices; else null
  // How start_local started its daemons.
  std::filesystem::path paretod;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> arguments;
  const EmulatedNetwork* place = nullptr;  ///< null where all share the machine's network
  std::optional<control::DeviceUse> use;   ///< what the devices are taken for

  /// Tells each device of the data addresses of all.
  void name_peers() {
    std::vector<DaemonClient*> all;
    for (const auto& device : devices) all.push_back(device.get());
    cluster::name_peers(all);
  }

  /// Returns a device's place, and the address that was asked for. Fails: kNotFound.
  Expected<std::pair<std::size_t, DeviceConfig>> device_to_connect(const std::string& name) {
    const std::lock_guard lock(replacing);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i]->config().name != name) continue;
      const auto named = std::ranges::find(asked, name, &DeviceConfig::name);
      return std::pair(i, named == asked.end() ? devices[i]->config() : *named);
    }
    return fail(ErrorCode::kNotFound, "no device \"{}\"", name);
  }

  ~Impl() {
    for (auto& child : children) {
      if (child) child->ask_to_end();
    }
  }

  Expected<> start(const netem::Testbed& bed, std::size_t number, std::vector<std::string> pinned) {
    const netem::TestbedDevice& device = bed.devices[number];
    std::vector<std::string>& given = arguments.emplace_back(std::move(pinned));
    names.push_back(device.name);
    const std::string any_port =
        (place != nullptr ? EmulatedNetwork::host(number) : "127.0.0.1") + ":0";
    // What is said to a device of an emulated network does not cross it.
    const std::string control =
        place != nullptr ? fmt::format("unix:{}/{}.socket", folder->path().string(), device.name)
                         : any_port;
    given.insert(given.end(), {"--listen", control, "--data", "tcp=" + any_port, "--data",
                               "grpc=" + any_port, "--data", "shm=auto", "--name", device.name,
                               "--threads", std::to_string(device.threads), "--state-dir",
                               (folder->path() / device.name).string(), "--log-level", "warn",
                               "--discovery", "off", "--exit-with-parent"});
    given.insert(given.end(),
                 {"--speed", fmt::format("{}", device.speed), "--steady", device.steady});
    disks.emplace_back();
    if (device.disk_bytes > 0) {
      PARETO_ASSIGN(netem::SmallDisk disk,
                    netem::SmallDisk::create(folder->path() / device.name, device.disk_bytes));
      disks.back().emplace(std::move(disk));
    }
    PARETO_ASSIGN(auto group,
                  netem::ResourceGroup::create(fmt::format("{}/{}", bed.name, device.name),
                                               device.memory_bytes));
    // The network of a test bed has nobody else in it.
    if (place != nullptr) given.emplace_back("--insecure");
    groups.push_back(std::move(group));
    children.emplace_back();
    return launch(number);
  }

  /// Starts the process of a daemon that was ended, or never started.
  Expected<> launch(std::size_t number) {
    // On this thread: the daemon ends with the thread that started it.
    if (place != nullptr) PARETO_TRY(place->enter(number));
    auto child =
        ChildProcess::start(paretod, arguments[number], folder->path() / (names[number] + ".log"));
    if (place != nullptr) PARETO_TRY(place->enter(0));
    PARETO_TRY(child);
    children[number].emplace(*std::move(child));
    return groups[number].add(children[number]->pid());
  }

  /// Waits until the daemon serves. Returns its control address.
  Expected<std::string> wait_ready(std::size_t number, Deadline deadline) {
    PARETO_ASSIGN(const std::string line, with_context(children[number]->wait_ready(deadline),
                                                       "starting the local daemon {} ({})",
                                                       names[number], paretod.string()));
    return with_context(control_address(line), "starting the local daemon {}", names[number]);
  }
};

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Cluster Cluster::of(std::vector<std::unique_ptr<DaemonClient>> devices) {
  return of(std::move(devices), nullptr);
}

Cluster Cluster::of(std::vector<std::unique_ptr<DaemonClient>> devices,
                    std::unique_ptr<Network> network) {
  auto impl = std::make_unique<Impl>();
  impl->devices = std::move(devices);
  impl->network = std::move(network);
  impl->name_peers();
  return Cluster(std::move(impl));
}

Expected<Cluster> Cluster::connect(const std::vector<DeviceConfig>& devices) {
  return connect(devices, nullptr);
}

Expected<Cluster> Cluster::connect(const std::vector<DeviceConfig>& devices,
                                   std::unique_ptr<Network> network) {
  auto impl = std::make_unique<Impl>();
  impl->network = std::move(network);
  impl->asked = devices;
  PARETO_ASSIGN(impl->devices, connect_all(devices));
  impl->name_peers();
  return Cluster(std::move(impl));
}

Expected<Cluster> Cluster::start_local(int count, const std::filesystem::path& paretod) {
  if (count < 1)
    return fail(ErrorCode::kInvalidArgument, "{} local daemons, not at least 1", count);
  return start_local(netem::plain_testbed(static_cast<std::size_t>(count)), paretod, nullptr, {});
}

Expected<Cluster> Cluster::start_local(const netem::Testbed& bed,
                                       const std::filesystem::path& paretod,
                                       std::unique_ptr<EmulatedNetwork> network,
                                       std::optional<TestbedRegistry::Claim> claim) {
  const std::size_t wanted = bed.devices.size();
  auto impl = std::make_unique<Impl>();
  if (claim) impl->claim.emplace(*std::move(claim));
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-local"));
  impl->folder = std::make_unique<TemporaryFolder>(std::move(folder));
  impl->place = network.get();
  impl->paretod = paretod;
  impl->network = std::move(network);
  // Each daemon has cores of its own if there are enough: one for each of its threads.
  const std::vector<int> cores = usable_cores();
  std::size_t threads = 0;
  for (const netem::TestbedDevice& device : bed.devices) {
    threads += static_cast<std::size_t>(std::max(device.threads, 1));
  }
  auto core = cores.begin();
  impl->children.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    std::vector<std::string> pinned;
    if (threads <= cores.size()) {
      const auto end = core + std::max(bed.devices[i].threads, 1);
      pinned = {"--cpu", fmt::format("{}", fmt::join(core, end, ","))};
      core = end;
    }
    PARETO_TRY(with_context(impl->start(bed, i, std::move(pinned)), "starting the local daemon {}",
                            bed.devices[i].name));
  }
  // All of them start at once; then each is waited for.
  const Deadline deadline = deadline_after(kStartTimeout);
  for (std::size_t i = 0; i < wanted; ++i) {
    PARETO_ASSIGN(std::string address, impl->wait_ready(i, deadline));
    PARETO_ASSIGN(auto client,
                  connect_daemon({bed.devices[i].name, std::move(address)}, kConnectTimeout));
    impl->devices.push_back(std::move(client));
  }
  impl->name_peers();
  return Cluster(std::move(impl));
}

std::size_t Cluster::size() const { return impl_->devices.size(); }

DaemonClient& Cluster::device(std::size_t index) const {
  const std::lock_guard lock(impl_->replacing);
  return *impl_->devices[index];
}

Expected<DaemonClient*> Cluster::find(const std::string& name) const {
  const std::lock_guard lock(impl_->replacing);
  std::vector<std::string> names;
  for (const auto& device : impl_->devices) {
    if (device->config().name == name) return device.get();
    names.push_back(device->config().name);
  }
  return fail(ErrorCode::kNotFound, "no device \"{}\"{}", name, did_you_mean(name, names));
}

Expected<> Cluster::reconnect(const std::string& name, std::chrono::milliseconds timeout) {
  PARETO_ASSIGN(const auto found, impl_->device_to_connect(name));
  const auto& [number, config] = found;
  PARETO_ASSIGN(auto client, connect_daemon(config, timeout));
  if (impl_->use) {
    PARETO_TRY(client->take(*impl_->use, std::chrono::steady_clock::now() + timeout,
                            [](const auto&) { return true; }));
  }
  {
    const std::lock_guard lock(impl_->replacing);
    std::swap(impl_->devices[number], client);
    // It may have come back with other ports.
    impl_->name_peers();
  }
  // The client before ends here, which may take time.
  return {};
}

Expected<std::uint64_t> Cluster::take(
    const control::DeviceUse& use, TimePoint until,
    const std::function<bool(const std::string&, const std::vector<control::Holder>&)>& waiting) {
  std::vector<DaemonClient*> ordered;
  for (const auto& device : impl_->devices) ordered.push_back(device.get());
  std::ranges::stable_sort(ordered, {},
                           [](const DaemonClient* one) { return one->info().process; });
  std::uint64_t term = 0;
  for (DaemonClient* const device : ordered) {
    const auto known = device->take(use, until, [&](const std::vector<control::Holder>& holders) {
      return waiting(device->config().name, holders);
    });
    if (!known) {
      for (DaemonClient* const taken : ordered) taken->release();
      return tl::unexpected(known.error());
    }
    term = std::max(term, *known);
  }
  impl_->use = use;
  return term;
}

void Cluster::abandon(const std::vector<std::string>& names) {
  const std::lock_guard lock(impl_->replacing);
  for (const auto& device : impl_->devices) {
    if (std::ranges::find(names, device->config().name) != names.end()) device->abandon();
  }
}

int Cluster::machine_shared_by(const DaemonClient& device) const {
  const std::lock_guard lock(impl_->replacing);
  const std::string& boot = device.info().place.boot;
  if (boot.empty()) return 1;
  return static_cast<int>(std::ranges::count_if(
      impl_->devices, [&](const auto& other) { return other->info().place.boot == boot; }));
}

Network* Cluster::network() const {
  return impl_->asking ? impl_->asking.get() : impl_->network.get();
}

void Cluster::use_network(std::unique_ptr<Network> network) { impl_->asking = std::move(network); }

const TestbedRegistry::Claim* Cluster::claim() const {
  return impl_->claim ? &*impl_->claim : nullptr;
}

std::vector<int> Cluster::local_pids() const {
  std::vector<int> pids;
  for (const auto& child : impl_->children) pids.push_back(child ? child->pid() : 0);
  return pids;
}

Expected<> Cluster::start_again(std::size_t device) {
  if (device >= impl_->children.size()) {
    return fail(ErrorCode::kNotFound, "no local daemon {}", device);
  }
  impl_->children[device].reset();
  PARETO_TRY(
      with_context(impl_->launch(device), "starting the local daemon {}", impl_->names[device]));
  PARETO_TRY(impl_->wait_ready(device, deadline_after(kStartTimeout)));
  return reconnect(impl_->names[device], kConnectTimeout);
}

Expected<> Cluster::set_disk_full(std::size_t device, bool full) {
  if (device >= impl_->disks.size() || !impl_->disks[device]) {
    return fail(ErrorCode::kInvalidArgument,
                "{} has no disk of its own: give it one in the test bed's file (disk: 256MiB), and "
                "put the test bed up again",
                device < impl_->names.size() ? impl_->names[device] : "the device");
  }
  return full ? impl_->disks[device]->fill() : impl_->disks[device]->free();
}

std::string Cluster::place(std::size_t device) const {
  return impl_->place == nullptr ? "" : impl_->place->place(device);
}

}  // namespace pareto::cluster
