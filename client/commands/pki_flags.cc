#include "client/commands/pki_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "client/flags/number_flags.h"
#include "core/base/usage.h"
#include "core/tls/credentials_folder.h"

namespace pareto::client::commands {
namespace {

constexpr const char* kCredentialsVariable = "PARETO_CREDENTIALS";

/// A flag, whether it is given, and the actions that take it.
struct TakenBy {
  const char* flag;
  bool given;
  std::vector<std::string> actions;
};

}  // namespace

void PkiFlags::add_to(CLI::App& app) {
  app.add_option("action", action,
                 "list certificates (the default), init, issue NAME, renew [NAME], or "
                 "revoke NAME")
      ->check(CLI::IsMember({"list", "init", "issue", "renew", "revoke"}));
  app.add_option("name", name, "name of a device, a coordinator or an observer; of init: its own");
  set_value(app.add_option("--role", role,
                           "rights of the certificate's owner (default: device; of init: "
                           "coordinator)"),
            "ROLE", {"device", "coordinator", "observer"});
  set_value(app.add_option("--days", days,
                           "days that the certificate is valid, at most 825 (default: 90)"),
            "N");
  set_value(app.add_option("--listen", listen,
                           "address that a device enrols at; port 0 picks a free one"),
            "HOST:PORT")
      ->capture_default_str();
  set_value(app.add_option("--timeout", timeout, "time to wait for the device"), "DURATION")
      ->capture_default_str();
  set_value(app.add_option("--request", request,
                           "certificate request to sign, from a device that cannot enrol; needs "
                           "--to"),
            "FILE.csr");
  set_value(app.add_option("--to", to,
                           "folder to write to, instead of waiting for a device; without --request "
                           "the key is made here"),
            "FOLDER");
  app.add_flag("--replace", replace,
               "take back other certificates of this name: the device or its key is lost");
  set_value(app.add_option("--authority", authority,
                           "folder of the authority (default: pareto-edge/authority below "
                           "$XDG_CONFIG_HOME or ~/.config)"),
            "FOLDER");
  set_value(app.add_option("--credentials", credentials,
                           "folder of this machine's own credentials (default: "
                           "$PARETO_CREDENTIALS, or pareto-edge/credentials below "
                           "$XDG_CONFIG_HOME or ~/.config)"),
            "FOLDER");
  app.add_flag("--json", json, "print JSON on stdout, a document a line, and nothing else there");
}

Expected<> PkiFlags::check() const {
  const std::vector<TakenBy> rules{
      {"a name", !name.empty(), {"init", "issue", "renew", "revoke"}},
      {"--role", !role.empty(), {"issue", "renew", "revoke"}},
      {"--days", !days.empty(), {"init", "issue", "renew"}},
      {"--request", !request.empty(), {"issue", "renew"}},
      {"--to", !to.empty(), {"issue", "renew"}},
      {"--replace", replace, {"init", "issue"}},
  };
  for (const TakenBy& rule : rules) {
    if (rule.given && std::ranges::find(rule.actions, action) == rule.actions.end()) {
      return fail(ErrorCode::kInvalidArgument, "pki {} takes no {}", action,
                  std::string_view(rule.flag) == "a name" ? "name" : rule.flag);
    }
  }
  if (!request.empty() && to.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--request needs --to: the folder that the certificate is written to");
  }
  if (name.empty() && (action == "issue" || action == "revoke")) {
    return fail(ErrorCode::kInvalidArgument, "pki {} names nobody: paretoctl pki {} pi-1", action,
                action);
  }
  return {};
}

Expected<std::optional<tls::Role>> PkiFlags::named_role() const {
  if (role.empty()) return std::nullopt;
  return with_context(tls::parse_role(role), "--role").map([](tls::Role one) {
    return std::optional(one);
  });
}

Expected<tls::Identity> PkiFlags::identity(tls::Role role_by_default) const {
  PARETO_TRY(tls::valid_name(name));
  PARETO_ASSIGN(const std::optional<tls::Role> named, named_role());
  return tls::Identity{name, named.value_or(role_by_default)};
}

Expected<tls::SigningTerms> PkiFlags::terms(tls::OtherKeys others) const {
  tls::SigningTerms terms;
  terms.others = replace ? tls::OtherKeys::kRevoke : others;
  if (days.empty()) return terms;
  PARETO_ASSIGN(const int number, parse_number<int>(days, "--days"));
  if (std::chrono::days(number) > tls::kLongestLife) {
    return fail(ErrorCode::kInvalidArgument, "--days {}: at most {} are possible", number,
                tls::kLongestLife.count());
  }
  terms.life = std::chrono::days(number);
  return terms;
}

std::filesystem::path PkiFlags::authority_folder() const {
  return authority.empty() ? tls::user_folder("authority") : std::filesystem::path(authority);
}

std::filesystem::path PkiFlags::credentials_folder() const {
  if (!credentials.empty()) return credentials;
  const char* const named = std::getenv(kCredentialsVariable);
  if (named != nullptr && *named != '\0') return named;
  return tls::user_folder("credentials");
}

}  // namespace pareto::client::commands
