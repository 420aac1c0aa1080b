// An authority in its folder: what it signs, refuses and takes back.
#include "core/tls/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment.h"
#include "core/tls/signing.h"

namespace pareto::tls {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class AuthorityTest : public testing::Test {
 protected:
  AuthorityTest()
      : folder_(TemporaryFolder::create("authority").value()),
        place_(folder_.path() / "below" / "authority") {}

  WallClock clock() {
    return [this] { return now_; };
  }
  std::unique_ptr<Authority> create() { return Authority::create(place_, "test", clock()).value(); }

  /// Makes a folder of credentials that the authority signs.
  std::filesystem::path enrol(Authority& authority, const Identity& identity,
                              const SigningTerms& terms = {}) const {
    KeyRequest key = make_key_request();
    const auto done = authority.sign(key.request, identity, terms).value();
    auto path = folder_.path() / ("credentials-" + done.record.serial);
    auto made = NewCredentials::begin(path).value();
    const auto texts = credentials_texts(key.key, done.certificate, authority.certificate_der(),
                                         authority.revoked_der().value());
    EXPECT_EQ(made.write(texts.value()).value(), identity);
    EXPECT_TRUE(made.commit());
    return path;
  }

  static std::string problem(const Expected<SignedCertificate>& done, ErrorCode code) {
    EXPECT_FALSE(done);
    if (done) return "";
    EXPECT_EQ(done.error().code, code);
    return done.error().message;
  }

  static ::mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }

  static constexpr auto kDevice = "pi-1";
  const Identity device_{"pi-1", Role::kDevice};
  TemporaryFolder folder_;
  std::filesystem::path place_;
  std::chrono::sys_seconds now_ =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
};

TEST_F(AuthorityTest, ItsKeyIsItsOwnersOnly) {
  create();
  EXPECT_EQ(mode_of(place_), 0700U);
  EXPECT_EQ(mode_of(place_ / "key.pem"), 0600U);
  EXPECT_EQ(mode_of(place_ / "issued.json"), 0600U);
}

TEST_F(AuthorityTest, AFolderThatIsThereIsClosedToOthers) {
  std::filesystem::create_directories(place_);
  std::filesystem::permissions(place_, std::filesystem::perms(0777));
  create();
  EXPECT_EQ(mode_of(place_), 0700U);
  EXPECT_EQ(mode_of(place_.parent_path()) & 0700U, 0700U) << "the one above is as it was";
}

TEST_F(AuthorityTest, AnotherUsersFolderIsNotTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  std::filesystem::create_directories(place_);
  constexpr ::uid_t kNobody = 65534;
  ASSERT_EQ(::chown(place_.c_str(), kNobody, kNobody), 0);
  const auto made = Authority::create(place_, "test");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kPermission);
  EXPECT_THAT(made.error().message, HasSubstr("another user's"));
  EXPECT_TRUE(std::filesystem::is_empty(place_));
}

TEST_F(AuthorityTest, IsTheSameWhenItIsOpenedAgain) {
  const auto made = create();
  const auto opened = Authority::open(place_).value();
  EXPECT_EQ(opened->fingerprint(), made->fingerprint());
  EXPECT_GT(opened->expiry(), now_ + days(3650));
  const auto again = Authority::create(place_, "test");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already"));
}

TEST_F(AuthorityTest, WhatWasBegunIsBegunAgain) {
  create();
  std::filesystem::remove(place_ / "certificate.pem");
  EXPECT_EQ(Authority::open(place_).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(Authority::create(place_, "test"));
}

TEST_F(AuthorityTest, AFolderOfSomethingElseIsLeft) {
  std::filesystem::create_directories(place_);
  std::filesystem::permissions(place_, std::filesystem::perms(0755));
  ASSERT_TRUE(write_file_atomically(place_ / "notes.txt", "mine"));
  const auto made = Authority::create(place_, "test");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("other files"));
  EXPECT_EQ(mode_of(place_), 0755U);
}

TEST_F(AuthorityTest, DamagedFilesAreNamed) {
  create();
  const std::string key = read_file(place_ / "key.pem").value();
  std::filesystem::create_directories(folder_.path() / "other");
  Authority::create(folder_.path() / "other", "other").value();
  std::filesystem::copy_file(folder_.path() / "other" / "key.pem", place_ / "key.pem",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Authority::open(place_).error().message, HasSubstr("does not belong"));
  ASSERT_TRUE(write_file_atomically(place_ / "key.pem", key));
  ASSERT_TRUE(write_file_atomically(place_ / "issued.json", "{}"));
  const auto authority = Authority::open(place_).value();
  EXPECT_THAT(
      problem(authority->sign(make_key_request().request, device_, {}), ErrorCode::kCorrupt),
      HasSubstr("issued.json"));
}

TEST_F(AuthorityTest, ACertificateNamesOneRoleAndOneName) {
  const auto authority = create();
  const auto done = authority->sign(make_key_request().request, device_, {}).value();
  const Certificate certificate = certificate_of(done.certificate).value();
  const std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  EXPECT_EQ(sk_GENERAL_NAME_num(names.get()), 2);
  EXPECT_EQ(X509_check_host(certificate.get(), "pi-1.device.pareto-edge", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate.get(), "device.pareto-edge", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate.get(), "coordinator.pareto-edge", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ca(certificate.get()), 0);
  EXPECT_EQ(X509_get_key_usage(certificate.get()), std::uint32_t{KU_DIGITAL_SIGNATURE});
  EXPECT_EQ(X509_get_extended_key_usage(certificate.get()),
            std::uint32_t{XKU_SSL_SERVER | XKU_SSL_CLIENT});
  EXPECT_EQ(time_of(X509_get0_notAfter(certificate.get())), now_ + days(90));
  EXPECT_EQ(time_of(X509_get0_notBefore(certificate.get())), now_ - 1h);
}

TEST_F(AuthorityTest, ItVouchesForNamesOfThisProgramOnly) {
  const auto authority = create();
  const Certificate root = certificate_of(authority->certificate_der()).value();
  EXPECT_EQ(X509_get_pathlen(root.get()), 0);
  const Key own = read_key(place_ / "key.pem").value();
  const CertificateTerms terms{
      "bank", {"bank.example"}, "serverAuth", {now_, now_ + 1h}, make_serial()};
  const Certificate forged = sign_certificate(*make_key(), terms, *root, *own);
  const std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>> store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), root.get());
  const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  X509_STORE_CTX_init(check.get(), store.get(), forged.get(), nullptr);
  EXPECT_NE(X509_verify_cert(check.get()), 1);
  EXPECT_EQ(X509_STORE_CTX_get_error(check.get()), X509_V_ERR_PERMITTED_VIOLATION);
}

TEST_F(AuthorityTest, WhatItSignsAreCredentials) {
  const auto authority = create();
  for (const Role role : {Role::kDevice, Role::kCoordinator, Role::kObserver}) {
    const Identity identity{"one", role};
    const auto opened = Credentials::open(enrol(*authority, identity)).value();
    EXPECT_EQ(opened->identity(), identity);
    EXPECT_EQ(opened->judge(opened->pem().certificate).value(), identity);
  }
}

TEST_F(AuthorityTest, ANameIsOfOneKeyUnlessSomebodySaysSo) {
  const auto authority = create();
  const KeyRequest key = make_key_request();
  ASSERT_TRUE(authority->sign(key.request, device_, {}));
  EXPECT_TRUE(authority->sign(key.request, device_, {})) << "the same key again";
  const std::string other = make_key_request().request;
  // Those who check host names take letters of either case for one.
  for (const char* name : {"pi-1", "PI-1"}) {
    EXPECT_THAT(
        problem(authority->sign(other, {name, Role::kDevice}, {}), ErrorCode::kInvalidArgument),
        AllOf(HasSubstr("pki renew pi-1"), HasSubstr("--replace")));
    EXPECT_FALSE(authority->check_free({name, Role::kDevice}));
  }
  EXPECT_TRUE(authority->check_free({"pi-1", Role::kObserver}));
  EXPECT_TRUE(authority->sign(other, {"pi-1", Role::kObserver}, {})) << "another role";
  now_ += days(91);
  EXPECT_TRUE(authority->sign(other, device_, {})) << "the first has expired";
}

TEST_F(AuthorityTest, ANewKeyOfTheSameDeviceLeavesTheOldCertificate) {
  const auto authority = create();
  const auto before = Credentials::open(enrol(*authority, device_)).value();
  const auto after =
      Credentials::open(enrol(*authority, device_, {kCertificateLife, OtherKeys::kLeave})).value();
  EXPECT_TRUE(after->judge(before->pem().certificate));
  const IssuedIndex index = authority->issued().value();
  EXPECT_EQ(state_of(index, index.certificates[0], now_), IssuedState::kReplaced);
  EXPECT_EQ(state_of(index, index.certificates[1], now_), IssuedState::kValid);
}

TEST_F(AuthorityTest, AReplacedDeviceIsTakenBack) {
  const auto authority = create();
  const auto lost = Credentials::open(enrol(*authority, device_)).value();
  const auto found =
      Credentials::open(enrol(*authority, device_, {kCertificateLife, OtherKeys::kRevoke})).value();
  const auto judged = found->judge(lost->pem().certificate);
  ASSERT_FALSE(judged);
  EXPECT_THAT(judged.error().message, HasSubstr("revoked"));
  EXPECT_TRUE(lost->judge(found->pem().certificate));
}

TEST_F(AuthorityTest, RevokingListsAllCertificatesOfAName) {
  const auto authority = create();
  const auto peer = Credentials::open(enrol(*authority, {"c", Role::kCoordinator})).value();
  const auto one = enrol(*authority, device_);
  const auto two = enrol(*authority, device_, {kCertificateLife, OtherKeys::kLeave});
  const auto taken = authority->revoke({"PI-1", Role::kDevice}).value();
  EXPECT_EQ(taken.size(), 2U);
  const auto late = Credentials::open(enrol(*authority, {"d", Role::kCoordinator})).value();
  for (const auto& folder : {one, two}) {
    const std::string certificate = read_file(folder / "certificate.pem").value();
    EXPECT_TRUE(peer->judge(certificate)) << "it has the list of before";
    EXPECT_FALSE(late->judge(certificate));
  }
  EXPECT_EQ(authority->revoke(device_).value().size(), 2U) << "again";
  EXPECT_EQ(authority->revoke({"pi-2", Role::kDevice}).error().code, ErrorCode::kNotFound);
  const IssuedIndex index = Authority::open(place_).value()->issued().value();
  EXPECT_EQ(index.list_number, 3);
  EXPECT_EQ(state_of(index, index.certificates[1], now_), IssuedState::kRevoked);
}

TEST_F(AuthorityTest, ATakenBackCertificateStaysListedForAYearAfterItExpired) {
  const auto authority = create();
  const auto lost = authority->sign(make_key_request().request, device_, {}).value();
  ASSERT_TRUE(authority->revoke(device_));
  const auto is_listed = [&] {
    // Another one that is taken back has the list signed again.
    EXPECT_TRUE(authority->sign(make_key_request().request, {"other", Role::kDevice},
                                {kCertificateLife, OtherKeys::kLeave}));
    EXPECT_TRUE(authority->revoke({"other", Role::kDevice}));
    const RevocationList list = revocation_list_of(authority->revoked_der().value()).value();
    X509_REVOKED* entry = nullptr;
    const Certificate certificate = certificate_of(lost.certificate).value();
    return X509_CRL_get0_by_cert(list.get(), &entry, certificate.get()) == 1;
  };
  EXPECT_TRUE(is_listed());
  now_ += days(90 + 364);
  EXPECT_TRUE(is_listed()) << "a clock may be behind";
  now_ += days(2);
  EXPECT_FALSE(is_listed());
}

TEST_F(AuthorityTest, LivesAreBounded) {
  const auto authority = create();
  const std::string request = make_key_request().request;
  for (const std::chrono::seconds life : {0s, -1s, std::chrono::seconds(days(826))}) {
    problem(authority->sign(request, device_, {life}), ErrorCode::kInvalidArgument);
  }
  now_ = authority->expiry() - 1h;
  EXPECT_EQ(authority->sign(request, device_, {}).value().record.until, authority->expiry());
  now_ += 2h;
  EXPECT_THAT(problem(authority->sign(request, device_, {}), ErrorCode::kInvalidArgument),
              HasSubstr("expired"));
}

TEST_F(AuthorityTest, OnlyRequestsOfGoodKeysAreSigned) {
  const auto authority = create();
  const auto refused = [&](const std::string& request) {
    return problem(authority->sign(request, device_, {}), ErrorCode::kInvalidArgument);
  };
  const std::string good = make_key_request().request;
  EXPECT_THAT(refused(""), HasSubstr("no certificate request"));
  EXPECT_THAT(refused("-----BEGIN nonsense"), HasSubstr("no certificate request"));
  EXPECT_THAT(refused(good + "x"), HasSubstr("no certificate request"));
  EXPECT_THAT(refused(std::string(kLongestRequestBytes + 1, 'x')), HasSubstr("at most"));
  std::string changed = good;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_THAT(refused(changed), HasSubstr("not signed with its own key"));
  for (std::size_t size = 0; size < good.size(); ++size) refused(good.substr(0, size));

  const auto with = [](EVP_PKEY* key) {
    const Key owner(key);
    return to_der(*make_request(*owner));
  };
  EXPECT_THAT(refused(with(EVP_RSA_gen(1024))), HasSubstr("1024 bits"));
  EXPECT_THAT(refused(with(EVP_EC_gen("secp256k1"))), HasSubstr("kind that is not taken"));
  EXPECT_TRUE(authority->sign(with(EVP_RSA_gen(2048)), {"rsa", Role::kDevice}, {}));
  EXPECT_TRUE(authority->sign(with(EVP_EC_gen("P-384")), {"p384", Role::kDevice}, {}));
  EXPECT_TRUE(authority->issued().value().certificates.size() == 2) << "nothing else is in it";
}

TEST_F(AuthorityTest, WrongNamesAreNotSigned) {
  const auto authority = create();
  for (const char* name : {"", "a b", "pi.1", "-pi", "pi,DNS:x"}) {
    problem(authority->sign(make_key_request().request, {name, Role::kDevice}, {}),
            ErrorCode::kInvalidArgument);
  }
}

TEST_F(AuthorityTest, AnotherProcessThatHasTheFolderIsWaitedFor) {
  const auto authority = create();
  const auto lock = FolderLock::try_take(place_);
  ASSERT_TRUE(lock && *lock);
  const auto done = authority->sign(make_key_request().request, device_, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
}

TEST(IssuedIndex, IsReadAsItWasWritten) {
  IssuedIndex index;
  const std::chrono::sys_seconds from(1000s);
  index.certificates.push_back(
      {{"pi-1", Role::kDevice}, "0a1b", sha256("key"), from, from + 10s, from + 5s});
  index.certificates.push_back(
      {{"grafana", Role::kObserver}, "ff", sha256("other"), from, from + 10s, std::nullopt});
  index.list_number = 7;
  const IssuedIndex read = issued_index_from(to_json(index)).value();
  EXPECT_EQ(to_json(read), to_json(index));
  ASSERT_EQ(read.certificates.size(), 2U);
  EXPECT_EQ(read.certificates[0].revoked, from + 5s);
  EXPECT_FALSE(read.certificates[1].revoked);
}

TEST(IssuedIndex, WhatIsWrongIsNamed) {
  const auto problem = [](const std::string& text) {
    const auto read = issued_index_from(text);
    EXPECT_FALSE(read) << text;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(problem("["), HasSubstr("no JSON"));
  EXPECT_THAT(problem("{}"), HasSubstr("version"));
  EXPECT_THAT(problem(R"({"version":2})"), HasSubstr("version is 2"));
  EXPECT_THAT(problem(R"({"version":1,"list_number":1,"certificates":{}})"), HasSubstr("no list"));
  EXPECT_THAT(problem(R"({"version":1,"list_number":1,"certificates":[{"name":"a b"}]})"),
              HasSubstr("certificate 1"));
  EXPECT_THAT(problem(R"({"version":1,"list_number":1,"certificates":[
                {"name":"a","role":"device","serial":"../x"}]})"),
              HasSubstr("serial"));
}

}  // namespace
}  // namespace pareto::tls
