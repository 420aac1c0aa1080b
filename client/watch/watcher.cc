#include "client/watch/watcher.h"

#include <thread>
#include <utility>

namespace pareto::watch {

Watcher::Watcher(std::vector<cluster::DeviceConfig> devices, Connect connect)
    : connect_(std::move(connect)) {
  for (cluster::DeviceConfig& config : devices) devices_.push_back({std::move(config), nullptr});
}

DeviceReading Watcher::ask(Device& device, std::chrono::milliseconds patience) const {
  DeviceReading reading;
  reading.name = device.config.name;
  reading.address = device.config.address;
  const auto observed = [&]() -> Expected<cluster::Observation> {
    if (!device.client) {
      PARETO_ASSIGN(device.client, connect_(device.config, patience));
    }
    return device.client->observe(patience);
  }();
  if (!observed) {
    reading.problem = observed.error().message;
    device.client.reset();
    return reading;
  }
  reading.cores = device.client->info().cores;
  reading.runs_on = device.client->info().device;
  reading.imitated = device.client->info().imitated;
  reading.observation = *observed;
  return reading;
}

std::vector<DeviceReading> Watcher::read(std::chrono::milliseconds patience) {
  std::vector<DeviceReading> readings(devices_.size());
  {
    std::vector<std::jthread> asking;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      asking.emplace_back([&, i] { readings[i] = ask(devices_[i], patience); });
    }
  }
  return readings;
}

}  // namespace pareto::watch
