#include "client/cluster/cluster.h"

#include <sched.h>

#include <nlohmann/json.hpp>

#include "client/cluster/daemon_client.h"
#include "client/cluster/process.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::client {
namespace {

constexpr std::chrono::seconds kConnectTimeout{5};
// LibTorch alone takes a second or two to be mapped on a slow disk.
constexpr std::chrono::seconds kStartTimeout{30};

/// The cores that this process may use.
std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

Expected<std::string> control_address(const std::string& ready_line) {
  const auto json = nlohmann::json::parse(ready_line, nullptr, false);
  if (!json.is_object() || !json.contains("control") || !json["control"].is_string()) {
    return fail(ErrorCode::kCorrupt, "its ready line is not understood: {}", ready_line);
  }
  return json["control"].get<std::string>();
}

}  // namespace

struct Cluster::Impl {
  // In this order: clients end before the daemons, the daemons before the folder that holds their state.
  std::unique_ptr<TemporaryFolder> folder;
  std::vector<ChildProcess> children;
  std::vector<std::unique_ptr<DaemonClient>> devices;

  ~Impl() {
    for (ChildProcess& child : children) child.ask_to_end();
  }
};

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Cluster Cluster::of(std::vector<std::unique_ptr<DaemonClient>> devices) {
  auto impl = std::make_unique<Impl>();
  impl->devices = std::move(devices);
  return Cluster(std::move(impl));
}

Expected<Cluster> Cluster::connect(const std::vector<DeviceConfig>& devices) {
  auto impl = std::make_unique<Impl>();
  for (const DeviceConfig& device : devices) {
    PARETO_ASSIGN(auto client, connect_daemon(device, kConnectTimeout));
    impl->devices.push_back(std::move(client));
  }
  return Cluster(std::move(impl));
}

Expected<Cluster> Cluster::start_local(int count, const std::filesystem::path& paretod) {
  if (count < 1)
    return fail(ErrorCode::kInvalidArgument, "{} local daemons, not at least 1", count);
  auto impl = std::make_unique<Impl>();
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-local"));
  impl->folder = std::make_unique<TemporaryFolder>(std::move(folder));
  const std::vector<int> cores = usable_cores();
  const auto wanted = static_cast<std::size_t>(count);
  impl->children.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::string name = fmt::format("local-{}", i);
    std::vector<std::string> arguments{"--listen",
                                       "127.0.0.1:0",
                                       "--data",
                                       "tcp=127.0.0.1:0",
                                       "--data",
                                       "grpc=127.0.0.1:0",
                                       "--data",
                                       "shm=auto",
                                       "--name",
                                       name,
                                       "--state-dir",
                                       (impl->folder->path() / name).string(),
                                       "--log-level",
                                       "warn",
                                       "--exit-with-parent"};
    if (wanted <= cores.size()) {
      arguments.insert(arguments.end(), {"--cpu", std::to_string(cores[i])});
    }
    PARETO_ASSIGN(ChildProcess child,
                  with_context(ChildProcess::start(paretod, std::move(arguments),
                                                   impl->folder->path() / (name + ".log")),
                               "starting the local daemon {}", name));
    impl->children.push_back(std::move(child));
  }
  // All of them start at once; then each is waited for.
  const Deadline deadline = deadline_after(kStartTimeout);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::string name = fmt::format("local-{}", i);
    PARETO_ASSIGN(const std::string line,
                  with_context(impl->children[i].wait_ready(deadline),
                               "starting the local daemon {} ({})", name, paretod.string()));
    PARETO_ASSIGN(std::string address,
                  with_context(control_address(line), "starting the local daemon {}", name));
    PARETO_ASSIGN(auto client, connect_daemon({name, std::move(address)}, kConnectTimeout));
    impl->devices.push_back(std::move(client));
  }
  return Cluster(std::move(impl));
}

std::size_t Cluster::size() const { return impl_->devices.size(); }

DaemonClient& Cluster::device(std::size_t index) const { return *impl_->devices[index]; }

Expected<DaemonClient*> Cluster::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& device : impl_->devices) {
    if (device->config().name == name) return device.get();
    names.push_back(device->config().name);
  }
  return fail(ErrorCode::kNotFound, "no device \"{}\"{}", name, did_you_mean(name, names));
}

std::vector<int> Cluster::local_pids() const {
  std::vector<int> pids;
  for (const ChildProcess& child : impl_->children) pids.push_back(child.pid());
  return pids;
}

}  // namespace pareto::client
