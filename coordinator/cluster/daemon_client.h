// One daemon as the coordinator sees it: the calls of proto/control.proto as an interface, so that
// tests deploy to fakes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/clock_offset.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/observation.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/control/device_use.h"
#include "core/control/shard_report.h"
#include "core/control/shard_settings.h"
#include "core/control/stage_report.h"
#include "core/control/stage_request.h"
#include "core/plan/condition.h"
#include "core/plan/shard.h"
#include "core/plan/training_values.h"
#include "core/tensor/tensor.h"
#include "core/tls/identity.h"
#include "core/transport/link_options.h"
#include "core/transport/link_probe.h"
#include "core/transport/place.h"
#include "core/wire/codec_cost.h"

namespace pareto::cluster {

/// Facts that a device stated when it was connected.
struct DeviceInfo {
  std::string version;
  std::uint32_t protocol = 0;  ///< the newest that its daemon and this program speak
  std::uint64_t process = 0;   ///< a random number of its daemon's process; 0: not said
  std::string cpu;
  int cores = 1;
  std::uint64_t memory_bytes = 0;        ///< physical
  std::uint64_t memory_limit_bytes = 0;  ///< bytes that shards may take; 0 = no limit
  std::string torch_version;
  bool fast_bf16 = false;
  bool trains = false;  ///< its daemon knows shards that are trained
  int cuda_devices = 0;
  std::vector<std::string> engines;
  std::map<std::string, std::string>
      data;  ///< transport -> address; an unspecified host is already replaced
  std::uint64_t store_bytes = 0;
  std::uint64_t store_limit_bytes = 0;
  std::string os;
  int threads = 1;                     ///< threads of a shard whose settings name no number
  std::string device;                  ///< device that shards run on: "cpu", "cuda:0"
  transport::Place place;              ///< place of its daemon's process
  double cpu_quota = 0;                ///< processor time that it may take, in cores; 0: no limit
  std::uint64_t store_free_bytes = 0;  ///< free space of the file system that holds its store
  std::uint64_t max_frame_bytes = 0;   ///< the largest frame that it takes on a link; 0: not said
  bool imitated = false;  ///< it computes as slowly, or as steadily, as another device would
  /// The order in which its stages compute; empty: its daemon knows neither weights nor priorities
  /// nor deadlines.
  std::string turns;
  int limit_cores = 0;    ///< cores that its stages may compute on together; 0: no limit
  double limit_busy = 1;  ///< share of the time for which they may compute; 1: no limit
  bool insecure = false;  ///< its daemon lets everybody in
  std::optional<tls::Identity> identity{};  ///< whom its certificate names; no value: no TLS
  /// When its certificate expires; none if it has none.
  std::optional<std::chrono::sys_seconds> certificate_expires{};
};

/// The addresses that the links which a stage accepts come to.
struct OpenedStage {
  std::string upstream;
  std::string sink;  ///< empty where there is a next stage
};

struct DeviceStatus {
  std::vector<control::StageReport> stages;
  std::vector<std::string> shards;  ///< handles of those that this session loaded
  std::size_t other_shards = 0;     ///< number of those of other sessions
  std::size_t other_stages = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t peak_resident_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t store_tensors = 0;
};

/// A tensor and the digest of its dense bytes.
struct NamedTensor {
  Digest digest;
  Tensor tensor;
};

/// The times that a shard took on a device.
struct ShardTimes {
  std::vector<Nanoseconds> whole;  ///< times in the engine in use, run by run
  std::map<std::int64_t, Nanoseconds>
      operators;  ///< median time of each operator in the plain engine, by position in the model
};

struct LinkSpeed {
  double bytes_per_second = 0;  ///< rate of large messages
  Nanoseconds round_trip{};     ///< round trip of a small message
};

/// A request to make a device's network worse: proto/control.proto, Emulate.
struct EmulationRequest {
  std::string interface;
  plan::Condition condition;
  std::string name;  ///< name of the condition
  bool control_interface_too = false;
};

struct EmulationLease {
  std::uint64_t number = 0;
  std::chrono::milliseconds duration{};  ///< time until it has to be renewed
};

/// One daemon. Every call has a deadline; an error begins with the device's name. The class has a
/// method for each call of proto/control.proto: this is why there are more than 20.
///
/// Fails: as the daemon says (kInvalidArgument, kNotFound, kCorrupt, kExhausted, kPermission,
/// kInternal, kClosed), kUnavailable (nobody answers at its address), kTimeout.
///
/// Threads: any.
class DaemonClient {
 public:
  virtual ~DaemonClient() = default;
  virtual const DeviceConfig& config() const = 0;
  virtual const DeviceInfo& info() const = 0;

  /// Names the data addresses of all devices that this coordinator works with. The daemon opens
  /// links to no others. It is told before the next call that opens one.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it move them.
  virtual void name_peers(std::vector<std::string> /*addresses*/) {}
  /// Hears of those who use a device whose turn is waited for. Returns whether to go on waiting.
  using Waiting = std::function<bool(const std::vector<control::Holder>&)>;
  /// Takes the device for a use, and waits for it until the deadline. Until then it is shared.
  /// Returns the last known term of the lease, 0 if none is. Fails: kUnavailable (others use it),
  /// kPermission (the term of the lease is over).
  virtual Expected<std::uint64_t> take(const control::DeviceUse& /*use*/, TimePoint /*until*/,
                                       const Waiting& /*waiting*/) {
    return std::uint64_t{0};
  }
  /// Lets the device go, with all that was loaded and opened there.
  virtual void release() {}
  /// Returns those that the device's store lacks.
  virtual Expected<std::vector<Digest>> missing_tensors(const std::vector<Digest>& digests) = 0;
  /// Streams them in chunks of at most 1 MiB.
  virtual Expected<> put_tensors(const std::vector<NamedTensor>& tensors) = 0;
  /// Loads a shard. The daemon counts: each load_shard needs one unload_shard.
  virtual Expected<control::ShardReport> load_shard(const plan::Shard& shard,
                                                    const control::ShardSettings& settings) = 0;
  /// Returns what the device's shards take from then on, as ShardReport::shards_bytes.
  virtual Expected<std::uint64_t> unload_shard(const std::string& handle) = 0;
  /// Returns parameters and buffers of a shard that is trained, and its optimiser's state, together
  /// at most `most_bytes`. Fails: kCorrupt or kExhausted too (what came is no such state).
  virtual Expected<std::vector<plan::StateTensor>> training_state(const std::string& handle,
                                                                  std::uint64_t most_bytes) = 0;
  virtual Expected<OpenedStage> open_stage(const control::StageRequest& request) = 0;
  /// Returns the smallest round trip of the stage's downstream link; 0 where the sink connects.
  virtual Expected<Nanoseconds> start_stage(std::uint64_t pipeline, std::uint32_t stage,
                                            std::chrono::milliseconds timeout) = 0;
  /// Changes the shard of a stage that runs and has no request in flight: from now on it runs the
  /// shard of that handle. Returns what it had done before. Fails: kExhausted too if its downstream
  /// link is not warm for what the shard sends.
  virtual Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                                      const std::string& handle) = 0;
  virtual Expected<control::StageReport> close_stage(std::uint64_t pipeline,
                                                     std::uint32_t stage) = 0;
  /// Asks for the stages and shards that the daemon has, and its memory. Fails: kUnavailable too
  /// where what was loaded and opened there is gone, though the device answers: it restarted, or
  /// was out of reach.
  virtual Expected<DeviceStatus> status(std::chrono::milliseconds timeout) = 0;
  /// Returns what the device does and how it is, now. Fails: kCorrupt too.
  virtual Expected<Observation> observe(std::chrono::milliseconds timeout) = 0;
  /// Measures what each codec costs on the device. The value is what a loaded shard sends when it
  /// runs on example inputs. With an empty handle, it is a tensor that is the same on all devices.
  virtual Expected<std::vector<wire::CodecCost>> measure_codecs(const std::string& handle) = 0;
  /// Measures how long a loaded shard takes on example inputs of that batch, in `repeats` runs. Its
  /// operators run one by one in the plain engine, `operator_repeats` times. 0 means not at all. No
  /// run may take longer than `of_a_run`.
  virtual Expected<ShardTimes> profile(const std::string& handle, std::int64_t batch, int repeats,
                                       int operator_repeats,
                                       std::chrono::milliseconds of_a_run) = 0;
  /// Measures what messages take on their way from the device to another one's data address.
  virtual Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                                      const std::string& address,
                                                      const transport::ProbeOptions& options,
                                                      std::chrono::milliseconds timeout) = 0;
  /// Measures the link from the device to another one's data address.
  virtual Expected<LinkSpeed> measure_link(const std::string& transport,
                                           const std::string& address) = 0;
  /// Emulates until the lease runs out or is ended. Fails: kPermission (the device does not allow
  /// it), kUnavailable.
  virtual Expected<EmulationLease> emulate(const EmulationRequest& request) = 0;
  /// Renews the lease for the same time again. Fails: kNotFound (it ran out).
  virtual Expected<> renew_emulation(std::uint64_t lease) = 0;
  virtual Expected<> end_emulation(std::uint64_t lease) = 0;
  /// Measures the clock of its stages' timelines against this process's steady_clock. Keeps the
  /// best of `probes` exchanges (at least 1).
  virtual Expected<ClockOffset> clock_offset(int probes) = 0;

  /// Makes every later call, and those under way, fail at once. Meant for a device that is lost:
  /// who undoes what was set up there then waits for nothing.
  virtual void abandon() {}

  /// Returns the bytes of weights that put_tensors handed to the device so far.
  virtual std::uint64_t weights_sent_bytes() const = 0;
};

/// Connects over gRPC and exchanges protocol versions. Of a service of DNS its hosts are tried one
/// after the other, each for `timeout`; the one that answers is what config() names from then on.
/// Fails: kUnavailable, kTimeout, kInvalidArgument (another protocol version, both named);
/// find_service's.
Expected<std::unique_ptr<DaemonClient>> connect_daemon(const DeviceConfig& config,
                                                       std::chrono::milliseconds timeout);

/// Returns the terms of a link from here to a device: over TLS and to nobody else, if its control
/// was reached so.
transport::LinkOptions link_options_to(const DaemonClient& device);

/// Names all devices' data addresses to each of them. Null ones are left out.
void name_peers(const std::vector<DaemonClient*>& devices);

/// Returns "10.0.0.2:7071" for ("0.0.0.0:7071", "10.0.0.2:7070"): an unspecified host means the
/// host the coordinator reached.
std::string resolve_data_address(const std::string& data, const std::string& control);

}  // namespace pareto::cluster
