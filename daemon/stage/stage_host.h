// Opens, links, starts and closes all stages of this device. A pipeline's id and a stage number
// name a stage.
//
//   each transport has one LinkAcceptor, which accepts links --hello--> the stage that hello names
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/cpu_quota.h"
#include "core/base/error.h"
#include "core/control/stage_request.h"
#include "core/transport/link_probe.h"
#include "core/transport/transport.h"
#include "daemon/device/device_scheduler.h"
#include "daemon/stage/hosted_stage.h"
#include "daemon/stage/link_acceptor.h"
#include "daemon/stage/link_probe.h"
#include "daemon/stage/probe_links.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_meter.h"

namespace pareto::daemon {

/// One address that links come in at.
struct DataAddress {
  std::string transport;  ///< "tcp"
  std::string address;    ///< "0.0.0.0:7071"
  bool operator==(const DataAddress&) const = default;
};

struct StageHostOptions {
  std::string device;  ///< its name, for errors
  transport::Limits limits;
  /// Limit of the wait for a hello, and for the stage that it names. It is shorter than
  /// control::kHelloPatience, so that a refusal still reaches its peer.
  Nanoseconds hello_timeout = std::chrono::seconds(4);
  Nanoseconds connect_timeout = std::chrono::seconds(8);  ///< limit for connect and hello
  device::DeviceRules rules{.cores = useful_threads()};   ///< how stages share the device
  std::shared_ptr<const tls::Credentials> credentials{};  ///< of links over a network; null: plain
};

/// A request to open a stage, with the objects that its names stand for on this device.
struct OpenStage {
  control::StageRequest asked;
  std::shared_ptr<LoadedShard> shard;
  const wire::Codec* codec = nullptr;  ///< codec of what is sent downstream; null means none
};

/// Addresses at which a stage accepts its links.
struct StageAddresses {
  std::string upstream;
  std::string sink;  ///< empty if there is a next stage
};

/// All stages of a device. It has more than 20 methods: one for each thing that control calls ask
/// of stages. Threads: any.
class StageHost {
 public:
  static constexpr std::uint32_t kMaxQueue = 1024;
  static constexpr std::size_t kMaxStages = 1024;

  /// Listens on every address, in order. `transports` holds every transport that is listened on or
  /// connected by.
  /// Fails: kPermission (port in use), kNotFound (no such transport), kInvalidArgument (an address,
  /// an unknown policy).
  static Expected<std::unique_ptr<StageHost>> listen(
      StageHostOptions options, std::vector<std::shared_ptr<transport::Transport>> transports,
      const std::vector<DataAddress>& addresses);
  /// Ends every stage at once.
  ~StageHost();
  StageHost(const StageHost&) = delete;
  StageHost& operator=(const StageHost&) = delete;

  /// Returns the addresses that peers connect to, in the order given to listen(). They have the
  /// requested hosts and the real ports.
  std::vector<DataAddress> addresses() const;

  /// Returns the size of the largest frame that is accepted on a link.
  std::uint64_t max_frame_bytes() const { return options_.limits.max_frame_bytes; }

  /// Opens a stage. First connects to the next stage, if there is one, and introduces itself. The
  /// links of a stage may have different transports.
  /// Fails: kInvalidArgument (queue, weight, priority, a stage that exists), kNotFound (transport),
  /// kExhausted (too many stages), kUnavailable or kTimeout (the next stage), kPermission (somebody
  /// else answers there than was named), kClosed (the daemon is ending).
  Expected<StageAddresses> open(OpenStage opening);
  /// Starts a stage. Fails: kNotFound, and as Stage::start does.
  Expected<Nanoseconds> start(std::uint64_t pipeline, std::uint32_t stage, TimePoint deadline);
  /// Gives a stage another shard. Fails: kNotFound, and as Stage::change_shard does.
  Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                              std::shared_ptr<LoadedShard> shard);
  /// Closes a stage. Finishes what is in flight if that takes at most half a second, announces the
  /// end to the next stage, and forgets the stage. Returns its last state within a few seconds.
  /// Work that still computes by then is told to stop, and is otherwise left to the WorkWatch.
  /// Fails: kNotFound.
  Expected<control::StageReport> close(std::uint64_t pipeline, std::uint32_t stage);
  /// Returns the state of every stage that has not been forgotten.
  std::vector<control::StageReport> status() const;
  /// Returns what can be watched of every stage that has not been forgotten. Stages that ended are
  /// among them.
  std::vector<WatchedStage> watch() const;
  /// Ends what peers are at whose certificates do not hold any more: stages, which fail, and links
  /// that wait or are measured. To be called after credentials were refreshed; later ones are
  /// judged when they come.
  void end_refused();
  /// Returns the turns in which the stages compute.
  device::DeviceScheduler& turns() { return *turns_; }
  const device::DeviceScheduler& turns() const { return *turns_; }
  /// Returns counts of all stages, including those that are gone.
  const StageMeters& meters() const { return meters_; }
  /// Measures the speed of a link from here to another daemon's data address. The link is used for
  /// nothing else.
  /// Fails: kNotFound (transport), kClosed (the daemon ends meanwhile), and as measure_link() of
  /// link_probe.h does.
  Expected<LinkSpeed> measure_link(const std::string& transport, const std::string& address,
                                   TimePoint deadline);
  /// Measures how long messages take from here to another daemon's data address.
  /// Fails: as measure_link() and transport::probe_link() do.
  Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                              const std::string& address,
                                              const transport::ProbeOptions& options,
                                              TimePoint deadline);

  /// Refuses new links, stages and requests, and waits until what is in flight has been sent.
  /// Returns how many stages were cut off at the deadline.
  std::size_t drain(TimePoint deadline);

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  struct Listening {
    std::shared_ptr<transport::Transport> transport;
    std::string address;
    std::unique_ptr<LinkAcceptor> acceptor;
  };
  using Stages = std::map<Key, std::shared_ptr<HostedStage>>;

  explicit StageHost(StageHostOptions options) : options_(std::move(options)) {}
  Expected<const Listening*> listening_on(const std::string& transport) const;
  /// Returns the transport to connect by, even if no address listens on it.
  Expected<transport::Transport*> transport_named(const std::string& name) const;
  Expected<std::shared_ptr<HostedStage>> find(const Key& key) const;
  /// Checks that this device can tell who answers over a transport. Fails: kPermission.
  Expected<> check_can_tell(const transport::Transport& transport) const;
  Expected<std::unique_ptr<transport::Link>> connect_downstream(transport::Transport& transport,
                                                                const OpenStage& request) const;
  /// Calls measure(link) with a link that is used for nothing else.
  template <typename Measure>
  auto on_probe(const std::string& transport, const std::string& address, TimePoint deadline,
                Measure measure) -> decltype(measure(std::declval<transport::Link&>()));
  Expected<> greet(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                   TimePoint deadline);
  Expected<> check_room(const Key& key) const;
  std::vector<std::shared_ptr<HostedStage>> take_forgotten();
  /// Closes a stage, and keeps it if one of its threads still computes.
  void retire(std::shared_ptr<HostedStage> stage);
  /// Closes the listeners and takes all stages. From then on open() fails.
  Stages take_all();

  const StageHostOptions options_;
  std::vector<std::shared_ptr<transport::Transport>> transports_;
  std::unique_ptr<device::DeviceScheduler> turns_;
  StageMeters meters_;
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool closing_ = false;
  Stages stages_;
  ProbeLinks probes_;
  /// Closed stages of which a thread has not ended.
  std::vector<std::shared_ptr<HostedStage>> computing_still_;
  // These are last: their threads use all of the above.
  std::vector<Listening> listening_;
};

}  // namespace pareto::daemon
