#include "core/tls/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/printable.h"

namespace pareto::tls {
namespace {

constexpr std::array kRoles{Role::kCoordinator, Role::kDevice, Role::kObserver};
constexpr std::string_view kDomain = ".pareto-edge";

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::kCoordinator:
      return "coordinator";
    case Role::kDevice:
      return "device";
    case Role::kObserver:
      return "observer";
  }
  return "unknown";
}

Expected<Role> parse_role(std::string_view text) {
  for (const Role role : kRoles) {
    if (text == to_string(role)) return role;
  }
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" is no role: there are coordinator, device and observer", printable(text));
}

std::string to_string(const Identity& identity) {
  return fmt::format("{} {}", to_string(identity.role), identity.name);
}

Expected<Identity> parse_identity(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" names nobody: a role and a name do, like \"device pi-1\"", printable(text));
  }
  Identity identity;
  PARETO_ASSIGN(identity.role, parse_role(text.substr(0, space)));
  identity.name = text.substr(space + 1);
  PARETO_TRY(valid_name(identity.name));
  return identity;
}

Expected<> valid_name(std::string_view name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
  if (!name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, allowed) &&
      name.front() != '-' && name.back() != '-') {
    return {};
  }
  return fail(
      ErrorCode::kInvalidArgument,
      "\"{}\" is no name of a device, a coordinator or an observer: it has 1 to {} letters, "
      "digits and hyphens, and no hyphen at an end",
      printable(name), kLongestName);
}

std::string dns_name(Role role) { return fmt::format("{}{}", to_string(role), kDomain); }

std::string dns_name(const Identity& identity) {
  return fmt::format("{}.{}", identity.name, dns_name(identity.role));
}

bool answers_to(const Identity& identity, std::string_view name) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  const std::array held{dns_name(identity), dns_name(identity.role)};
  return std::ranges::any_of(held, [&](const std::string& one) {
    return std::ranges::equal(one, name, {}, lower, lower);
  });
}

Expected<Identity> identity_among(std::span<const std::string> dns_names) {
  std::optional<Identity> found;
  for (const std::string& text : dns_names) {
    for (const Role role : kRoles) {
      const std::string suffix = "." + dns_name(role);
      if (!text.ends_with(suffix)) continue;
      Identity identity{text.substr(0, text.size() - suffix.size()), role};
      if (!valid_name(identity.name)) continue;
      if (found && *found != identity) {
        return fail(ErrorCode::kPermission,
                    "the certificate names both {} and {}: it has to name one", to_string(*found),
                    to_string(identity));
      }
      found = std::move(identity);
    }
  }
  if (!found) {
    return fail(
        ErrorCode::kPermission,
        "the certificate names no coordinator, device or observer: paretoctl pki issue makes "
        "one that does");
  }
  return *found;
}

}  // namespace pareto::tls
