#include "daemon/control/network_lease.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "netem/interface_emulation.h"

namespace pareto::daemon {
namespace {

class KernelChange final : public InterfaceChange {
 public:
  explicit KernelChange(netem::InterfaceEmulation emulation) : emulation_(std::move(emulation)) {}
  Expected<> check() const override { return emulation_.check(); }
  Expected<> end() override { return emulation_.end(); }

 private:
  netem::InterfaceEmulation emulation_;
};

/// Returns whether an interface's address is that of a socket.
bool same_host(const sockaddr* one, const sockaddr_storage& other) {
  if (one == nullptr || one->sa_family != other.ss_family) return false;
  if (one->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(one)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
  }
  return one->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(one)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr,
                     sizeof(in6_addr)) == 0;
}

/// Returns whether what goes by `upper` goes by `interface`: they are one, or the one is made of
/// the other (a bridge, a VLAN).
bool carries(const std::string& interface, const std::string& upper) {
  if (upper.empty()) return false;
  const unsigned int index = ::if_nametoindex(interface.c_str());
  if (interface == upper || (index != 0 && index == ::if_nametoindex(upper.c_str()))) return true;
  std::error_code none;
  return interface.find('/') == std::string::npos &&
         std::filesystem::exists("/sys/class/net/" + upper + "/lower_" + interface, none);
}

/// Returns whether this process may do what CAP_NET_ADMIN (12) allows.
bool may_administer_networks() {
  constexpr std::uint64_t kNetAdmin = 1 << 12;
  constexpr std::uint64_t kLimit = 1 << 20;
  constexpr std::string_view kKey = "\nCapEff:\t";
  const std::string status = read_file("/proc/self/status", kLimit).value_or("");
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return false;
  std::uint64_t capabilities = 0;
  std::from_chars(status.data() + at + kKey.size(), status.data() + status.size(), capabilities,
                  16);
  return (capabilities & kNetAdmin) != 0;
}

Expected<sockaddr_storage> parse_host(const std::string& host) {
  sockaddr_storage address{};
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(9);
    return address;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(9);
    return address;
  }
  return fail(ErrorCode::kNotFound, "\"{}\" is no address", host);
}

}  // namespace

NetworkLease::NetworkLease(bool allowed, Change change)
    : allowed_(allowed),
      change_(std::move(change)),
      numbers_(std::random_device()()),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

NetworkLease::~NetworkLease() { close(); }

void NetworkLease::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (lease_) static_cast<void>(take_back());
}

Expected<> NetworkLease::check_allowed() const {
  if (allowed_) return {};
  return fail(ErrorCode::kPermission,
              "this device does not let its network be changed: set allow_netem: true in its "
              "paretod.yaml");
}

Expected<> NetworkLease::check_able() const {
  PARETO_TRY(check_allowed());
  if (!may_administer_networks()) {
    return fail(ErrorCode::kPermission,
                "its daemon may not change networks: run it as root, or give its service "
                "CAP_NET_ADMIN");
  }
  return with_context(netem::check_emulations(), "its daemon cannot record what it does");
}

Expected<Lease> NetworkLease::take(const LeaseRequest& request) {
  PARETO_TRY(check_allowed());
  const bool on_control = carries(request.interface, request.control_interface);
  if (on_control && !request.control_interface_too) {
    return fail(ErrorCode::kPermission,
                "{} carries the coordinator's own calls: name another interface, or say "
                "netem_control_too: true in the inventory",
                request.interface);
  }
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(ErrorCode::kClosed, "the daemon is ending");
  if (lease_) {
    return fail(ErrorCode::kUnavailable,
                "another coordinator changes this device's network: wait "
                "until it is done");
  }
  PARETO_ASSIGN(interface_, change_(request));
  lease_ = {numbers_(), std::clamp(request.duration, Nanoseconds(std::chrono::milliseconds(100)),
                                   on_control ? kLongestOnControl : kLongest)};
  runs_out_ = std::chrono::steady_clock::now() + lease_->duration;
  changed_.notify_all();
  spdlog::info("{} is as {} for a coordinator", request.interface, request.name);
  return *lease_;
}

Expected<Lease> NetworkLease::renew(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (!lease_ || lease_->number != number) {
    return fail(ErrorCode::kNotFound, "the lease ran out");
  }
  PARETO_TRY(interface_->check());
  runs_out_ = std::chrono::steady_clock::now() + lease_->duration;
  changed_.notify_all();
  return *lease_;
}

Expected<> NetworkLease::end(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (!lease_ || lease_->number != number) return {};
  return take_back();
}

Expected<> NetworkLease::take_back() {
  lease_.reset();
  auto ended = interface_->end();
  interface_.reset();
  changed_.notify_all();
  if (!ended) spdlog::error("the network is not as before: {}", ended.error().message);
  return ended;
}

void NetworkLease::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!lease_) {
      changed_.wait(lock, stop, [this] { return lease_.has_value(); });
      continue;
    }
    const TimePoint until = runs_out_;
    changed_.wait_until(lock, stop, until, [&] { return !lease_ || runs_out_ != until; });
    if (lease_ && runs_out_ <= std::chrono::steady_clock::now()) {
      spdlog::warn("the coordinator's lease of the network ran out");
      if (take_back()) spdlog::info("the network is as before");
    }
  }
}

NetworkLease::Change kernel_change() {
  return [](const LeaseRequest& request) -> Expected<std::unique_ptr<InterfaceChange>> {
    PARETO_ASSIGN(auto emulation, netem::InterfaceEmulation::apply(
                                      request.interface, request.condition, request.name));
    return std::make_unique<KernelChange>(std::move(emulation));
  };
}

void clear_abandoned_networks() {
  std::error_code none;
  if (!std::filesystem::exists(netem::kEmulationFolder, none)) return;
  const auto cleared = netem::clear_stale();
  if (!cleared) return spdlog::warn("emulated networks left behind: {}", cleared.error().message);
  for (const std::string& interface : *cleared) {
    spdlog::warn("{}: an emulated network was left behind; it is as before now", interface);
  }
}

Expected<std::string> interface_towards(const std::string& host) {
  PARETO_ASSIGN(const sockaddr_storage peer, parse_host(host));
  const FileDescriptor socket(::socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  // Connecting a datagram socket sends nothing: it asks for the route.
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof(peer)) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0) {
    return tl::unexpected(error_from_errno(errno, "the way to " + host));
  }
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return tl::unexpected(error_from_errno(errno, "interfaces"));
  std::string name;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (same_host(one->ifa_addr, own)) name = one->ifa_name;
  }
  ::freeifaddrs(all);
  // "eth0:1" is another address of eth0.
  if (!name.empty()) return name.substr(0, name.find(':'));
  return fail(ErrorCode::kNotFound, "no interface leads to {}", host);
}

}  // namespace pareto::daemon
