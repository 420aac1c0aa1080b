// The networks that --network names: files of conditions, or what a test bed has of its own.
#pragma once

#include <string>
#include <vector>

#include "client/flags/device_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/network.h"
#include "core/base/error.h"

namespace pareto::client {

/// Returns whether a network is a condition's file: neither "none" nor what a test bed has of its
/// own.
bool is_condition_file(const std::string& network);
/// Returns what --network names; where it names nothing, what the test bed has of its own, or
/// "none". Fails: as find_testbed.
Expected<std::string> networks_of(const std::string& networks, const DeviceFlags& devices);
/// Checks that the network of those devices can take each of these conditions. Fails: as
/// Network::offers.
Expected<> check_offered(const cluster::Cluster& cluster, const std::vector<std::string>& networks);
/// Reads "none,lte.yaml": the conditions of those that are files, by their names. Fails: as
/// read_condition; kInvalidArgument (a file that is called like no file).
Expected<std::vector<cluster::NamedCondition>> read_conditions(const std::string& networks);

}  // namespace pareto::client
