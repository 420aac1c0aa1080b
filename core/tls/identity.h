// Who a certificate names, and what the one may do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::tls {

/// Rights that a certificate gives to its owner.
enum class Role {
  kCoordinator,  ///< every call; sends requests to pipelines, takes their results
  kDevice,       ///< serves calls; opens links to the next device of a pipeline
  kObserver,     ///< reads what a device says of itself; changes nothing
};
/// Returns "coordinator", "device", "observer".
std::string_view to_string(Role role);
/// Reads a role by its name. Fails: kInvalidArgument, with the roles there are.
Expected<Role> parse_role(std::string_view text);

/// The name and the role that an authority vouches for.
struct Identity {
  std::string name;  ///< "pi-1": as valid_name() says
  Role role = Role::kDevice;
  bool operator==(const Identity&) const = default;
};
/// Returns "device pi-1".
std::string to_string(const Identity& identity);
/// Reads what to_string() wrote. Fails: kInvalidArgument.
Expected<Identity> parse_identity(std::string_view text);

/// Characters of a name, those of a label of a DNS name.
inline constexpr std::size_t kLongestName = 63;
/// Checks the name of a device, a coordinator or an observer: 1 to 63 letters, digits and hyphens,
/// as in a host's name. Fails: kInvalidArgument.
Expected<> valid_name(std::string_view name);

/// Returns the name that every certificate of a role holds as a DNS name: "device.pareto-edge". A
/// client asks for it if it knows only the role of the server that it wants.
std::string dns_name(Role role);
/// Returns the name that only the certificate of this one holds: "pi-1.device.pareto-edge".
std::string dns_name(const Identity& identity);
/// Returns whether the certificate of an identity holds a DNS name, as those who check host names
/// see it: letters of either case are equal.
bool answers_to(const Identity& identity, std::string_view dns_name);
/// Finds the one identity among a certificate's DNS names. Fails: kPermission (none or several).
Expected<Identity> identity_among(std::span<const std::string> dns_names);

}  // namespace pareto::tls
