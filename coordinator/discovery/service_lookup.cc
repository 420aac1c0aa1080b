#include "coordinator/discovery/service_lookup.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "core/base/text.h"

namespace pareto::discovery {
namespace {

// Of each server, and how often each is asked.
constexpr int kPatienceSeconds = 2;
constexpr int kTries = 2;
constexpr std::size_t kMostAnswerBytes = 65535;
// More would make somebody wait who finds none of them well.
constexpr std::size_t kMostTargets = 16;

/// Returns whether a label has only the letters of host names, so that what DNS says cannot be
/// taken for an address of another kind.
bool is_host_label(std::string_view label) {
  return std::ranges::all_of(label, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

Expected<DnsName> service_name(std::string_view address) {
  const std::string_view text = address.substr(kServiceScheme.size());
  const auto name = parse_dns_name(text);
  if (!name || name->size() < 3 || !name->at(0).starts_with('_') || !name->at(1).starts_with('_') ||
      !std::ranges::all_of(*name, is_host_label)) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" is no service of DNS, as in srv:_pareto-edge._tcp.example.org", address);
  }
  return *name;
}

Expected<std::vector<std::byte>> ask(const std::string& name) {
  struct __res_state state {};
  if (res_ninit(&state) != 0) {
    return fail(ErrorCode::kUnavailable, "the resolver cannot be set up");
  }
  const std::unique_ptr<struct __res_state, void (*)(res_state)> closed(&state, res_nclose);
  state.retrans = kPatienceSeconds;
  state.retry = kTries;
  std::vector<std::byte> answer(kMostAnswerBytes);
  const int bytes =
      res_nquery(&state, name.c_str(), ns_c_in, ns_t_srv,
                 reinterpret_cast<unsigned char*>(answer.data()), static_cast<int>(answer.size()));
  if (bytes < 0) {
    const bool known = state.res_h_errno == HOST_NOT_FOUND || state.res_h_errno == NO_DATA;
    return fail(known ? ErrorCode::kNotFound : ErrorCode::kUnavailable, "{}",
                known ? "DNS knows no such service" : "no DNS server answers");
  }
  answer.resize(std::min(static_cast<std::size_t>(bytes), answer.size()));
  return answer;
}

}  // namespace

Expected<> check_service_address(std::string_view address) {
  return service_name(address).map([](const DnsName&) {});
}

std::vector<DnsService> in_order_of_trial(std::vector<DnsService> services,
                                          std::mt19937_64& random) {
  std::ranges::stable_sort(services, {}, &DnsService::priority);
  for (auto first = services.begin(); first != services.end(); ++first) {
    const auto last = std::find_if(first, services.end(), [&](const DnsService& service) {
      return service.priority != first->priority;
    });
    // Those without weight first: they are taken only where chance says 0, and when nothing else is
    // left.
    std::stable_partition(first, last,
                          [](const DnsService& service) { return service.weight == 0; });
    std::uint64_t sum = 0;
    for (auto one = first; one != last; ++one) sum += one->weight;
    const std::uint64_t drawn = std::uniform_int_distribution<std::uint64_t>(0, sum)(random);
    std::uint64_t running = 0;
    const auto taken = std::find_if(first, last, [&](const DnsService& service) {
      running += service.weight;
      return running >= drawn;
    });
    std::rotate(first, taken, taken + 1);
  }
  return services;
}

Expected<std::vector<std::string>> read_service_answer(std::span<const std::byte> answer,
                                                       std::mt19937_64& random) {
  PARETO_ASSIGN(const DnsMessage message, parse_dns_message(answer));
  std::vector<DnsService> services;
  for (const DnsRecord& record : message.answers) {
    const auto* service = std::get_if<DnsService>(&record.data);
    if (service == nullptr || service->target.empty()) continue;
    if (service->port == 0 || !std::ranges::all_of(service->target, is_host_label)) {
      return fail(ErrorCode::kCorrupt, "DNS names a host that cannot be one");
    }
    services.push_back(*service);
  }
  if (services.empty()) return fail(ErrorCode::kNotFound, "DNS names no host for this service");
  std::vector<std::string> targets;
  for (const DnsService& service : in_order_of_trial(std::move(services), random)) {
    if (targets.size() == kMostTargets) break;
    targets.push_back(fmt::format("{}:{}", join(service.target, "."), service.port));
  }
  return targets;
}

Expected<std::vector<std::string>> find_service(const std::string& address) {
  PARETO_ASSIGN(const DnsName name, service_name(address));
  PARETO_ASSIGN(const auto answer, ask(join(name, ".")));
  std::mt19937_64 random(std::random_device{}());
  return read_service_answer(answer, random);
}

}  // namespace pareto::discovery
