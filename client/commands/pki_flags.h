// The flags of `pki`, and what its actions share.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "client/command.h"
#include "core/tls/authority.h"
#include "core/transport/address.h"

namespace pareto::client::commands {

/// The arguments of `pki`, as text; read and checked by the functions.
struct PkiFlags {
  std::string action = "list";
  std::string name;
  std::string role;
  std::string days;
  std::string listen = "0.0.0.0:7069";
  std::string timeout = "15m";
  std::string request;
  std::string to;
  std::string authority;
  std::string credentials;
  bool replace = false;
  bool json = false;

  void add_to(CLI::App& app);
  /// Checks that nothing is given that the action does not take. Fails: kInvalidArgument.
  Expected<> check() const;

  /// Returns the name and the role that were given. Fails: kInvalidArgument (no name, no role).
  Expected<tls::Identity> identity(tls::Role role_by_default) const;
  Expected<std::optional<tls::Role>> named_role() const;
  /// others: what --replace does not say. Fails: kInvalidArgument.
  Expected<tls::SigningTerms> terms(tls::OtherKeys others) const;
  std::filesystem::path authority_folder() const;
  std::filesystem::path credentials_folder() const;
};

/// Opens the authority. If there is none, makes it and this machine's own credentials, and says so.
/// Fails: as tls::Authority.
Expected<std::unique_ptr<tls::Authority>> open_or_make_authority(Context& context,
                                                                 const PkiFlags& flags);

/// Makes what is missing of authority and own credentials. Fails: kInvalidArgument (the credentials
/// are of another authority), and as tls::Authority.
Expected<int> init_pki(Context& context, const PkiFlags& flags);
/// Gives a certificate to whom it names: by an enrolment, for a request, or into a folder.
Expected<int> issue_certificate(Context& context, const PkiFlags& flags);
/// Gives another certificate to whom has one; without a name, to this machine itself.
Expected<int> renew_certificate(Context& context, const PkiFlags& flags);
Expected<int> revoke_certificates(Context& context, const PkiFlags& flags);
Expected<int> list_certificates(Context& context, const PkiFlags& flags);

/// Finds who has the name that the flags give, among all that the authority has issued. Fails:
/// kNotFound, kInvalidArgument (several roles have the name).
Expected<tls::Identity> find_issued(const tls::Authority& authority, const PkiFlags& flags);
/// Writes the list of what was taken back to this machine's own credentials, and tells how others
/// get it.
Expected<> spread_revoked(Context& context, const PkiFlags& flags, const tls::Authority& authority);
/// Prints one certificate: as a sentence, or as a line of JSON.
void print_certificate(Context& context, const PkiFlags& flags,
                       const tls::IssuedCertificate& certificate, const std::string& sentence);

}  // namespace pareto::client::commands
