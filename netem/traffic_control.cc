#include "netem/traffic_control.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "netem/network_namespace.h"
#include "netem/run_program.h"

namespace pareto::netem {
namespace {

using Json = nlohmann::json;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool names(const TcCommand& command, std::string_view word) {
  return std::ranges::find(command, word) != command.end();
}

/// Adds what is missing, if the words of a program say that a part of the kernel is.
tl::unexpected<Error> explained(const TcCommand& command, Error error) {
  const std::string& words = error.message;
  if (has(words, "Operation not permitted")) {
    return fail(ErrorCode::kPermission,
                "{}: changing a network device needs root (CAP_NET_ADMIN): run it with sudo",
                command.front());
  }
  const bool unknown = has(words, "qdisc kind is unknown") || has(words, "Unknown device type") ||
                       has(words, "classifier not found") || has(words, "Failed to load TC action");
  if (unknown) {
    if (names(command, "netem")) {
      return fail(ErrorCode::kUnavailable, "this kernel has no sch_netem (modprobe sch_netem)");
    }
    for (const char* part : {"tbf", "ingress"}) {
      if (!names(command, part)) continue;
      return fail(ErrorCode::kUnavailable, "this kernel has no sch_{0}: modprobe sch_{0}", part);
    }
    for (const char* part : {"ifb", "veth"}) {
      if (!names(command, "type") || !names(command, part)) continue;
      return fail(ErrorCode::kUnavailable, "this kernel has no {0} devices: modprobe {0}", part);
    }
    return fail(ErrorCode::kUnavailable,
                "this kernel lacks what sends incoming packets through a queue: modprobe -a "
                "cls_u32 act_mirred ({})",
                words);
  }
  return tl::unexpected(std::move(error));
}

Expected<Json> json_of(const std::vector<std::string>& command) {
  auto printed = run_program_for_output(command);
  if (!printed && has(printed.error().message, "Cannot find device")) {
    printed.error().code = ErrorCode::kNotFound;
  }
  PARETO_TRY(printed);
  Json json = Json::parse(*printed, nullptr, false);
  if (json.is_array()) return json;
  return fail(ErrorCode::kUnavailable, "{} -j printed no JSON: a later iproute2 is needed",
              command.front());
}

ifreq request_for(const std::string& device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
  return request;
}

/// SIOCETHTOOL with one value. Returns the value afterwards.
Expected<std::uint32_t> ethtool(const std::string& device, std::uint32_t what,
                                std::uint32_t value) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return tl::unexpected(error_from_errno(errno, "making a socket"));
  ethtool_value request{what, value};
  ifreq device_request = request_for(device);
  device_request.ifr_data = reinterpret_cast<char*>(&request);
  if (::ioctl(socket.get(), SIOCETHTOOL, &device_request) != 0) {
    return tl::unexpected(error_from_errno(errno, "offloads of " + device));
  }
  return request.data;
}

}  // namespace

Expected<> run_tc(const TcCommand& command) {
  auto done = run_program(command);
  if (!done) return explained(command, std::move(done).error());
  return {};
}

Expected<> control_traffic(const std::string& device, const plan::LinkDirection& direction,
                           std::uint64_t largest_packet_bytes) {
  if (!does_something(direction)) {
    // tc refuses to remove what is not there.
    PARETO_ASSIGN(const DeviceQueues queues, queues_of(device));
    if (queues.root_handle.empty() || queues.root_handle == "0:") return {};
  }
  for (const TcCommand& command : tc_commands(device, direction, largest_packet_bytes)) {
    PARETO_TRY(run_tc(command));
  }
  return {};
}

Expected<DeviceQueues> queues_of(const std::string& device) {
  PARETO_ASSIGN(const Json all, json_of({"tc", "-s", "-j", "qdisc", "show", "dev", device}));
  DeviceQueues queues;
  std::uint64_t drops_before_rate = 0;
  for (const Json& qdisc : all) {
    if (!qdisc.is_object()) continue;
    const std::string kind = qdisc.value("kind", "");
    if (kind == "ingress" || kind == "clsact") queues.has_ingress = true;
    if (qdisc.value("root", false)) {
      queues.root_kind = kind;
      queues.root_handle = qdisc.value("handle", "");
    }
    if (kind == "netem") queues.netem_drops += qdisc.value("drops", std::uint64_t{0});
    // netem counts what its child drops as well.
    if (!qdisc.value("root", false)) drops_before_rate += qdisc.value("drops", std::uint64_t{0});
  }
  queues.netem_drops -= std::min(drops_before_rate, queues.netem_drops);
  return queues;
}

Expected<> set_most_segments(const std::string& device, std::uint32_t segments) {
  PARETO_TRY(
      run_tc({"ip", "link", "set", "dev", device, "gso_max_segs", std::to_string(segments)}));
  // Connections ask the device again when their route is looked up again.
  return run_tc({"ip", "route", "flush", "cache"});
}

Expected<std::uint32_t> most_segments(const std::string& device) {
  PARETO_ASSIGN(const Json all, json_of({"ip", "-j", "-d", "link", "show", "dev", device}));
  if (all.size() != 1 || !all[0].is_object()) {
    return fail(ErrorCode::kUnavailable, "ip does not know one device {}", device);
  }
  return all[0].value("gso_max_segs", kManySegments);
}

Expected<std::uint32_t> mtu_of(const std::string& device) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return tl::unexpected(error_from_errno(errno, "making a socket"));
  ifreq request = request_for(device);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0) {
    return tl::unexpected(error_from_errno(errno, device));
  }
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

Expected<std::string> ingress_filters(const std::string& device) {
  return run_program_for_output({"tc", "filter", "show", "dev", device, "parent", "ffff:"});
}

Expected<bool> joins_incoming(const std::string& device) {
  PARETO_ASSIGN(const std::uint32_t value, ethtool(device, ETHTOOL_GGRO, 0));
  return value != 0;
}

Expected<> set_joins_incoming(const std::string& device, bool joins) {
  PARETO_TRY(ethtool(device, ETHTOOL_SGRO, joins ? 1 : 0));
  return {};
}

Expected<> try_tc() {
  PARETO_ASSIGN(const NetworkNamespace aside, NetworkNamespace::create());
  return aside.run([]() -> Expected<> {
    PARETO_TRY(run_tc({"tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"}));
    return run_tc(
        {"ip", "link", "add", "name", "pareto0", "type", "veth", "peer", "name", "pareto1"});
  });
}

}  // namespace pareto::netem
