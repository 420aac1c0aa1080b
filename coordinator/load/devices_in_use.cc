#include "coordinator/load/devices_in_use.h"

#include <utility>

namespace pareto::load {

Expected<> DevicesInUse::use(const std::vector<std::string>& devices) {
  const std::lock_guard lock(mutex_);
  for (const std::string& device : devices) {
    if (given_up_.contains(device)) return fail(ErrorCode::kUnavailable, "{}: it is lost", device);
  }
  for (const std::string& device : devices) ++users_[device];
  return {};
}

void DevicesInUse::leave(const std::vector<std::string>& devices) {
  const std::lock_guard lock(mutex_);
  for (const std::string& device : devices) --users_[device];
}

void DevicesInUse::give_up(const std::string& device) {
  const std::lock_guard lock(mutex_);
  given_up_.insert(device);
}

bool DevicesInUse::is_given_up(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  return given_up_.contains(device);
}

std::set<std::string> DevicesInUse::given_up() const {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

bool DevicesInUse::begin_replacing(const std::string& device) {
  const std::lock_guard lock(mutex_);
  return given_up_.contains(device) && users_[device] == 0 && replaced_.insert(device).second;
}

void DevicesInUse::end_replacing(const std::string& device, bool back) {
  const std::lock_guard lock(mutex_);
  replaced_.erase(device);
  if (back) given_up_.erase(device);
}

Expected<UseOfDevices> UseOfDevices::begin(DevicesInUse& devices, std::vector<std::string> names) {
  PARETO_TRY(devices.use(names));
  return UseOfDevices(devices, std::move(names));
}

UseOfDevices::~UseOfDevices() {
  if (devices_ != nullptr) devices_->leave(names_);
}

UseOfDevices::UseOfDevices(UseOfDevices&& other) noexcept
    : devices_(std::exchange(other.devices_, nullptr)), names_(std::move(other.names_)) {}

}  // namespace pareto::load
