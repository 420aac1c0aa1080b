// The devices of a test bed (netem/testbed.h), ready to be used.
//
//   file or name --find_testbed--> ChosenTestbed --open_testbed--> Cluster
//
// The cluster is held by this process, or joined if another holds it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/testbed_registry.h"
#include "netem/testbed.h"

namespace pareto::cluster {

struct ChosenTestbed {
  std::optional<netem::Testbed> bed;  ///< no value means that it was given by name, not as a file
  std::optional<RunningTestbed> running;  ///< no value means that nobody holds it

  const std::string& name() const { return bed ? bed->name : running->name; }
  /// Returns the digest of all files that it was made from.
  const std::string& content() const { return bed ? bed->content : running->content; }
  /// Returns the condition that it comes with: the file of all its links, "none", or
  /// EmulatedNetwork::kOwn where they differ.
  std::string network() const;
};

/// Returns whether `what` is a file, and not the name of a test bed that is up.
bool is_testbed_file(const std::string& what);

/// Finds a test bed. `what` is a file, or the name of one that is up. Fails: as read_testbed does;
/// kNotFound (no such file, none of that name); kInvalidArgument (one of that name is up, made of
/// another file).
Expected<ChosenTestbed> find_testbed(const std::string& what);

/// Moves the calling thread into the network of the first device, where the coordinator of a test
/// bed is. It stays there when what is returned ends. Fails: as JoinedNetwork::create().
Expected<std::unique_ptr<JoinedNetwork>> join_network(const RunningTestbed& bed);

/// Joins a test bed that is up, and leaves it up. Else this process holds it, and it goes with the
/// cluster. `conditions` may be applied to all links, next to its own, if this process holds it.
/// Moves the calling thread, as EmulatedNetwork::create does. Fails: as TestbedNetwork,
/// ResourceGroup and Cluster do.
Expected<Cluster> open_testbed(const ChosenTestbed& chosen, std::vector<NamedCondition> conditions,
                               const std::filesystem::path& paretod);

/// Publishes the test bed that this process holds again, after a daemon of it was started again.
/// Fails: as TestbedRegistry::Claim::publish.
Expected<> publish_testbed(const netem::Testbed& bed, const Cluster& cluster);

}  // namespace pareto::cluster
