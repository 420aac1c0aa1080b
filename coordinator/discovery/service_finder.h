// Collects what multicast DNS answers about a service, and knows what is still to be asked. It has
// no sockets; mdns_browser.h has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/discovery/dns_message.h"

namespace pareto::discovery {

/// A daemon as it announces itself. Text is UTF-8 without control characters.
struct FoundDevice {
  std::string name;  ///< "pi-1": no other on this network is announced so
  /// Name it gives itself, which another may use as well; empty: it gave none.
  std::string device_name;
  std::string host;        ///< "raspberrypi.local"
  std::uint16_t port = 0;  ///< port of its control service
  std::vector<std::string>
      addresses;        ///< numeric; IPv4 first, and of each kind the one that answered
  std::string version;  ///< version of its daemon; empty: it gave none

  /// Returns "192.168.1.21:7070", as in an inventory.
  std::string control_address() const;
};

/// Believes what it is told, within limits: any host on the network may say anything.
///
/// Threads: one owner.
class ServiceFinder {
 public:
  static constexpr std::size_t kMostDevices = 256;
  static constexpr std::size_t kMostAddresses = 16;

  /// service: "_pareto-edge", "_tcp", "local".
  explicit ServiceFinder(DnsName service) : service_(std::move(service)) {}

  DnsQuestion question() const { return {service_, DnsType::kPtr}; }
  /// Returns the questions that the answers so far leave open.
  std::vector<DnsQuestion> open_questions() const;
  /// Returns whether any of it was new. sender: the numeric address that the message came from.
  bool take(const DnsMessage& message, std::string_view sender);
  /// Returns the devices of which host, port and an address are known, by name.
  std::vector<FoundDevice> found() const;

 private:
  struct Instance {
    DnsName name;
    DnsName host{};  ///< empty: not known yet
    std::uint16_t port = 0;
    std::vector<std::string> addresses{};
    bool has_text = false;
    std::string version{};
    std::string device_name{};
  };

  bool add_instance(const DnsName& name);
  bool add(const DnsRecord& record, const DnsService& service);
  bool add(const DnsRecord& record, const DnsText& text);
  bool add(const DnsRecord& record, const DnsAddress& address, std::string_view sender);

  const DnsName service_;
  std::vector<Instance> instances_;
};

}  // namespace pareto::discovery
