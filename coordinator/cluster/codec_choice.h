// Chooses the codec that `auto` stands for on a link: the one that takes a message across soonest,
// as measured on the devices.
//
//   time of a message = encode (on the sender) + bytes / rate of the link
//                       + decode (on the receiver)
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/shard_pool.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/wire/codec_cost.h"

namespace pareto::cluster {

inline constexpr std::string_view kAutoCodec = "auto";

/// Returns the time in seconds that a message takes to cross a link of that rate.
double crossing_seconds(const wire::CodecCost& cost, double bytes_per_second);
/// Returns the codec that crosses soonest, of those with no more than the allowed error
/// (CodecError::mean). Of equal ones the first wins; "none" stands first. Returns "none" if no
/// error is allowed.
std::string choose_codec(std::span<const wire::CodecCost> costs, double bytes_per_second,
                         double allowed_error);
/// Costs measured on the sender with `decode` as it would be on the receiver, by what both take for
/// the same tensor.
std::vector<wire::CodecCost> decoded_elsewhere(std::vector<wire::CodecCost> costs,
                                               std::span<const wire::CodecCost> on_sender,
                                               std::span<const wire::CodecCost> on_receiver);

/// Returns "none", "int8", "auto"; of several links that differ "int8, none": a plan's codecs in
/// one word.
std::string codec_text(const std::vector<std::string>& codecs);
/// Returns "none" and every codec of this build that loses nothing, or where some may be lost
/// (above 0) every one.
std::vector<std::string> codecs_losing(double allowed_error);
/// Checks that the name is of a codec, or "auto". Fails: kNotFound, with the names there are.
Expected<> check_codec_name(const std::string& name);

/// Names the codecs that plans leave open. Each link's rate and each device's speed are measured
/// once and kept.
///
/// Threads: one owner.
class CodecChooser {
 public:
  /// allowed_error: what a tensor of a boundary may lose, as CodecError::mean; 0: nothing.
  explicit CodecChooser(double allowed_error = 0) : allowed_error_(allowed_error) {}

  /// Returns the plan's codecs with every "auto" replaced. `devices` and `shards`: of its
  /// stages, loaded. Fails: as the devices do.
  Expected<std::vector<std::string>> choose(const plan::Plan& plan,
                                            const std::vector<DaemonClient*>& devices,
                                            const std::vector<ShardLease>& shards);
  /// Reports that the network is another one from now on, or one that it was before: what was
  /// measured of links holds for that condition alone.
  void network_changed(const std::string& condition) { condition_ = condition; }

 private:
  using Costs = std::vector<wire::CodecCost>;
  Expected<std::string> choose_for_link(const std::string& transport, DaemonClient& sender,
                                        DaemonClient& receiver, const ShardLease& shard);
  Expected<double> rate_of(const std::string& transport, DaemonClient& sender,
                           DaemonClient& receiver);
  Expected<const Costs*> standard_costs_of(DaemonClient& device);

  const double allowed_error_;
  std::string condition_;
  /// Name of a device, and number of its daemon's process. A client's address may be another's
  /// later.
  using DeviceKey = std::pair<std::string, std::uint64_t>;
  static DeviceKey key_of(const DaemonClient& device);
  std::map<std::tuple<std::string, std::string, DeviceKey, DeviceKey>, double>
      rates_;  ///< rates by condition and transport
  std::map<DeviceKey, Costs> standard_costs_;
};

}  // namespace pareto::cluster
