#include "coordinator/cluster/codec_choice.h"

#include <algorithm>
#include <chrono>

#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/wire/codec.h"

namespace pareto::cluster {
namespace {

Nanoseconds decode_of(std::span<const wire::CodecCost> costs, const std::string& codec) {
  const auto found = std::ranges::find(costs, codec, &wire::CodecCost::codec);
  return found == costs.end() ? Nanoseconds{} : found->decode;
}

}  // namespace

double crossing_seconds(const wire::CodecCost& cost, double bytes_per_second) {
  return to_seconds(cost.encode) + static_cast<double>(cost.bytes) / bytes_per_second +
         to_seconds(cost.decode);
}

std::string choose_codec(std::span<const wire::CodecCost> costs, double bytes_per_second,
                         double allowed_error) {
  const wire::CodecCost* best = nullptr;
  for (const wire::CodecCost& cost : costs) {
    if (cost.error > allowed_error) continue;
    if (best == nullptr ||
        crossing_seconds(cost, bytes_per_second) < crossing_seconds(*best, bytes_per_second)) {
      best = &cost;
    }
  }
  return best == nullptr ? "none" : best->codec;
}

std::vector<wire::CodecCost> decoded_elsewhere(std::vector<wire::CodecCost> costs,
                                               std::span<const wire::CodecCost> on_sender,
                                               std::span<const wire::CodecCost> on_receiver) {
  for (wire::CodecCost& cost : costs) {
    const double here = to_seconds(decode_of(on_sender, cost.codec));
    const double there = to_seconds(decode_of(on_receiver, cost.codec));
    if (here <= 0 || there <= 0) continue;
    cost.decode = std::chrono::duration_cast<Nanoseconds>(cost.decode * (there / here));
  }
  return costs;
}

std::string codec_text(const std::vector<std::string>& codecs) {
  if (codecs.empty()) return "none";
  const bool alike = std::ranges::count(codecs, codecs.front()) == std::ssize(codecs);
  return alike ? codecs.front() : join(codecs);
}

std::vector<std::string> codecs_losing(double allowed_error) {
  std::vector<std::string> names{"none"};
  for (const wire::Codec* codec : wire::builtin_codecs()) {
    if (codec->lossless() || allowed_error > 0) names.emplace_back(codec->name());
  }
  return names;
}

Expected<> check_codec_name(const std::string& name) {
  if (name == kAutoCodec) return {};
  PARETO_TRY(wire::find_codec(name));
  return {};
}

Expected<std::vector<std::string>> CodecChooser::choose(const plan::Plan& plan,
                                                        const std::vector<DaemonClient*>& devices,
                                                        const std::vector<ShardLease>& shards) {
  std::vector<std::string> codecs = plan.codecs;
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    if (codecs[i] != kAutoCodec) continue;
    PARETO_ASSIGN(codecs[i], with_context(choose_for_link(plan.transport_of(i + 1), *devices[i],
                                                          *devices[i + 1], shards[i]),
                                          "choosing the codec from stage {} to {}", i, i + 1));
  }
  return codecs;
}

Expected<std::string> CodecChooser::choose_for_link(const std::string& transport,
                                                    DaemonClient& sender, DaemonClient& receiver,
                                                    const ShardLease& shard) {
  PARETO_ASSIGN(const double rate, rate_of(transport, sender, receiver));
  PARETO_ASSIGN(Costs costs, sender.measure_codecs(shard->loaded.handle));
  // Processors of one kind decode alike.
  if (sender.info().cpu.empty() || sender.info().cpu != receiver.info().cpu) {
    PARETO_ASSIGN(const Costs* on_sender, standard_costs_of(sender));
    PARETO_ASSIGN(const Costs* on_receiver, standard_costs_of(receiver));
    costs = decoded_elsewhere(std::move(costs), *on_sender, *on_receiver);
  }
  return choose_codec(costs, rate, allowed_error_);
}

CodecChooser::DeviceKey CodecChooser::key_of(const DaemonClient& device) {
  return {device.config().name, device.info().process};
}

Expected<double> CodecChooser::rate_of(const std::string& transport, DaemonClient& sender,
                                       DaemonClient& receiver) {
  const auto key = std::tuple(condition_, transport, key_of(sender), key_of(receiver));
  if (const auto known = rates_.find(key); known != rates_.end()) return known->second;
  PARETO_ASSIGN(const std::string address, data_address(receiver, transport));
  PARETO_ASSIGN(const LinkSpeed speed, sender.measure_link(transport, address));
  const double rate = speed.bytes_per_second;
  if (!(rate > 0)) {
    return fail(ErrorCode::kCorrupt, "{}: measured a rate of {} bytes/s", sender.config().name,
                rate);
  }
  rates_[key] = rate;
  return rate;
}

Expected<const CodecChooser::Costs*> CodecChooser::standard_costs_of(DaemonClient& device) {
  const DeviceKey key = key_of(device);
  const auto known = standard_costs_.find(key);
  if (known != standard_costs_.end()) return &known->second;
  PARETO_ASSIGN(Costs costs, device.measure_codecs(""));
  return &(standard_costs_[key] = std::move(costs));
}

}  // namespace pareto::cluster
