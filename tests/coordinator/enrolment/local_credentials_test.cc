// Credentials that are made where the authority is.
#include "coordinator/enrolment/local_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "coordinator/enrolment/own_addresses.h"
#include "core/base/file.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment.h"
#include "core/transport/address.h"

namespace pareto::enrolment {
namespace {

using testing::HasSubstr;

class LocalCredentials : public testing::Test {
 protected:
  LocalCredentials()
      : folder_(TemporaryFolder::create("local").value()),
        authority_(tls::Authority::create(folder_.path() / "authority", "test").value()) {}

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  const tls::Identity own_{"desk", tls::Role::kCoordinator};
  TemporaryFolder folder_;
  std::unique_ptr<tls::Authority> authority_;
};

TEST_F(LocalCredentials, AreMadeAndRenewedInTheirPlace) {
  ASSERT_TRUE(make_credentials(*authority_, own_, {}, path("own")));
  const auto used = tls::Credentials::open(path("own")).value();
  EXPECT_EQ(used->identity(), own_);
  const auto refused = make_credentials(*authority_, own_, {}, path("own"));
  EXPECT_FALSE(refused) << "another key has the name";
  EXPECT_FALSE(used->refresh().value()) << "and nothing was changed";
  ASSERT_TRUE(make_credentials(*authority_, own_, {tls::kCertificateLife, tls::OtherKeys::kLeave},
                               path("own")));
  EXPECT_TRUE(used->refresh().value());
}

TEST_F(LocalCredentials, AFolderThatCannotBeWrittenIsFoundBeforeAnythingIsSigned) {
  ASSERT_TRUE(write_file_atomically(path("file"), "x"));
  EXPECT_FALSE(make_credentials(*authority_, own_, {}, path("file") / "own"));
  EXPECT_FALSE(make_credentials(*authority_, own_, {}, path("file")));
  std::filesystem::create_directories(path("home"));
  ASSERT_TRUE(write_file_atomically(path("home") / "thesis.tex", "x"));
  EXPECT_THAT(make_credentials(*authority_, own_, {}, path("home")).error().message,
              HasSubstr("thesis.tex"));
  EXPECT_TRUE(authority_->issued().value().certificates.empty());
}

TEST_F(LocalCredentials, AnExistingFoldersModeAndGroupStay) {
  std::filesystem::create_directories(path("own"));
  ASSERT_EQ(::chmod(path("own").c_str(), 0750), 0);
  ASSERT_TRUE(make_credentials(*authority_, own_, {}, path("own")));
  struct stat status {};
  ASSERT_EQ(::stat(path("own").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0750U);
  ASSERT_EQ(::stat((path("own") / "key.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U) << "its group may read the folder";
  ASSERT_TRUE(make_credentials(*authority_, {"other", tls::Role::kObserver}, {}, path("new")));
  ASSERT_EQ(::stat((path("new") / "key.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".new-"))) << "nothing is left";
  }
}

TEST_F(LocalCredentials, ARequestFromElsewhereIsSigned) {
  const tls::KeyRequest key = tls::make_key_request();
  ASSERT_TRUE(write_file_atomically(path("pi.csr"), key.request));
  const tls::Identity pi{"pi-1", tls::Role::kDevice};
  ASSERT_TRUE(sign_request(*authority_, path("pi.csr"), pi, {}, path("pi")));
  EXPECT_FALSE(std::filesystem::exists(path("pi") / "key.pem"));
  ASSERT_TRUE(write_file_atomically(path("pi") / "key.pem", key.key));
  EXPECT_EQ(tls::Credentials::open(path("pi")).value()->identity(), pi);

  ASSERT_TRUE(write_file_atomically(path("bad.csr"), std::string(1 << 20, 'x')));
  const auto refused = sign_request(*authority_, path("bad.csr"), pi, {}, path("bad"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bad.csr"));
}

TEST_F(LocalCredentials, TheListGoesToCredentialsOfThisAuthorityOnly) {
  ASSERT_TRUE(make_credentials(*authority_, own_, {}, path("own")));
  const auto other = tls::Authority::create(path("other-authority"), "other").value();
  ASSERT_TRUE(make_credentials(*other, own_, {}, path("others")));
  const std::string before = read_file(path("others") / "revoked.pem").value();
  ASSERT_TRUE(make_credentials(*authority_, {"pi", tls::Role::kDevice}, {}, path("pi")));
  ASSERT_TRUE(authority_->revoke({"pi", tls::Role::kDevice}));
  const auto used = tls::Credentials::open(path("own")).value();
  EXPECT_TRUE(update_revoked(*authority_, path("own")).value());
  EXPECT_FALSE(update_revoked(*authority_, path("others")).value());
  EXPECT_FALSE(update_revoked(*authority_, path("nowhere")).value());
  EXPECT_EQ(read_file(path("others") / "revoked.pem").value(), before);
  EXPECT_TRUE(used->refresh().value());
  EXPECT_FALSE(used->judge(read_file(path("pi") / "certificate.pem").value()));
}

TEST(NameOfHost, IsAValidName) {
  EXPECT_EQ(name_of_host("desk.example.org"), "desk");
  EXPECT_EQ(name_of_host("my_desk"), "my-desk");
  EXPECT_EQ(name_of_host("_x_"), "x");
  EXPECT_EQ(name_of_host(""), "coordinator");
  EXPECT_EQ(name_of_host("..."), "coordinator");
  EXPECT_TRUE(tls::valid_name(name_of_host(std::string(200, 'a'))));
  EXPECT_TRUE(tls::valid_name(name_of_host(std::string(62, 'a') + "_b")));
}

TEST(OwnAddresses, AreNumericAndNotOfLoopback) {
  for (const std::string& host : own_addresses()) {
    EXPECT_TRUE(transport::parse_host_port(transport::to_string(transport::HostPort{host, 1})))
        << host;
    EXPECT_FALSE(transport::is_loopback(transport::to_string(transport::HostPort{host, 1})))
        << host;
  }
}

TEST(UserFolder, FollowsTheEnvironment) {
  EXPECT_EQ(tls::user_folder("credentials", "/x", "/home/a"), "/x/pareto-edge/credentials");
  EXPECT_EQ(tls::user_folder("authority", "", "/home/a"), "/home/a/.config/pareto-edge/authority");
  EXPECT_EQ(tls::user_folder("authority", nullptr, nullptr), "/etc/pareto-edge/authority");
}

}  // namespace
}  // namespace pareto::enrolment
