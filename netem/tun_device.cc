#include "netem/tun_device.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/file.h"
#include "netem/run_program.h"
#include "netem/token_bucket.h"
#include "netem/traffic_control.h"

namespace pareto::netem {
namespace {

constexpr std::uint64_t kMtuBytes = 1500;

tl::unexpected<Error> no_device(int number) {
  switch (number) {
    case EPERM:
    case EACCES:
      return fail(ErrorCode::kPermission, "a TUN device needs root (CAP_NET_ADMIN): run with sudo");
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return fail(
          ErrorCode::kUnavailable,
          "there is no /dev/net/tun: load it with modprobe tun, and give it to the container");
    default:
      return tl::unexpected(error_from_errno(number, "making a TUN device"));
  }
}

/// Attaches a device in the namespace of the calling thread. Returns its name.
Expected<std::string> attach(const FileDescriptor& file) {
  ifreq request{};
  std::strncpy(request.ifr_name, "pareto%d", IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(file.get(), TUNSETIFF, &request) != 0) return no_device(errno);
  return std::string(request.ifr_name);
}

/// Sets whether many TCP segments may be read at once.
Expected<> set_whole(const FileDescriptor& file, bool whole) {
  const unsigned int offload = whole ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 : TUN_F_CSUM;
  if (::ioctl(file.get(), TUNSETOFFLOAD, offload) != 0) return no_device(errno);
  return {};
}

/// Limits the rate of what leaves through a device of the calling thread's namespace.
Expected<> limit_rate(const std::string& device, const plan::LinkDirection& out) {
  auto limited = run_program(token_bucket_command(device, out));
  if (!limited && limited.error().message.find("qdisc kind is unknown") != std::string::npos) {
    return fail(ErrorCode::kUnavailable,
                "this kernel has no sch_tbf: load it with modprobe sch_tbf, or leave out the rate");
  }
  return limited;
}

/// Any rate, of the same: the queue that every device has from the start, in place of any other.
Expected<> lift_rate(const std::string& device) {
  return run_program({"tc", "qdisc", "replace", "dev", device, "root", "pfifo_fast"});
}

/// More at a time than the bucket holds would be taken apart before it, and moved one by one.
std::uint32_t segments_for(const plan::LinkDirection& out) {
  if (out.bits_per_second == 0) return kManySegments;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(burst_bytes(out) / kMtuBytes, kManySegments));
}

}  // namespace

Expected<TunDevice> TunDevice::create(const NetworkNamespace& where, const std::string& address,
                                      const std::string& peer, const plan::LinkDirection& out) {
  PARETO_ASSIGN(NetworkNamespace held, where.copy());
  std::optional<TunDevice> device;
  const auto make = [&]() -> Expected<> {
    FileDescriptor file(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!file) return no_device(errno);
    PARETO_ASSIGN(const std::string name, attach(file));
    device.emplace(TunDevice(std::move(file), name, std::move(held)));
    // Without addrgenmode none the kernel would speak IPv6 of its own accord.
    PARETO_TRY(run_program({"ip", "link", "set", "dev", name, "mtu", std::to_string(kMtuBytes),
                            "txqueuelen", kQueueLength, "addrgenmode", "none"}));
    PARETO_TRY(run_program({"ip", "address", "add", address, "peer", peer, "dev", name}));
    device->varies_ = out.varies_by_packet();
    PARETO_TRY(device->set_offload());
    PARETO_TRY(device->set_segments(segments_for(out)));
    if (out.bits_per_second > 0) PARETO_TRY(limit_rate(name, out));
    return run_program({"ip", "link", "set", "dev", name, "up"});
  };
  PARETO_TRY(where.run(make));
  return *std::move(device);
}

Expected<> TunDevice::change(const plan::LinkDirection& out) {
  {
    const std::lock_guard lock(*separating_);
    varies_ = out.varies_by_packet();
    PARETO_TRY(set_offload());
  }
  return where_.run([&]() -> Expected<> {
    PARETO_TRY(set_segments(segments_for(out)));
    return out.bits_per_second > 0 ? limit_rate(name_, out) : lift_rate(name_);
  });
}

Expected<> TunDevice::separate(bool separate) {
  const std::lock_guard lock(*separating_);
  separate_ = separate;
  return set_offload();
}

Expected<> TunDevice::set_offload() { return set_whole(file_, !varies_ && !separate_); }

Expected<> TunDevice::set_segments(std::uint32_t most) {
  if (most == most_segments_) return {};
  PARETO_TRY(set_most_segments(name_, most));
  most_segments_ = most;
  return {};
}

}  // namespace pareto::netem
