// Credentials that are made on the authority's own machine.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/tls/authority.h"

namespace pareto::enrolment {

/// Makes a key here and its certificate, and puts both into a folder, in the place of the
/// credentials there. Nothing is signed if the folder cannot be written. Fails: as
/// tls::NewCredentials and tls::Authority::sign().
Expected<tls::IssuedCertificate> make_credentials(tls::Authority& authority,
                                                  const tls::Identity& identity,
                                                  const tls::SigningTerms& terms,
                                                  const std::filesystem::path& folder);

/// Signs the request in a file, and writes all but the key into a folder: certificate, authority
/// and the list of what was taken back. Fails: as tls::Authority::sign(); kNotFound (the file),
/// kPermission, kExhausted.
Expected<tls::IssuedCertificate> sign_request(tls::Authority& authority,
                                              const std::filesystem::path& request,
                                              const tls::Identity& identity,
                                              const tls::SigningTerms& terms,
                                              const std::filesystem::path& folder);

/// Writes the list of what was taken back over that of a folder of credentials, if these are of
/// this authority. Returns whether they are. Fails: kPermission, kExhausted, kInvalidArgument (the
/// authority's list is damaged).
Expected<bool> update_revoked(const tls::Authority& authority, const std::filesystem::path& folder);

/// Returns whether the credentials of a folder are of this authority; false too if there are none.
bool are_of(const tls::Authority& authority, const std::filesystem::path& folder);

/// Makes a name of a host's: its first label, other characters as hyphens; "coordinator" if nothing
/// is left.
std::string name_of_host(std::string_view host);

}  // namespace pareto::enrolment
