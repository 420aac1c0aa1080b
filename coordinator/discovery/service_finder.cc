#include "coordinator/discovery/service_finder.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/transport/address.h"

namespace pareto::discovery {
namespace {

/// Returns whether an address only means something together with an interface of the host that is
/// asked.
bool is_link_local(std::string_view address) { return address.starts_with("fe80:"); }

bool is_ipv4(std::string_view address) { return address.find(':') == std::string_view::npos; }

}  // namespace

std::string FoundDevice::control_address() const {
  return transport::to_string({addresses.front(), port});
}

std::vector<DnsQuestion> ServiceFinder::open_questions() const {
  std::vector<DnsQuestion> questions;
  for (const Instance& instance : instances_) {
    if (instance.host.empty()) questions.push_back({instance.name, DnsType::kSrv});
    if (!instance.has_text) questions.push_back({instance.name, DnsType::kTxt});
    if (!instance.host.empty() && instance.addresses.empty()) {
      questions.push_back({instance.host, DnsType::kA});
      questions.push_back({instance.host, DnsType::kAaaa});
    }
  }
  return questions;
}

bool ServiceFinder::take(const DnsMessage& message, std::string_view sender) {
  bool news = false;
  // Records come in any order; each kind is of use only once those before it are known.
  const auto each = [&](const auto& use) {
    for (const auto* records : {&message.answers, &message.additional}) {
      for (const DnsRecord& record : *records) {
        // 0 takes back what was said.
        if (record.ttl_s > 0 && use(record)) news = true;
      }
    }
  };
  each([&](const DnsRecord& record) {
    const auto* pointer = std::get_if<DnsPointer>(&record.data);
    return pointer != nullptr && same_name(record.name, service_) && add_instance(pointer->name);
  });
  each([&](const DnsRecord& record) {
    if (const auto* service = std::get_if<DnsService>(&record.data)) return add(record, *service);
    if (const auto* text = std::get_if<DnsText>(&record.data)) return add(record, *text);
    return false;
  });
  each([&](const DnsRecord& record) {
    const auto* address = std::get_if<DnsAddress>(&record.data);
    return address != nullptr && add(record, *address, sender);
  });
  return news;
}

bool ServiceFinder::add_instance(const DnsName& name) {
  // "pi-1" of "_pareto-edge._tcp.local".
  if (name.size() != service_.size() + 1 || !same_name({name.begin() + 1, name.end()}, service_) ||
      !is_printable(name.front()) || instances_.size() >= kMostDevices) {
    return false;
  }
  const auto same = [&](const Instance& known) { return same_name(known.name, name); };
  if (std::ranges::any_of(instances_, same)) return false;
  instances_.push_back({.name = name});
  return true;
}

bool ServiceFinder::add(const DnsRecord& record, const DnsService& service) {
  if (service.port == 0 || service.target.empty() ||
      !std::ranges::all_of(service.target, is_printable)) {
    return false;
  }
  bool news = false;
  for (Instance& instance : instances_) {
    if (!instance.host.empty() || !same_name(instance.name, record.name)) continue;
    instance.host = service.target;
    instance.port = service.port;
    news = true;
  }
  return news;
}

bool ServiceFinder::add(const DnsRecord& record, const DnsText& text) {
  bool news = false;
  for (Instance& instance : instances_) {
    if (instance.has_text || !same_name(instance.name, record.name)) continue;
    instance.has_text = news = true;
    for (const std::string& entry : text.strings) {
      if (!is_printable(entry)) continue;
      if (entry.starts_with("version=")) instance.version = entry.substr(8);
      if (entry.starts_with("name=")) instance.device_name = entry.substr(5);
    }
  }
  return news;
}

bool ServiceFinder::add(const DnsRecord& record, const DnsAddress& address,
                        std::string_view sender) {
  if (is_link_local(address.text)) return false;
  bool news = false;
  for (Instance& instance : instances_) {
    std::vector<std::string>& known = instance.addresses;
    if (instance.host.empty() || !same_name(instance.host, record.name) ||
        known.size() >= kMostAddresses || std::ranges::find(known, address.text) != known.end()) {
      continue;
    }
    known.insert(address.text == sender ? known.begin() : known.end(), address.text);
    news = true;
  }
  return news;
}

std::vector<FoundDevice> ServiceFinder::found() const {
  std::vector<FoundDevice> devices;
  for (const Instance& instance : instances_) {
    if (instance.addresses.empty()) continue;
    devices.push_back({instance.name.front(), instance.device_name, join(instance.host, "."),
                       instance.port, instance.addresses, instance.version});
    auto& addresses = devices.back().addresses;
    std::stable_partition(addresses.begin(), addresses.end(), is_ipv4);
  }
  std::ranges::sort(devices, {}, &FoundDevice::name);
  return devices;
}

}  // namespace pareto::discovery
