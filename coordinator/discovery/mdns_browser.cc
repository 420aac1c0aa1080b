#include "coordinator/discovery/mdns_browser.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/poll.h"
#include "core/transport/socket.h"

namespace pareto::discovery {
namespace {

constexpr std::uint16_t kPort = 5353;
constexpr const char* kGroup4 = "224.0.0.251";
constexpr const char* kGroup6 = "ff02::fb";
// Who answers may ignore what did not come from its own link.
constexpr int kHops = 255;
constexpr Nanoseconds kFirstPause = std::chrono::seconds(1);
// Of what answers leave open: so long more of them may come, so that one query asks for all that is
// missing.
constexpr Nanoseconds kGathering = std::chrono::milliseconds(50);
// In a packet, which stays below Ethernet's limit, and in a round of packets: who invents devices
// is not to make this flood the network.
constexpr std::size_t kMostQuestions = 4;
constexpr std::size_t kMostOfARound = 32;
constexpr std::size_t kMostBytes = 9000;
constexpr int kMostAtOnce = 256;

/// One interface, over one version of IP.
struct Way {
  FileDescriptor socket;
  sockaddr_storage group{};
  socklen_t group_bytes = 0;
};

template <typename T>
bool set(const FileDescriptor& socket, int level, int option, const T& value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

/// Opens a way; with an empty socket if the interface refuses.
Way open_way(int family, int interface) {
  Way way;
  FileDescriptor socket(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  bool ready = static_cast<bool>(socket);
  if (family == AF_INET) {
    auto& group = reinterpret_cast<sockaddr_in&>(way.group);
    group.sin_family = AF_INET;
    group.sin_port = htons(kPort);
    ::inet_pton(AF_INET, kGroup4, &group.sin_addr);
    way.group_bytes = sizeof group;
    ip_mreqn request{};
    request.imr_ifindex = interface;
    ready = ready && set(socket, IPPROTO_IP, IP_MULTICAST_IF, request) &&
            set(socket, IPPROTO_IP, IP_MULTICAST_TTL, kHops);
  } else {
    auto& group = reinterpret_cast<sockaddr_in6&>(way.group);
    group.sin6_family = AF_INET6;
    group.sin6_port = htons(kPort);
    group.sin6_scope_id = static_cast<std::uint32_t>(interface);
    ::inet_pton(AF_INET6, kGroup6, &group.sin6_addr);
    way.group_bytes = sizeof group;
    ready = ready && set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, interface) &&
            set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, kHops);
  }
  if (ready) way.socket = std::move(socket);
  return way;
}

Expected<std::vector<Way>> open_ways() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return tl::unexpected(error_from_errno(errno, "interfaces"));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> freed(list, ::freeifaddrs);
  std::set<std::pair<int, int>> wanted;  // family, interface
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 ||
        (one->ifa_flags & IFF_MULTICAST) == 0) {
      continue;
    }
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    wanted.emplace(family, static_cast<int>(::if_nametoindex(one->ifa_name)));
  }
  std::vector<Way> ways;
  for (const auto& [family, interface] : wanted) {
    Way way = open_way(family, interface);
    if (way.socket) ways.push_back(std::move(way));
  }
  if (ways.empty()) {
    return fail(ErrorCode::kUnavailable, "no network interface is up that takes multicast");
  }
  return ways;
}

/// Sends on every way. An interface that cannot send is left to the others.
void send(const std::vector<Way>& ways, std::uint16_t id,
          const std::vector<DnsQuestion>& questions) {
  const std::size_t end = std::min(questions.size(), kMostOfARound);
  for (std::size_t first = 0; first < end; first += kMostQuestions) {
    const std::size_t count = std::min(kMostQuestions, end - first);
    const auto query = encode_query(id, std::span(questions).subspan(first, count));
    for (const Way& way : ways) {
      ::sendto(way.socket.get(), query.data(), query.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&way.group), way.group_bytes);
    }
  }
}

/// Numeric, and the port; empty where it is no address of the Internet's.
std::pair<std::string, std::uint16_t> text_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return {::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text), ntohs(v4.sin_port)};
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return {::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text), ntohs(v6.sin6_port)};
  }
  return {};
}

/// Takes the answers that wait, with a limit, so that a flood of them does not outlast the
/// deadline. Returns whether one had something new.
bool receive(const FileDescriptor& socket, std::uint16_t id, ServiceFinder& finder) {
  std::array<std::byte, kMostBytes> buffer{};
  bool news = false;
  for (int i = 0; i < kMostAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t from_bytes = sizeof from;
    const ssize_t got = ::recvfrom(socket.get(), buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &from_bytes);
    if (got < 0) break;
    const auto [sender, port] = text_of(from);
    if (port != kPort) continue;
    const auto message = parse_dns_message(std::span(buffer).first(static_cast<std::size_t>(got)));
    // The number keeps out those who have not seen the question.
    if (!message || !message->is_response || message->id != id) continue;
    if (finder.take(*message, sender)) news = true;
  }
  return news;
}

}  // namespace

Expected<std::vector<FoundDevice>> browse(std::string_view service, Nanoseconds time) {
  PARETO_ASSIGN(DnsName name, parse_dns_name(service));
  name.emplace_back("local");
  ServiceFinder finder(std::move(name));
  PARETO_ASSIGN(const std::vector<Way> ways, open_ways());
  std::vector<pollfd> polled;
  for (const Way& way : ways) polled.push_back({way.socket.get(), POLLIN, 0});
  const auto id = static_cast<std::uint16_t>(std::random_device()());
  const TimePoint end = *deadline_after(time);
  TimePoint next = std::chrono::steady_clock::now();
  Nanoseconds pause = kFirstPause;
  std::size_t asked = 0;
  // Time to ask for what answers left open; no value means that nothing new is open
  Deadline missing;
  for (TimePoint now = next; now < end; now = std::chrono::steady_clock::now()) {
    std::vector<DnsQuestion> questions;
    if (now >= next || (missing && now >= *missing)) {
      questions = finder.open_questions();
      // Those that nobody answers do not keep the others from being asked.
      if (!questions.empty()) {
        const auto first = static_cast<std::ptrdiff_t>(asked % questions.size());
        std::rotate(questions.begin(), questions.begin() + first, questions.end());
      }
      asked += kMostOfARound;
      missing.reset();
    }
    if (now >= next) {
      questions.insert(questions.begin(), finder.question());
      next += pause;
      pause *= 2;
    }
    send(ways, id, questions);
    const auto ready = poll_until(polled, std::min({next, missing.value_or(end), end}));
    if (!ready && ready.error().code != ErrorCode::kTimeout) return tl::unexpected(ready.error());
    for (std::size_t i = 0; ready && i < ways.size(); ++i) {
      if (polled[i].revents != 0 && receive(ways[i].socket, id, finder) && !missing) {
        missing = deadline_after(kGathering);
      }
    }
  }
  return finder.found();
}

}  // namespace pareto::discovery
