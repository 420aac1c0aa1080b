#include "client/watch/way_check.h"

#include <fmt/format.h>

#include "client/watch/verdict.h"
#include "core/transport/address.h"

namespace pareto::watch {
namespace {

/// Returns what to do about a data address that another device does not reach.
std::string remedy_of(const WayFacts& way) {
  const auto says = [&](const char* words) { return way.problem.find(words) != std::string::npos; };
  if (says("refused")) {
    return fmt::format(
        "{} answers, but nothing listens at {}: is data: in its paretod.yaml an "
        "address of {} that {} reaches?",
        way.to, way.address, way.to, way.from);
  }
  if (says("unreachable") || says("No route")) {
    return fmt::format("give {} a route to {}, or name another address of {} in its data:",
                       way.from, way.address, way.to);
  }
  return fmt::format("let the firewall of {} take {} from {}, and {} have a route there", way.to,
                     way.address, way.from, way.from);
}

Verdict reached(const WayFacts& way) {
  // This is what devices say to other roles.
  const std::size_t refusal = way.problem.find(": use the credentials of a coordinator");
  if (refusal != std::string::npos) {
    return warn(way.problem.substr(0, refusal),
                "to try it, use the credentials of a coordinator: paretoctl pki issue NAME --role "
                "coordinator");
  }
  const bool of_itself = transport::is_loopback(way.address);
  if (way.problem.empty() && !(of_itself && way.apart)) {
    return ok(fmt::format("{} answers in {:.3g} ms", way.address, to_milliseconds(way.round_trip)));
  }
  if (of_itself) {
    const std::string problem =
        way.problem.empty() ? fmt::format("{} is {} itself", way.address, way.from) : way.problem;
    if (transport::is_unix(way.control) || transport::is_loopback(way.control)) {
      return failed(problem, fmt::format("name {} in the inventory by an address that {} reaches, "
                                         "in place of {}",
                                         way.to, way.from, way.control));
    }
    return failed(problem, fmt::format("{} listens for itself only: data: {}=0.0.0.0:PORT in "
                                       "its paretod.yaml",
                                       way.to, way.transport));
  }
  return failed(way.problem, remedy_of(way));
}

}  // namespace

void check_way(const WayFacts& way, std::vector<Finding>& findings) {
  findings.push_back(finding(way.from + " to " + way.to, way.transport, reached(way)));
}

}  // namespace pareto::watch
