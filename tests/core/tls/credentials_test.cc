#include "core/tls/credentials.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <type_traits>

#include "core/base/file.h"
#include "core/tls/fresh_credentials.h"
#include "core/tls/signing.h"
#include "tests/support/tls.h"

namespace pareto::tls {
namespace {

using namespace std::chrono_literals;
using test::TestAuthority;
using test::Validity;
using testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  std::shared_ptr<Credentials> open(const std::filesystem::path& folder) {
    auto opened = Credentials::open(folder);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened.value_or(nullptr);
  }
  static Error refusal(const std::filesystem::path& folder) {
    const auto opened = Credentials::open(folder);
    return opened ? Error{} : opened.error();
  }
  void write(const std::filesystem::path& path, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(path, text));
  }
  static std::string read(const std::filesystem::path& path) { return *read_file(path, 1 << 20); }

  static Identity value_of(const Expected<Identity>& said) { return *said; }
  static std::string value_of(std::string said) { return said; }

  /// Shakes hands in memory. Returns what the server says of the client, and the reverse.
  template <typename Say = decltype(&Credentials::peer_of)>
  static auto meet(const Credentials& server, const Credentials& client,
                   Say say = Credentials::peer_of) {
    SSL* const one = SSL_new(server.context().get());
    SSL* const other = SSL_new(client.context().get());
    BIO* left = nullptr;
    BIO* right = nullptr;
    BIO_new_bio_pair(&left, 0, &right, 0);
    SSL_set_bio(one, left, left);
    SSL_set_bio(other, right, right);
    SSL_set_accept_state(one);
    SSL_set_connect_state(other);
    int served = 0;
    int asked = 0;
    for (int i = 0; i < 20; ++i) {
      if (asked != 1) asked = SSL_do_handshake(other);
      if (served != 1) served = SSL_do_handshake(one);
    }
    using Said = Expected<std::decay_t<decltype(value_of(say(*one)))>>;
    const auto said = [&](SSL* ssl, int done) -> Said {
      if (done == 1) return say(*ssl);
      return fail(ErrorCode::kPermission, "{}",
                  X509_verify_cert_error_string(SSL_get_verify_result(ssl)));
    };
    auto result = std::pair(said(one, served), said(other, asked));
    SSL_free(one);
    SSL_free(other);
    return result;
  }

  const TemporaryFolder folder_ = TemporaryFolder::create("credentials").value();
  TestAuthority authority_{folder_.path(), "authority"};
  const Identity device_{"pi-1", Role::kDevice};
  const Identity coordinator_{"lab", Role::kCoordinator};
};

TEST_F(CredentialsTest, TellTheTwoSidesWhoTheOtherIs) {
  const auto device = open(authority_.credentials(device_));
  const auto coordinator = open(authority_.credentials(coordinator_));
  ASSERT_TRUE(device && coordinator);
  EXPECT_EQ(device->identity(), device_);
  const auto [client, server] = meet(*device, *coordinator);
  ASSERT_TRUE(client && server) << (client ? server : client).error().message;
  EXPECT_EQ(*client, coordinator_);
  EXPECT_EQ(*server, device_);
  EXPECT_TRUE(device->warnings().size() == 1) << "a life of a day is short";
}

TEST_F(CredentialsTest, MayHoldForThousandsOfYears) {
  constexpr std::chrono::hours kToTheYear9900{24L * 365 * 7880};
  const auto device = open(authority_.credentials(device_, {-1h, kToTheYear9900}));
  ASSERT_TRUE(device);
  EXPECT_TRUE(device->warnings().empty()) << device->warnings().front();
}

TEST_F(CredentialsTest, RefuseAnotherAuthoritysAndExpiredOnes) {
  TestAuthority other(folder_.path(), "other");
  const auto device = open(authority_.credentials(device_));
  const auto stranger = open(other.credentials(coordinator_));
  const auto late = open(authority_.credentials({"late", Role::kCoordinator}, {-48h, -1h}));
  ASSERT_TRUE(device && stranger && late);
  EXPECT_FALSE(meet(*device, *stranger).first);
  EXPECT_FALSE(meet(*stranger, *device).second);
  const auto [client, server] = meet(*device, *late);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("expired"));
  EXPECT_THAT(late->warnings(), testing::Contains(HasSubstr("has expired")));
  EXPECT_THAT(device->judge(late->pem().certificate).error().message, HasSubstr("expired"));
  EXPECT_TRUE(device->judge_again(late->pem().certificate)) << "it was connected before";
  EXPECT_EQ(device->judge(stranger->pem().certificate).error().code, ErrorCode::kPermission);
  EXPECT_EQ(device->judge("nothing").error().code, ErrorCode::kPermission);
}

TEST_F(CredentialsTest, RefuseWhoWasTakenBackOnceTheListIsThere) {
  const auto theirs = authority_.credentials(coordinator_);
  const auto ours = authority_.credentials(device_);
  const auto device = open(ours);
  const auto lost = open(theirs);
  ASSERT_TRUE(device && lost);
  EXPECT_TRUE(device->judge(lost->pem().certificate));
  authority_.revoke(theirs);
  // A list that is over its time holds on.
  write(ours / kRevokedFile, authority_.revocation({-48h, -1h}));
  EXPECT_TRUE(device->refresh().value());
  EXPECT_FALSE(device->refresh().value());
  EXPECT_THAT(device->judge(lost->pem().certificate).error().message, HasSubstr("revoked"));
  EXPECT_THAT(device->judge_again(lost->pem().certificate).error().message, HasSubstr("revoked"));
  EXPECT_FALSE(meet(*device, *lost).first);
  const auto next = open(authority_.credentials(coordinator_));
  EXPECT_TRUE(meet(*device, *next).first);
}

TEST_F(CredentialsTest, StayAsTheyAreWhileNewFilesCannotBeUsed) {
  const auto folder = authority_.credentials(device_);
  const auto device = open(folder);
  ASSERT_TRUE(device);
  const std::string key = read(folder / kKeyFile);
  write(folder / kKeyFile, "no key");
  EXPECT_FALSE(device->refresh());
  EXPECT_TRUE(device->judge(device->pem().certificate));
  write(folder / kKeyFile, key);
  EXPECT_TRUE(device->refresh().value());
  // Both files of another certificate.
  const auto before = device->expiry();
  authority_.credentials(device_, {-1h, 2400h});
  EXPECT_TRUE(device->refresh().value());
  EXPECT_GT(device->expiry(), before);
  EXPECT_TRUE(device->warnings().empty());
}

TEST_F(CredentialsTest, LetNobodyInAgainBecauseAListIsLost) {
  const auto theirs = authority_.credentials(coordinator_);
  const auto ours = authority_.credentials(device_);
  const auto device = open(ours);
  const auto lost = open(theirs);
  ASSERT_TRUE(device && lost);
  const auto list = ours / kRevokedFile;
  const std::string older = authority_.revocation();
  authority_.revoke(theirs);
  const std::string newer = authority_.revocation();
  write(list, newer);
  ASSERT_TRUE(device->refresh().value());
  const auto refused = [&] {
    const auto changed = device->refresh();
    EXPECT_FALSE(device->judge(lost->pem().certificate)) << "the list in use holds";
    return changed ? std::string("taken") : changed.error().message;
  };
  std::filesystem::remove(list);
  EXPECT_THAT(refused(), HasSubstr("revoked.pem is gone"));
  std::filesystem::create_symlink("nowhere", list);
  EXPECT_THAT(refused(), HasSubstr("revoked.pem is gone"));
  EXPECT_THAT(refusal(ours).message, HasSubstr("revoked.pem: No such file"));
  std::filesystem::remove(list);
  std::filesystem::create_symlink(kRevokedFile, list);
  EXPECT_THAT(refused(), HasSubstr("revoked.pem is gone"));
  EXPECT_THAT(refusal(ours).message, HasSubstr("Too many levels of symbolic links"));
  std::filesystem::remove(list);
  ASSERT_EQ(::mkfifo(list.c_str(), 0600), 0);
  EXPECT_THAT(refused(), HasSubstr("a pipe or a device"));
  std::filesystem::remove(list);
  write(list, older);
  EXPECT_THAT(refused(), HasSubstr("is in use: copy the newest"));
  write(list, newer);
  EXPECT_TRUE(device->refresh());
  // Another authority has lists of its own.
  TestAuthority other(folder_.path(), "other");
  const auto fresh = other.credentials({"fresh", Role::kDevice});
  for (const auto name : {kCertificateFile, kKeyFile, kAuthorityFile}) {
    write(ours / name, read(fresh / name));
  }
  std::filesystem::remove(list);
  EXPECT_THAT(refused(), HasSubstr("is that of device fresh, and this process is device pi-1"));
}

TEST_F(CredentialsTest, BelieveTheListOfEachAuthority) {
  TestAuthority other(folder_.path(), "other");
  const auto ours = authority_.credentials(device_);
  const auto one = authority_.credentials({"one", Role::kCoordinator});
  const auto two = other.credentials({"two", Role::kCoordinator});
  write(ours / kAuthorityFile, read(authority_.certificate()) + read(other.certificate()));
  const std::string older = other.revocation();
  authority_.revoke(one);
  other.revoke(two);
  const std::string newer = authority_.revocation() + other.revocation();
  write(ours / kRevokedFile, newer);
  const auto device = open(ours);
  ASSERT_TRUE(device);
  const auto expect_refused = [&] {
    for (const auto& lost : {one, two}) {
      const auto judged = device->judge(read(lost / kCertificateFile));
      ASSERT_FALSE(judged) << lost;
      EXPECT_THAT(judged.error().message, HasSubstr("its authority took it back"));
    }
  };
  expect_refused();
  EXPECT_TRUE(device->judge(read(authority_.credentials(coordinator_) / kCertificateFile)));
  const auto refused = [&](const std::string& lists) {
    write(ours / kRevokedFile, lists);
    const auto changed = device->refresh();
    expect_refused();
    return changed ? std::string("taken") : changed.error().message;
  };
  EXPECT_THAT(refused(authority_.revocation()), HasSubstr("lacks a list that is in use"));
  EXPECT_THAT(refused(other.revocation()), HasSubstr("lacks a list that is in use"));
  EXPECT_THAT(refused(authority_.revocation() + older), HasSubstr("list 0, and list 1 is in use"));
  EXPECT_THAT(refused(newer + older), HasSubstr("two lists of one authority"));
  EXPECT_THAT(refused(newer + "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"),
              HasSubstr("list 3 in it is broken"));
  // An authority that is believed no more, and then again.
  const std::string both = read(ours / kAuthorityFile);
  write(ours / kAuthorityFile, read(authority_.certificate()));
  write(ours / kRevokedFile, authority_.revocation());
  EXPECT_TRUE(device->refresh().value());
  write(ours / kAuthorityFile, both);
  write(ours / kRevokedFile, authority_.revocation() + older);
  EXPECT_THAT(device->refresh().error().message, HasSubstr("list 0, and list 1 is in use"));
  write(ours / kRevokedFile, newer);
  EXPECT_TRUE(device->refresh().value());
}

TEST_F(CredentialsTest, KeepAListAlthoughAnAuthorityIsAdded) {
  TestAuthority other(folder_.path(), "other");
  const auto ours = authority_.credentials(device_);
  const auto lost = authority_.credentials(coordinator_);
  authority_.revoke(lost);
  const std::string list = authority_.revocation();
  write(ours / kRevokedFile, list);
  const auto device = open(ours);
  ASSERT_TRUE(device);
  write(ours / kAuthorityFile, read(other.certificate()) + read(authority_.certificate()));
  write(ours / kRevokedFile, other.revocation());
  EXPECT_THAT(device->refresh().error().message, HasSubstr("lacks a list that is in use"));
  EXPECT_FALSE(device->judge(read(lost / kCertificateFile)));
  write(ours / kRevokedFile, other.revocation() + list);
  EXPECT_TRUE(device->refresh().value());
  EXPECT_FALSE(device->judge(read(lost / kCertificateFile)));
  EXPECT_TRUE(device->judge(read(other.credentials(coordinator_) / kCertificateFile)));
}

/// Adds certificates of others to what some credentials show.
void lengthen(const Credentials& credentials, const std::string& path, int count) {
  const auto others = read_certificates(path).value();
  for (int i = 0; i < count; ++i) {
    SSL_CTX_add1_chain_cert(credentials.context().get(), others.front().get());
  }
}

TEST_F(CredentialsTest, AStrangersLongChainIsNotRead) {
  const auto device = open(authority_.credentials(device_));
  const auto folder = authority_.credentials(coordinator_);
  ASSERT_TRUE(device);
  const std::string one = folder / kCertificateFile;
  const auto bytes = static_cast<int>(to_der(*read_certificates(one)->front()).size());
  const auto with = [&](int size) {
    const auto coordinator = open(folder);
    lengthen(*coordinator, one, size / bytes);
    return meet(*device, *coordinator).first.has_value();
  };
  EXPECT_TRUE(with(8 << 10));
  EXPECT_FALSE(with(20 << 10));
  std::string chain;
  for (int i = 0; i <= (20 << 10) / bytes; ++i) chain += read(one);
  write(one, chain);
  EXPECT_THAT(refusal(folder).message, HasSubstr("peers take at most 16384"));
}

TEST_F(CredentialsTest, TellWhatThePeerShowed) {
  const auto device = open(authority_.credentials(device_));
  const auto coordinator = open(authority_.credentials(coordinator_));
  ASSERT_TRUE(device && coordinator);
  const auto [client, server] = meet(*device, *coordinator, Credentials::chain_of);
  // OpenSSL adds the authority by itself.
  const std::string authority = read(authority_.certificate());
  EXPECT_EQ(client.value(), coordinator->pem().certificate + authority);
  EXPECT_EQ(server.value(), device->pem().certificate + authority);
}

TEST_F(CredentialsTest, AreReadAgainWhileSomebodyHasThem) {
  const auto theirs = authority_.credentials(coordinator_);
  const auto ours = authority_.credentials(device_);
  std::atomic<int> complaints = 0;
  auto fresh = keep_fresh(
                   open(ours), [&](const Error&) { ++complaints; }, 1ms)
                   .value();
  const std::string lost = read(theirs / kCertificateFile);
  EXPECT_TRUE(fresh->judge(lost));
  authority_.revoke(theirs);
  write(ours / kRevokedFile, authority_.revocation());
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (fresh->judge(lost)) ASSERT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(complaints, 0);
  write(ours / kKeyFile, "no key");
  while (complaints == 0) ASSERT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(fresh->identity(), device_) << "what was in use stays so";
  fresh.reset();
  EXPECT_EQ(complaints, 1) << "once for each reason";
}

TEST_F(CredentialsTest, SayWhatIsWrongWithAFolder) {
  EXPECT_EQ(refusal(folder_.path() / "absent").code, ErrorCode::kNotFound);
  EXPECT_THAT(refusal(folder_.path() / "absent").message, HasSubstr("paretod enroll"));
  const auto folder = authority_.credentials(device_);
  const auto other = authority_.credentials(coordinator_);
  TestAuthority stranger(folder_.path(), "stranger");
  write(folder / kRevokedFile, stranger.revocation());
  EXPECT_THAT(refusal(folder).message, HasSubstr("not signed by an authority"));
  write(folder / kRevokedFile, "nothing");
  EXPECT_THAT(refusal(folder).message, HasSubstr("no list of revoked certificates"));
  std::filesystem::remove(folder / kRevokedFile);
  write(folder / kAuthorityFile, read(stranger.certificate()));
  EXPECT_THAT(refusal(folder).message, HasSubstr("does not hold against"));
  write(folder / kAuthorityFile, read(authority_.certificate()));
  write(folder / kKeyFile, read(other / kKeyFile));
  EXPECT_THAT(refusal(folder).message, HasSubstr("does not belong"));
  std::filesystem::remove(folder / kKeyFile);
  EXPECT_EQ(refusal(folder).code, ErrorCode::kInvalidArgument);
  // A certificate of a web server names neither role nor name.
  const CertificateFiles web = authority_.issue("web");
  write(folder / kCertificateFile, read(web.certificate));
  write(folder / kKeyFile, read(web.key));
  EXPECT_THAT(refusal(folder).message, HasSubstr("names no coordinator"));
}

TEST(IdentityTest, IsTheOneThatTheNamesAgreeOn) {
  const Identity device{"pi-1", Role::kDevice};
  EXPECT_EQ(dns_name(device), "pi-1.device.pareto-edge");
  for (const char* held :
       {"pi-1.device.pareto-edge", "PI-1.Device.pareto-edge", "device.pareto-edge"}) {
    EXPECT_TRUE(answers_to(device, held)) << held;
  }
  for (const char* other : {"", "pi-1", "pi-2.device.pareto-edge", "observer.pareto-edge",
                            "pi-1.observer.pareto-edge", "pi-1.device.pareto-edge."}) {
    EXPECT_FALSE(answers_to(device, other)) << other;
  }
  EXPECT_EQ(to_string(device), "device pi-1");
  EXPECT_EQ(parse_identity("device pi-1"), device);
  for (const char* nobody : {"", "device", "device ", "king pi-1", "device -x", "pi-1 device"}) {
    EXPECT_EQ(parse_identity(nobody).error().code, ErrorCode::kInvalidArgument) << nobody;
  }
  using Names = std::vector<std::string>;
  EXPECT_EQ(identity_among(Names{dns_name(Role::kDevice), dns_name(device)}).value(), device);
  EXPECT_FALSE(identity_among(Names{dns_name(Role::kDevice)}));
  EXPECT_FALSE(identity_among(Names{dns_name(device), "pi-2.device.pareto-edge"}));
  EXPECT_FALSE(identity_among(Names{dns_name(device), "pi-1.coordinator.pareto-edge"}));
  EXPECT_FALSE(identity_among(Names{"a.b.device.pareto-edge"}));
  EXPECT_FALSE(identity_among(Names{std::string("a\0.device.pareto-edge", 21)}));
  for (const char* name : {"", "-a", "a-", "a.b", "a b", "ä"})
    EXPECT_FALSE(valid_name(name)) << name;
  EXPECT_FALSE(valid_name(std::string(64, 'a')));
  EXPECT_TRUE(valid_name(std::string(63, 'a')));
  EXPECT_EQ(parse_role("observer").value(), Role::kObserver);
  EXPECT_THAT(parse_role("root").error().message, HasSubstr("coordinator, device and observer"));
}

}  // namespace
}  // namespace pareto::tls
