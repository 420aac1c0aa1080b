// Any bytes as an answer of DNS: refused, or read within its bounds. What it says of daemons and
// services stays within limits and is fit to be shown.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>

#include "coordinator/discovery/dns_message.h"
#include "coordinator/discovery/service_finder.h"
#include "coordinator/discovery/service_lookup.h"
#include "core/base/printable.h"

namespace pareto::discovery {
namespace {

void check(const FoundDevice& device) {
  if (device.addresses.size() > ServiceFinder::kMostAddresses) std::abort();
  for (const auto* text : {&device.name, &device.device_name, &device.host, &device.version}) {
    if (!is_printable(*text)) std::abort();
  }
}

/// Takes the message twice: what was known is not new.
void find(const DnsMessage& message) {
  ServiceFinder finder({"_pareto-edge", "_tcp", "local"});
  finder.take(message, "192.0.2.1");
  if (finder.take(message, "192.0.2.1")) std::abort();
  // All names that came are names that can be asked for.
  (void)encode_query(1, finder.open_questions());
  const auto found = finder.found();
  if (found.size() > ServiceFinder::kMostDevices) std::abort();
  for (const FoundDevice& device : found) check(device);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto message = parse_dns_message(bytes)) find(*message);
  std::mt19937_64 random(size);
  if (const auto hosts = read_service_answer(bytes, random)) {
    if (hosts->empty() || hosts->size() > 16) std::abort();
    for (const auto& host : *hosts) {
      if (!is_printable(host)) std::abort();
    }
  }
  return 0;
}

}  // namespace pareto::discovery
