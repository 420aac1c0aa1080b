#include "coordinator/enrolment/local_credentials.h"

#include <cctype>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment.h"

namespace pareto::enrolment {
namespace {

// A request in PEM is a third longer than in DER, and may have text around it.
constexpr std::uint64_t kLongestRequestFile = 4 * tls::kLongestRequestBytes;

}  // namespace

Expected<tls::IssuedCertificate> make_credentials(tls::Authority& authority,
                                                  const tls::Identity& identity,
                                                  const tls::SigningTerms& terms,
                                                  const std::filesystem::path& folder) {
  PARETO_ASSIGN(tls::NewCredentials made, tls::NewCredentials::begin(folder));
  tls::KeyRequest key = tls::make_key_request();
  PARETO_ASSIGN(tls::SignedCertificate done, authority.sign(key.request, identity, terms));
  PARETO_ASSIGN(const std::string revoked, authority.revoked_der());
  PARETO_ASSIGN(const tls::CredentialsTexts texts,
                tls::credentials_texts(std::move(key.key), done.certificate,
                                       authority.certificate_der(), revoked));
  PARETO_TRY(made.write(texts));
  PARETO_TRY(made.commit());
  return std::move(done.record);
}

Expected<tls::IssuedCertificate> sign_request(tls::Authority& authority,
                                              const std::filesystem::path& request,
                                              const tls::Identity& identity,
                                              const tls::SigningTerms& terms,
                                              const std::filesystem::path& folder) {
  PARETO_ASSIGN(const std::string asked, read_file(request, kLongestRequestFile));
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return tl::unexpected(error_from_errno(problem.value(), folder.string()));
  // These come first: if the folder cannot be written, nothing is signed.
  PARETO_TRY(write_file_atomically(folder / tls::kAuthorityFile, authority.certificate_pem()));
  PARETO_ASSIGN(tls::SignedCertificate done,
                with_context(authority.sign(asked, identity, terms), "{}", request.string()));
  PARETO_ASSIGN(const std::string revoked, authority.revoked_der());
  PARETO_ASSIGN(const tls::CredentialsTexts texts,
                tls::credentials_texts("", done.certificate, authority.certificate_der(), revoked));
  PARETO_TRY(write_file_atomically(folder / tls::kRevokedFile, texts.revoked));
  PARETO_TRY(write_file_atomically(folder / tls::kCertificateFile, texts.certificate));
  return std::move(done.record);
}

bool are_of(const tls::Authority& authority, const std::filesystem::path& folder) {
  const auto credentials = tls::Credentials::open(folder);
  return credentials && (*credentials)->pem().authority == authority.certificate_pem();
}

Expected<bool> update_revoked(const tls::Authority& authority,
                              const std::filesystem::path& folder) {
  if (!are_of(authority, folder)) return false;
  PARETO_ASSIGN(const std::string revoked, authority.revoked_pem());
  PARETO_TRY(write_file_atomically(folder / tls::kRevokedFile, revoked));
  return true;
}

std::string name_of_host(std::string_view host) {
  std::string name;
  for (const unsigned char letter : host.substr(0, host.find('.')).substr(0, tls::kLongestName)) {
    name += std::isalnum(letter) != 0 ? static_cast<char>(letter) : '-';
  }
  while (name.starts_with('-')) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "coordinator" : name;
}

}  // namespace pareto::enrolment
