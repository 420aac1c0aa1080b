#include "core/tls/authority.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/file.h"
#include "core/tls/credentials.h"
#include "core/tls/enrolment.h"
#include "core/tls/signing.h"
#include "core/tls/utc_text.h"

namespace pareto::tls {
namespace {

using std::chrono::sys_seconds;

constexpr std::string_view kIndexFile = "issued.json";
constexpr std::uint64_t kLongestIndex = std::uint64_t{64} << 20;
// Clocks of devices differ; those without a battery may be behind.
constexpr std::chrono::hours kBackdated{1};
// A clock that stands still while a device is off may be behind by months, and takes an expired
// certificate for a valid one.
constexpr std::chrono::days kListedAfterExpiry{365};
constexpr std::chrono::seconds kLockPatience{2};
constexpr std::chrono::milliseconds kLockInterval{20};
constexpr ::mode_t kFolderMode = 0700;
constexpr ::mode_t kOfOthers = 0077;

/// Takes the lock of a folder, which others have for moments only.
Expected<FolderLock> lock_folder(const std::filesystem::path& folder) {
  const auto end = std::chrono::steady_clock::now() + kLockPatience;
  for (;;) {
    PARETO_ASSIGN(auto lock, FolderLock::try_take(folder));
    if (lock) return *std::move(lock);
    if (std::chrono::steady_clock::now() >= end) {
      return fail(ErrorCode::kUnavailable,
                  "{}: another process has the authority's folder: try again when it has ended",
                  folder.string());
    }
    std::this_thread::sleep_for(kLockInterval);
  }
}

/// Writes a file that its owner alone may read, unless it is there with another mode.
Expected<> write_private(const std::filesystem::path& path, const std::string& text) {
  {
    const FileDescriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!made) return tl::unexpected(error_from_errno(errno, path.string()));
  }
  return write_file_atomically(path, text);
}

/// Closes a folder to others, so that nobody reads what will be in it, or puts files there. Fails:
/// kPermission (it is another user's).
Expected<> make_private(const std::filesystem::path& folder) {
  const FileDescriptor opened(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat there {};
  if (!opened || ::fstat(opened.get(), &there) != 0) {
    return tl::unexpected(error_from_errno(errno, folder.string()));
  }
  if (there.st_uid != ::geteuid()) {
    return fail(ErrorCode::kPermission,
                "{}: the folder is another user's, who could read the authority's key: name one of "
                "your own",
                folder.string());
  }
  const bool is_private = (there.st_mode & kOfOthers) == 0;
  if (is_private || ::fchmod(opened.get(), kFolderMode) == 0) return {};
  return tl::unexpected(error_from_errno(errno, folder.string()));
}

Expected<std::string> request_der(std::string_view text) {
  if (!text.starts_with("-----")) return std::string(text);
  const std::string pem(text);
  const Bio bio = text_bio(pem);
  const Request request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  static_cast<void>(openssl_reason());
  if (!request) {
    return fail(ErrorCode::kInvalidArgument,
                "no certificate request in it (PEM begins one with -----BEGIN CERTIFICATE "
                "REQUEST-----; openssl req -new -key FILE writes one)");
  }
  return to_der(*request);
}

}  // namespace

WallClock system_wall_clock() {
  return [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
}

struct Authority::Impl {
  std::filesystem::path folder;
  WallClock now;
  Certificate certificate;
  Key key;
  mutable std::mutex mutex;  ///< one thread changes the folder at a time

  std::filesystem::path file(std::string_view name) const { return folder / name; }
  sys_seconds expiry() const { return time_of(X509_get0_notAfter(certificate.get())); }

  Expected<IssuedIndex> read_index() const {
    const std::string path = file(kIndexFile).string();
    PARETO_ASSIGN(const std::string text, read_file(path, kLongestIndex));
    return with_context(issued_index_from(text), "{}", path);
  }

  Expected<> write_index(const IssuedIndex& index) const {
    return write_private(file(kIndexFile), to_json(index));
  }

  Expected<> write_list(const IssuedIndex& index) const {
    std::vector<RevokedSerial> revoked;
    for (const IssuedCertificate& one : index.certificates) {
      if (one.revoked && one.until + kListedAfterExpiry > now())
        revoked.push_back({one.serial, *one.revoked});
    }
    const RevocationList list = sign_revocation_list(
        revoked, index.list_number, {now() - kBackdated, expiry()}, *certificate, *key);
    return write_file_atomically(file(kRevokedFile), to_pem(*list));
  }

  Expected<> check_signing(const Identity& identity, const SigningTerms& terms) const {
    PARETO_TRY(valid_name(identity.name));
    if (terms.life <= std::chrono::seconds(0) || terms.life > kLongestLife) {
      return fail(ErrorCode::kInvalidArgument,
                  "a certificate lives for at least a second and at most {} days",
                  kLongestLife.count());
    }
    if (expiry() > now()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "{}: the authority has expired ({}): move the folder away, then paretoctl pki init "
                "makes a new one, which every device has to enrol with",
                folder.string(), utc_text(expiry()));
  }

  /// Returns the valid certificates of an identity that have another key; no key: all.
  std::vector<IssuedCertificate*> in_use(IssuedIndex& index, const Identity& identity,
                                         const Digest* key_of_request) const {
    std::vector<IssuedCertificate*> found;
    for (IssuedCertificate& one : index.certificates) {
      const bool other_key = key_of_request == nullptr || one.key != *key_of_request;
      if (!one.revoked && one.until > now() && other_key && is_same_peer(one.identity, identity)) {
        found.push_back(&one);
      }
    }
    return found;
  }

  static tl::unexpected<Error> in_use_error(const IssuedCertificate& one) {
    return fail(ErrorCode::kInvalidArgument,
                "{} has a certificate until {}, of another key. For a new key of the same device: "
                "paretoctl pki renew {}. If the device or its key is lost: paretoctl pki issue {} "
                "--role {} --replace, which takes the old one back",
                to_string(one.identity), utc_text(one.until), one.identity.name, one.identity.name,
                to_string(one.identity.role));
  }

  /// Enters a certificate into the index, and what becomes of others of its name.
  Expected<> enter(const IssuedCertificate& record, OtherKeys others) const {
    PARETO_ASSIGN(IssuedIndex index, read_index());
    const auto same = in_use(index, record.identity, &record.key);
    if (!same.empty() && others == OtherKeys::kRefuse) return in_use_error(*same.front());
    const bool revokes = !same.empty() && others == OtherKeys::kRevoke;
    if (revokes) {
      for (IssuedCertificate* one : same) one->revoked = now();
      ++index.list_number;
    }
    index.certificates.push_back(record);
    PARETO_TRY(write_index(index));
    return revokes ? write_list(index) : Expected<>();
  }
};

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::~Authority() = default;

Expected<std::unique_ptr<Authority>> Authority::create(const std::filesystem::path& where,
                                                       const std::string& name, WallClock clock) {
  std::error_code problem;
  // A name of one word has no folder that it lies in.
  const std::filesystem::path folder = std::filesystem::absolute(where, problem);
  if (problem) return tl::unexpected(error_from_errno(problem.value(), where.string()));
  std::filesystem::create_directories(folder.parent_path(), problem);
  if (problem) {
    return tl::unexpected(error_from_errno(problem.value(), folder.parent_path().string()));
  }
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return tl::unexpected(error_from_errno(errno, folder.string()));
  }
  PARETO_ASSIGN(const FolderLock lock, lock_folder(folder));
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->now = std::move(clock);
  // Its certificate is written last: what was begun and not ended is begun again.
  if (std::filesystem::exists(impl->file(kCertificateFile), problem)) {
    return fail(ErrorCode::kInvalidArgument, "{}: there is an authority already", folder.string());
  }
  if (!std::filesystem::is_empty(folder, problem) &&
      !std::filesystem::exists(impl->file(kKeyFile), problem)) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the folder holds other files: name one of its own for the authority",
                folder.string());
  }
  PARETO_TRY(make_private(folder));
  const sys_seconds now = impl->now();
  impl->key = make_key();
  impl->certificate =
      make_authority_certificate(*impl->key, name, {now - kBackdated, now + kAuthorityLife});
  PARETO_TRY(write_private(impl->file(kKeyFile), to_pem(*impl->key)));
  const IssuedIndex empty{{}, 1};
  PARETO_TRY(impl->write_index(empty));
  PARETO_TRY(impl->write_list(empty));
  PARETO_TRY(write_file_atomically(impl->file(kCertificateFile), to_pem(*impl->certificate)));
  return std::unique_ptr<Authority>(new Authority(std::move(impl)));
}

Expected<std::unique_ptr<Authority>> Authority::open(const std::filesystem::path& folder,
                                                     WallClock clock) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->now = std::move(clock);
  const std::string path = impl->file(kCertificateFile).string();
  std::error_code problem;
  const bool there = std::filesystem::exists(path, problem);
  if (problem) return tl::unexpected(error_from_errno(problem.value(), path));
  if (!there) {
    return fail(ErrorCode::kNotFound, "{}: there is no authority (paretoctl pki init makes one)",
                folder.string());
  }
  PARETO_ASSIGN(std::vector<Certificate> certificates, read_certificates(path));
  impl->certificate = std::move(certificates.front());
  PARETO_ASSIGN(impl->key, read_key(impl->file(kKeyFile).string()));
  if (X509_check_private_key(impl->certificate.get(), impl->key.get()) != 1) {
    static_cast<void>(openssl_reason());
    return fail(ErrorCode::kInvalidArgument,
                "{}: its key does not belong to its certificate: take both from one backup",
                folder.string());
  }
  return std::unique_ptr<Authority>(new Authority(std::move(impl)));
}

const std::filesystem::path& Authority::folder() const { return impl_->folder; }
std::string Authority::certificate_pem() const { return to_pem(*impl_->certificate); }
std::string Authority::certificate_der() const { return to_der(*impl_->certificate); }
Digest Authority::fingerprint() const { return certificate_digest(*impl_->certificate); }
sys_seconds Authority::expiry() const { return impl_->expiry(); }

Expected<> Authority::check_free(const Identity& identity) const {
  PARETO_ASSIGN(IssuedIndex index, impl_->read_index());
  const auto same = impl_->in_use(index, identity, nullptr);
  return same.empty() ? Expected<>() : Impl::in_use_error(*same.front());
}

Expected<SignedCertificate> Authority::sign(std::string_view request, const Identity& identity,
                                            const SigningTerms& terms) {
  PARETO_TRY(impl_->check_signing(identity, terms));
  PARETO_ASSIGN(const std::string der, request_der(request));
  PARETO_ASSIGN(const Request asked, read_request(der));
  EVP_PKEY& key = *X509_REQ_get0_pubkey(asked.get());
  const sys_seconds now = impl_->now();
  const sys_seconds until =
      std::min(now + std::chrono::duration_cast<std::chrono::seconds>(terms.life), impl_->expiry());
  SignedCertificate done{
      {identity, make_serial(), key_digest(key), now - kBackdated, until, std::nullopt}, ""};
  const CertificateTerms values{to_string(identity),
                                {dns_name(identity), dns_name(identity.role)},
                                "serverAuth,clientAuth",
                                {done.record.from, until},
                                done.record.serial};
  done.certificate = to_der(*sign_certificate(key, values, *impl_->certificate, *impl_->key));
  const std::lock_guard guard(impl_->mutex);
  PARETO_ASSIGN(const FolderLock lock, lock_folder(impl_->folder));
  PARETO_TRY(impl_->enter(done.record, terms.others));
  return done;
}

Expected<std::vector<IssuedCertificate>> Authority::revoke(const Identity& identity) {
  const std::lock_guard guard(impl_->mutex);
  PARETO_ASSIGN(const FolderLock lock, lock_folder(impl_->folder));
  PARETO_ASSIGN(IssuedIndex index, impl_->read_index());
  std::vector<IssuedCertificate> taken;
  for (IssuedCertificate& one : index.certificates) {
    if (one.until <= impl_->now() || !is_same_peer(one.identity, identity)) continue;
    if (!one.revoked) one.revoked = impl_->now();
    taken.push_back(one);
  }
  if (taken.empty()) {
    return fail(ErrorCode::kNotFound,
                "{} has no certificate that has not expired (paretoctl pki list shows all)",
                to_string(identity));
  }
  ++index.list_number;
  PARETO_TRY(impl_->write_index(index));
  PARETO_TRY(impl_->write_list(index));
  return taken;
}

Expected<IssuedIndex> Authority::issued() const { return impl_->read_index(); }

Expected<std::string> Authority::revoked_pem() const {
  PARETO_ASSIGN(const auto lists, read_revocation_lists(revoked_file().string()));
  return to_pem(*lists.front());
}

Expected<std::string> Authority::revoked_der() const {
  PARETO_ASSIGN(const auto lists, read_revocation_lists(revoked_file().string()));
  return to_der(*lists.front());
}

std::filesystem::path Authority::revoked_file() const { return impl_->file(kRevokedFile); }

std::shared_ptr<SSL_CTX> Authority::enrolment_context(std::chrono::seconds life) const {
  const sys_seconds now = impl_->now();
  const Key key = make_key();
  const CertificateTerms terms{"enrolment",
                               {std::string(kEnrolmentName)},
                               "serverAuth",
                               {now - kBackdated, std::min(now + life, impl_->expiry())},
                               make_serial()};
  const Certificate certificate = sign_certificate(*key, terms, *impl_->certificate, *impl_->key);
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // The root goes with it: a device knows no more of it than its digest.
  const bool used = SSL_CTX_use_certificate(context.get(), certificate.get()) == 1 &&
                    SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1 &&
                    SSL_CTX_add1_chain_cert(context.get(), impl_->certificate.get()) == 1;
  if (!used) throw std::bad_alloc();
  return context;
}

}  // namespace pareto::tls
