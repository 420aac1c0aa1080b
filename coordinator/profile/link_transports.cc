#include "coordinator/profile/link_transports.h"

#include <algorithm>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/transport/transport.h"

namespace pareto::profile {
namespace {

/// The links of one cluster, by the place of each end among its devices; the coordinator's comes
/// last.
class EndsOfLinks {
 public:
  EndsOfLinks(const cluster::Cluster& cluster, const transport::Place& here)
      : cluster_(cluster), here_(here) {}

  std::size_t count() const { return cluster_.size() + 1; }
  std::string name(std::size_t end) const {
    return end == cluster_.size() ? "the coordinator" : cluster_.device(end).config().name;
  }
  bool share_a_machine(std::size_t from, std::size_t to) const {
    return share_memory(place(from), place(to));
  }
  /// Returns the device that the other end connects to: the coordinator connects to both ends of a
  /// pipeline.
  const cluster::DaemonClient& listener(std::size_t from, std::size_t to) const {
    return cluster_.device(to == cluster_.size() ? from : to);
  }
  Expected<std::string> nearest(std::size_t from, std::size_t to) const {
    std::vector<std::string> devices;
    for (const std::size_t end : {from, to}) {
      if (end < cluster_.size()) devices.push_back(name(end));
    }
    PARETO_ASSIGN(const auto names, cluster::nearest_transports(devices, cluster_, here_));
    return names[from == cluster_.size() ? 0 : 1];
  }

 private:
  const transport::Place& place(std::size_t end) const {
    return end == cluster_.size() ? here_ : cluster_.device(end).info().place;
  }

  const cluster::Cluster& cluster_;
  const transport::Place& here_;
};

Expected<std::vector<std::string>> transports_of(const EndsOfLinks& ends, std::size_t from,
                                                 std::size_t to,
                                                 const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    if (name == cluster::kAutoTransport) {
      PARETO_ASSIGN(const std::string nearest, ends.nearest(from, to));
      add_once(names, nearest);
      continue;
    }
    PARETO_ASSIGN(const auto transport, transport::make_transport(name));
    if (transport->reach() != transport::Reach::kNetwork && !ends.share_a_machine(from, to)) {
      continue;
    }
    PARETO_TRY(cluster::data_address(ends.listener(from, to), name));
    add_once(names, name);
  }
  if (names.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--transport {}: {} and {} are not on one machine, or not of one user there: "
                "name one that crosses a network too, as tcp",
                join(asked, ","), ends.name(from), ends.name(to));
  }
  return names;
}

}  // namespace

Expected<LinkTransports> link_transports(const std::vector<std::string>& asked,
                                         const cluster::Cluster& cluster,
                                         const transport::Place& here) {
  const EndsOfLinks ends(cluster, here);
  LinkTransports links(ends.count(), std::vector<std::vector<std::string>>(ends.count()));
  for (std::size_t from = 0; from < ends.count(); ++from) {
    for (std::size_t to = 0; to < ends.count(); ++to) {
      if (from == to) continue;
      PARETO_ASSIGN(links[from][to], transports_of(ends, from, to, asked));
    }
  }
  return links;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> names_in(const LinkTransports& links) {
  std::vector<std::string> names;
  for (const auto& row : links) {
    for (const auto& link : row) {
      for (const std::string& name : link) add_once(names, name);
    }
  }
  return names;
}

}  // namespace pareto::profile
