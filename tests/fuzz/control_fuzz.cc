// Any bytes as a message of the control service: refused, or read, written and read again as it
// was. Words are fit to be shown, and durations are those of a clock.
//
//   input = the kind of message (kControlReaders), then its bytes; of chunks each with 2 bytes of
//   length
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "coordinator/cluster/control_wire.h"
#include "coordinator/cluster/observation_wire.h"
#include "coordinator/cluster/state_reader.h"
#include "core/base/printable.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"
#include "daemon/control/tensor_request.h"
#include "tests/fuzz/check.h"

namespace pareto {
namespace {

using fuzz::check;

namespace v1 = control::v1;

constexpr std::uint64_t kMostStateBytes = 1 << 20;

void check_shown(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) check(is_printable(word));
}

void check_durations(std::initializer_list<Nanoseconds> durations) {
  for (const Nanoseconds duration : durations) {
    check(control::duration_from(duration.count()).has_value());
  }
}

template <typename Value>
const Value* value_of(const Value& read) {
  return &read;
}
template <typename Value>
const Value* value_of(const Expected<Value>& read) {
  if (!read) check_shown({read.error().message});
  return read ? &*read : nullptr;
}

template <typename Message>
bool parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

/// Reads a message, writes it and reads it again.
template <typename Message>
void read_and_write(std::string_view bytes) {
  Message message;
  if (!parse(bytes, message)) return;
  const auto read = control::from_wire(message);
  const auto* const value = value_of(read);
  if (value == nullptr) return;
  const Message written = control::to_wire(*value);
  const auto again = control::from_wire(written);
  const auto* const same = value_of(again);
  check(same != nullptr &&
        control::to_wire(*same).SerializeAsString() == written.SerializeAsString());
}

void read_digests(std::string_view bytes) {
  const auto digests = daemon::digests_from(bytes);
  if (!digests) return;
  v1::MissingTensorsRequest request;
  for (const Digest& digest : *digests) request.add_digests(control::digest_bytes(digest));
  check(request.SerializeAsString() == bytes);
}

void read_tensor(std::string_view bytes) {
  v1::TensorChunk chunk;
  if (!parse(bytes, chunk)) return;
  const auto header = daemon::header_from(chunk);
  if (header) static_cast<void>(daemon::encode_header(*header));
}

void read_state(std::string_view bytes) {
  cluster::StateReader reader(kMostStateBytes);
  while (bytes.size() >= sizeof(std::uint16_t)) {
    std::uint16_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    v1::StateChunk chunk;
    if (!parse(bytes.substr(0, size), chunk)) return;
    if (const auto taken = reader.take(chunk); !taken) return check_shown({taken.error().message});
    bytes.remove_prefix(std::min<std::size_t>(size, bytes.size()));
  }
  const auto tensors = std::move(reader).finish();
  if (!tensors) return check_shown({tensors.error().message});
  std::uint64_t all = 0;
  for (const plan::StateTensor& one : *tensors) all += one.tensor.size_bytes();
  check(all <= kMostStateBytes);
}

void read_description(std::string_view bytes) {
  v1::DescribeReply reply;
  if (!parse(bytes, reply)) return;
  const cluster::DeviceInfo info = cluster::from_wire(reply, "192.0.2.1:7070");
  check_shown({info.version, info.cpu, info.torch_version, info.os, info.device, info.turns});
  for (const auto& [transport, address] : info.data) check_shown({transport, address});
  check(info.cores >= 0 && info.cuda_devices >= 0 && info.threads >= 1 && info.limit_cores >= 0);
  check(std::isfinite(info.cpu_quota) && info.cpu_quota >= 0 && info.limit_busy > 0);
  // A clock of nanoseconds ends in 2262, and the calendar of certificates in 9999.
  if (info.certificate_expires) {
    check(std::chrono::year_month_day(
              std::chrono::floor<std::chrono::days>(*info.certificate_expires))
              .year() <= std::chrono::year(9999));
  }
}

void read_status(std::string_view bytes) {
  v1::StatusReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::from_wire(reply);
  const auto* const status = value_of(read);
  if (status == nullptr) return;
  for (const std::string& shard : status->shards) check_shown({shard});
}

void read_observation(std::string_view bytes) {
  v1::ObserveReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::observation_of(reply);
  const auto* const observation = value_of(read);
  if (observation == nullptr) return;
  check_durations({observation->clock, observation->cpu, observation->turns});
  for (const control::StageActivity& stage : observation->stages) {
    check_durations({stage.wait.sum, stage.compute.sum, stage.receiving, stage.sending});
    check_shown({stage.shard, stage.failure, stage.model, stage.engine, stage.schedule});
  }
  for (const control::Holder& holder : observation->holders) check_shown({to_string(holder)});
}

void read_codec_costs(std::string_view bytes) {
  v1::MeasureCodecsReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::from_wire(reply);
  const auto* const costs = value_of(read);
  if (costs == nullptr) return;
  for (const wire::CodecCost& cost : *costs) {
    check_shown({cost.codec});
    check_durations({cost.encode, cost.decode});
  }
}

void read_profile(std::string_view bytes) {
  v1::ProfileReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::from_wire(reply);
  const auto* const times = value_of(read);
  if (times == nullptr) return;
  for (const Nanoseconds time : times->whole) check_durations({time});
  for (const auto& [position, time] : times->operators) check_durations({time});
}

void read_probe(std::string_view bytes) {
  v1::ProbeLinkReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::from_wire(reply);
  const auto* const result = value_of(read);
  if (result == nullptr) return;
  check_durations({result->round_trip});
  for (const transport::ProbePoint& point : result->points) {
    check_durations({point.interval, point.send_cpu, point.receive_cpu,
                     std::max(point.crossing, -point.crossing)});
  }
}

void read_rate(std::string_view bytes) {
  v1::MeasureRateReply reply;
  if (!parse(bytes, reply)) return;
  const auto read = cluster::from_wire(reply);
  const auto* const speed = value_of(read);
  if (speed == nullptr) return;
  check_durations({speed->round_trip});
  check(std::isfinite(speed->bytes_per_second) && speed->bytes_per_second >= 0);
}

constexpr std::array kControlReaders{
    read_digests,                          // 0
    read_tensor,                           // 1
    read_state,                            // 2
    read_description,                      // 3
    read_status,                           // 4
    read_observation,                      // 5
    read_codec_costs,                      // 6
    read_profile,                          // 7
    read_probe,                            // 8
    read_rate,                             // 9
    read_and_write<v1::RunnerSettings>,    // 10
    read_and_write<v1::LoadShardReply>,    // 11
    read_and_write<v1::OpenStageRequest>,  // 12
    read_and_write<v1::StageStatus>,       // 13
    read_and_write<v1::StageActivity>,     // 14
    read_and_write<v1::MachineState>,      // 15
    read_and_write<v1::Use>,               // 16
    read_and_write<v1::Holder>,            // 17
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // It would tell of every text that is no UTF-8.
  google::protobuf::LogSilencer silent;
  kControlReaders[data[0] % kControlReaders.size()](
      {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}

}  // namespace pareto
