// A daemon inside the test: the calls of DaemonClient answered from memory, its stages threads over
// an in-process transport.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "core/transport/transport.h"
#include "tests/coordinator/support/fake_stage.h"

namespace pareto::test {

/// A daemon whose device, weights and failures a test decides.
///
/// Threads: any.
class FakeDaemon final : public cluster::DaemonClient {
 public:
  FakeDaemon(std::string name, transport::Transport& transport);
  ~FakeDaemon() override;

  // What a test may do to it.
  /// Ends as a killed process does: its links break and nobody answers any more.
  void die();
  /// Stops as a process that gets SIGSTOP does: its stages swallow requests, and each call fails as
  /// if its time had run out, until the client is abandoned.
  void stop();
  /// Limits the weights of what is loaded.
  void set_memory_limit(std::uint64_t bytes) { info_.memory_limit_bytes = bytes; }
  /// Sets where it says it is, and whether it serves a transport that only a machine's own
  /// processes reach.
  void set_place(const transport::Place& place, bool serves_shm) {
    info_.place = place;
    if (serves_shm) info_.data["shm"] = "fake";
  }
  /// Sets what it measures of codecs.
  void set_codec_costs(std::vector<wire::CodecCost> of_shards,
                       std::vector<wire::CodecCost> standard) {
    shard_costs_ = std::move(of_shards);
    standard_costs_ = std::move(standard);
  }
  /// Sets what each operator of the fake model takes when it is profiled, and each shard beyond its
  /// operators; its stages say so too.
  void set_operator_time(Nanoseconds time, Nanoseconds of_shard) {
    script_.operator_time = time;
    script_.shard_time = of_shard;
  }
  /// Refuses to profile, as a device does if made-up requests do not fit a shard.
  void refuse_examples() { refusing_examples_ = true; }
  /// Lets every other request take more of each stage.
  void set_sway(Nanoseconds more) { script_.sway = more; }
  /// Sets the rate of each of its links, and of those over one transport.
  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
  void set_rate_over(const std::string& transport, double bytes_per_second) {
    rates_[transport] = bytes_per_second;
  }
  /// Lets its stages answer steps of training, and says so.
  void serve_training() {
    info_.trains = true;
    script_.training = true;
  }
  void set_round_trip(Nanoseconds round_trip) { round_trip_ = round_trip; }
  void set_netem_interface(const std::string& name) { config_.netem_interface = name; }
  void serve_tcp() { info_.data["tcp"] = "test:2"; }
  /// Lets its stages be spoken to by that name too; it is the same transport.
  void serve(const std::string& transport) { info_.data[transport] = listener_->address(); }
  void set_cpu(std::string cpu) { info_.cpu = std::move(cpu); }
  void set_process(std::uint64_t process) { info_.process = process; }
  /// Sets what its shards run on.
  void set_device(std::string device) { info_.device = std::move(device); }
  void set_cores(int cores) { info_.cores = cores; }
  /// Sets what its owner lets stages have of it: cores (0: all), and a share of the time.
  void set_limits(int cores, double busy) {
    info_.limit_cores = cores;
    info_.limit_busy = busy;
  }
  void fail_loads(std::optional<Error> error);
  void fail_start(std::optional<Error> error);
  void fail_changes(std::optional<Error> error);
  /// Lets its stages answer this request of every pipeline with an error.
  void fail_request(std::uint64_t request) { script_.failing_request = request; }
  /// Makes it die when it is sent this request.
  void die_at_request(std::uint64_t request) { script_.last_request = request; }
  /// Lets its stages say that they failed for this reason.
  void fail_stages(std::string failure) {
    const std::lock_guard lock(mutex_);
    stage_failure_ = std::move(failure);
  }
  /// Lets its stages swallow requests.
  void hang() { script_.hanging = true; }
  /// Lets status() answer nothing until the client is abandoned, or its time has run out.
  void hold_status() { holding_status_ = true; }
  bool is_abandoned() const { return abandoned_; }

  /// Sets what it says its clock shows. The times of its stages are on the real one all the same.
  void set_clock(cluster::ClockOffset clock) { clock_ = clock; }
  /// Sets what it answers when it is observed.
  void set_observation(cluster::Observation observation);
  /// Lets its stages say that they took less than no time.
  void misreport() { script_.misreporting = true; }

  /// Bounds its store, after all.
  void forget_tensors();

  // What a test may look at.
  std::size_t open_stages() const;
  std::size_t loaded_shards() const;
  /// Returns the number of calls that would have waited for an answer until their time ran out.
  int calls_waited() const { return calls_waited_; }
  /// Returns the number of requests that its stages swallowed.
  std::uint64_t requests_swallowed() const;
  int stages_opened() const;
  int loads() const { return loads_; }
  /// Returns the settings of every shard that was loaded, in order.
  std::vector<control::ShardSettings> load_settings() const;
  int rates_measured() const { return rates_measured_; }
  /// Returns the codec of every stage that was opened, in order.
  std::vector<std::string> codecs() const;
  /// Returns "tcp>shm" of a stage whose upstream comes by tcp and whose next one, or sink, by shm.
  std::vector<std::string> transports() const;

  /// Returns what it was asked to do to its network; no value means nothing, or no more.
  std::optional<cluster::EmulationRequest> emulated() const;
  /// Forgets the emulation, as a device whose lease ran out.
  void forget_emulation();
  int renewals() const;
  /// Waits for renewals. False if they do not come within a minute.
  bool wait_for_renewals(int count) const;

  const cluster::DeviceConfig& config() const override { return config_; }
  const cluster::DeviceInfo& info() const override { return info_; }
  Expected<std::vector<Digest>> missing_tensors(const std::vector<Digest>& digests) override;
  Expected<> put_tensors(const std::vector<cluster::NamedTensor>& tensors) override;
  Expected<control::ShardReport> load_shard(const plan::Shard& shard,
                                            const control::ShardSettings& settings) override;
  Expected<std::uint64_t> unload_shard(const std::string& handle) override;
  Expected<std::vector<plan::StateTensor>> training_state(const std::string& /*handle*/,
                                                          std::uint64_t /*most_bytes*/) override {
    return fail(ErrorCode::kInvalidArgument, "it trains nothing");
  }
  Expected<cluster::OpenedStage> open_stage(const control::StageRequest& request) override;
  Expected<Nanoseconds> start_stage(std::uint64_t pipeline, std::uint32_t stage,
                                    std::chrono::milliseconds timeout) override;
  Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                              const std::string& handle) override;
  Expected<control::StageReport> close_stage(std::uint64_t pipeline, std::uint32_t stage) override;
  Expected<cluster::DeviceStatus> status(std::chrono::milliseconds timeout) override;
  Expected<cluster::Observation> observe(std::chrono::milliseconds timeout) override;
  Expected<std::vector<wire::CodecCost>> measure_codecs(const std::string& handle) override;
  Expected<cluster::ShardTimes> profile(const std::string& handle, std::int64_t batch, int repeats,
                                        int operator_repeats,
                                        std::chrono::milliseconds of_a_run) override;
  Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                              const std::string& address,
                                              const transport::ProbeOptions& options,
                                              std::chrono::milliseconds timeout) override;
  Expected<cluster::LinkSpeed> measure_link(const std::string& transport,
                                            const std::string& address) override;
  Expected<cluster::EmulationLease> emulate(const cluster::EmulationRequest& request) override;
  Expected<> renew_emulation(std::uint64_t lease) override;
  Expected<> end_emulation(std::uint64_t lease) override;
  Expected<cluster::ClockOffset> clock_offset(int probes) override;
  void abandon() override;
  std::uint64_t weights_sent_bytes() const override { return sent_bytes_; }

 private:
  using StageKey = std::pair<std::uint64_t, std::uint32_t>;
  struct Held {
    std::int64_t begin = 0;
    std::int64_t operators = 0;
    std::uint64_t bytes = 0;
  };

  Expected<> alive() const;
  void accept_links();

  cluster::DeviceConfig config_;
  cluster::DeviceInfo info_;
  transport::Transport& transport_;
  std::atomic<bool> dead_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> holding_status_{false};
  mutable std::atomic<int> calls_waited_{0};
  StageScript script_;
  std::atomic<bool> refusing_examples_{false};
  cluster::ClockOffset clock_;
  std::vector<wire::CodecCost> shard_costs_;
  std::vector<wire::CodecCost> standard_costs_;
  double rate_over(const std::string& transport) const;
  double rate_ = 1e6;
  std::map<std::string, double> rates_;
  Nanoseconds round_trip_{};
  std::atomic<int> rates_measured_{0};
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::atomic<int> loads_{0};
  /// Returns the bytes of its shards. Called under the mutex.
  std::uint64_t shards_bytes() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Digest> store_;
  std::map<std::string, Held> shards_;
  std::vector<control::ShardSettings> load_settings_;
  std::vector<std::string> codecs_;
  std::vector<std::string> transports_;
  cluster::Observation observation_;
  std::optional<cluster::EmulationRequest> emulated_;
  std::uint64_t leases_ = 0;
  int renewals_ = 0;
  mutable std::condition_variable renewed_;
  std::optional<Error> load_error_;
  std::optional<Error> start_error_;
  std::optional<Error> change_error_;
  std::string stage_failure_;  ///< empty: they run
  std::map<StageKey, std::shared_ptr<FakeStage>> stages_;
  std::vector<std::jthread> probes_;  ///< links that are measured from here
  std::unique_ptr<transport::Listener> listener_;
  std::jthread accepting_;
};

}  // namespace pareto::test
