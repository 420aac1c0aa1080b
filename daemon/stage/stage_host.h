// All stages of this device: opened, linked, started and closed by name of pipeline and stage number.
//
//   links come in at one LinkDoor per transport --hello--> the stage it names
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/stage_request.h"
#include "core/transport/link_probe.h"
#include "core/transport/transport.h"
#include "daemon/stage/link_door.h"
#include "daemon/stage/link_probe.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage.h"
#include "daemon/stage/stage_meter.h"

namespace pareto::daemon {

struct DataAddress {
  std::string transport;  ///< "tcp"
  std::string address;    ///< "0.0.0.0:7071"
  bool operator==(const DataAddress&) const = default;
};

struct StageHostOptions {
  std::string device;  ///< for errors
  transport::Limits limits;
  Nanoseconds hello_timeout = std::chrono::seconds(5);
  Nanoseconds connect_timeout = std::chrono::seconds(8);  ///< to the next stage, hello included
};

/// A request to open a stage, with what its names stand for on this device.
struct OpenStage {
  control::StageRequest asked;
  std::shared_ptr<LoadedShard> shard;
  const wire::Codec* codec = nullptr;  ///< of what is sent downstream; null: none
};

/// Where the links that a stage accepts come to.
struct StageAddresses {
  std::string upstream;
  std::string sink;  ///< empty where there is a next stage
};

/// Threads: any.
class StageHost {
 public:
  static constexpr std::uint32_t kMaxQueue = 1024;
  static constexpr std::size_t kMaxStages = 1024;

  /// Listens on every address, in order. `transports` holds one of each name used there, and of each that is only connected by. Fails: kPermission (port in use),
  /// kNotFound (no such transport), kInvalidArgument.
  static Expected<std::unique_ptr<StageHost>> listen(
      StageHostOptions options, std::vector<std::shared_ptr<transport::Transport>> transports,
      const std::vector<DataAddress>& addresses);
  /// Ends every stage at once.
  ~StageHost();
  StageHost(const StageHost&) = delete;
  StageHost& operator=(const StageHost&) = delete;

  /// Where peers connect to, in the order given to listen(): the hosts asked for, with the real ports.
  std::vector<DataAddress> addresses() const;

  /// Largest frame that is taken on a link.
  std::uint64_t max_frame_bytes() const { return options_.limits.max_frame_bytes; }

  /// Connects and introduces itself to the next stage, if there is one; afterwards the stage takes its links. Each may be of another
  /// transport. Fails: kInvalidArgument (queue, a stage that is there already), kNotFound (transport), kExhausted (too many
  /// stages), kUnavailable or kTimeout (the next stage), kClosed (the daemon is ending).
  Expected<StageAddresses> open(OpenStage opening);
  /// Fails: kNotFound, and as Stage::start does.
  Expected<Nanoseconds> start(std::uint64_t pipeline, std::uint32_t stage, TimePoint deadline);
  /// Fails: kNotFound, and as Stage::change_shard does.
  Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                              std::shared_ptr<LoadedShard> shard);
  /// Finishes what is in flight if that takes no more than half a second, announces the end to the next stage, and forgets the stage.
  /// Returns its last state, within a few seconds: what computes by then is told to stop, and otherwise left to the WorkWatch. Fails:
  /// kNotFound.
  Expected<control::StageReport> close(std::uint64_t pipeline, std::uint32_t stage);
  std::vector<control::StageReport> status() const;
  /// Of every stage that has not been forgotten, those that ended too.
  std::vector<WatchedStage> watch() const;
  /// What all stages did, those that are gone too.
  const StageMeters& meters() const { return meters_; }
  /// Bytes a second that a link of its own carries from here to another daemon's data address. Fails: kNotFound (transport), and as
  /// measure_link does; kClosed where the daemon ends meanwhile.
  Expected<LinkSpeed> measure_link(const std::string& transport, const std::string& address,
                                   TimePoint deadline);
  /// What messages take from here to another daemon's data address. Fails: as measure_link() and transport::probe_link do.
  Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                              const std::string& address,
                                              const transport::ProbeOptions& options,
                                              TimePoint deadline);

  /// No more links, stages and requests; waits until what is in flight has been sent. Returns how many stages were not done at the
  /// deadline and were cut off.
  std::size_t drain(TimePoint deadline);

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  struct Door {
    std::shared_ptr<transport::Transport> transport;
    std::string address;
    std::unique_ptr<LinkDoor> door;
  };
  /// A link that nobody but one call uses: closed when the daemon ends.
  class Probe;
  using Stages = std::map<Key, std::shared_ptr<Stage>>;

  explicit StageHost(StageHostOptions options) : options_(std::move(options)) {}
  Expected<const Door*> door_of(const std::string& transport) const;
  /// To connect by, whether or not it is listened on.
  Expected<transport::Transport*> transport_named(const std::string& name) const;
  Expected<std::shared_ptr<Stage>> find(const Key& key) const;
  Expected<std::unique_ptr<transport::Link>> connect_downstream(transport::Transport& transport,
                                                                const OpenStage& request) const;
  /// Calls measure(link) with a link that nobody else uses.
  template <typename Measure>
  auto on_probe(const std::string& transport, const std::string& address, TimePoint deadline,
                Measure measure) -> decltype(measure(std::declval<transport::Link&>()));
  Expected<> greet(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                   TimePoint deadline);
  Expected<> check_room(const Key& key) const;
  std::vector<std::shared_ptr<Stage>> take_forgotten();
  /// Closes a stage, and keeps it if a thread of it still computes.
  void retire(std::shared_ptr<Stage> stage);
  /// Every stage, and no more of them: doors are closed and open() fails from now on.
  Stages take_all();

  const StageHostOptions options_;
  std::vector<std::shared_ptr<transport::Transport>> transports_;
  StageMeters meters_;
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool closing_ = false;
  Stages stages_;
  std::set<transport::Link*> probes_;
  std::vector<std::shared_ptr<Stage>>
      computing_still_;  ///< closed; a thread of theirs has not ended
  // Last: their threads use all of the above.
  std::vector<Door> doors_;
};

}  // namespace pareto::daemon
