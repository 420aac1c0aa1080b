// Certificates as people leave them on their devices.
#include "core/tls/server_certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/metrics/certificate_metric.h"
#include "tests/support/tls.h"

namespace pareto::tls {
namespace {

using namespace std::chrono_literals;
using test::TestAuthority;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServerCertificateTest : public testing::Test {
 protected:
  ServerCertificateTest()
      : folder_(TemporaryFolder::create("certificate").value()),
        authority_(folder_.path(), "authority") {}

  std::string path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& path, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(path, text));
  }
  static std::string problem(const CertificateFiles& files) {
    const auto loaded = ServerCertificate::load(files);
    EXPECT_FALSE(loaded);
    if (loaded) return "";
    EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument);
    return loaded.error().message;
  }
  static auto seconds_left(const ServerCertificate& certificate) {
    return certificate.expiry() - std::chrono::system_clock::now();
  }

  TemporaryFolder folder_;
  TestAuthority authority_;
};

TEST_F(ServerCertificateTest, NothingNamedIsNone) {
  const auto none = ServerCertificate::load({});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  EXPECT_THAT(metrics::certificate_metric(nullptr).samples, IsEmpty());
}

TEST_F(ServerCertificateTest, TheFirstToExpireCounts) {
  const CertificateFiles files = authority_.issue("server", {-1h, 72h});
  const auto alone = ServerCertificate::load(files).value();
  EXPECT_GT(seconds_left(*alone), 71h);
  EXPECT_LT(seconds_left(*alone), 72h);
  EXPECT_THAT(alone->warnings(), IsEmpty());
  const metrics::Family metric = metrics::certificate_metric(alone.get());
  EXPECT_THAT(metric.samples.at(0).labels,
              ElementsAre(metrics::Labels::value_type{"use", "metrics"}));
  EXPECT_EQ(metric.samples[0].value,
            static_cast<double>(alone->expiry().time_since_epoch().count()));

  // The authority's, which goes with it, ends a day from now.
  write(files.certificate,
        read_file(files.certificate).value() + read_file(authority_.certificate()).value());
  const auto chain = ServerCertificate::load(files).value();
  EXPECT_LT(seconds_left(*chain), 24h);
  EXPECT_GT(seconds_left(*chain), 23h);
}

TEST_F(ServerCertificateTest, OneFileMayHoldBoth) {
  CertificateFiles files = authority_.issue("server");
  write(path("both.pem"), read_file(files.key).value() + read_file(files.certificate).value());
  EXPECT_TRUE(ServerCertificate::load({path("both.pem"), path("both.pem"), ""}));
}

TEST_F(ServerCertificateTest, WhatIsNamedWithoutWhatItTakes) {
  EXPECT_THAT(problem({"/c.pem", "", ""}),
              AllOf(HasSubstr("/c.pem"), HasSubstr("a certificate and its key")));
  EXPECT_THAT(problem({"", "/k.pem", ""}),
              AllOf(HasSubstr("/k.pem"), HasSubstr("a certificate and its key")));
  EXPECT_THAT(problem({"", "", "/ca.pem"}),
              AllOf(HasSubstr("/ca.pem"), HasSubstr("a certificate and its key")));
}

TEST_F(ServerCertificateTest, MistakesNameTheFileAndWhatToDo) {
  const CertificateFiles good = authority_.issue("server");
  const CertificateFiles other = authority_.issue("other");
  const auto with = [&](auto member, const std::string& file) {
    CertificateFiles files = good;
    files.*member = file;
    return problem(files);
  };
  EXPECT_THAT(with(&CertificateFiles::certificate, path("absent.pem")),
              AllOf(HasSubstr("certificate: " + path("absent.pem")), HasSubstr("No such file")));
  EXPECT_THAT(with(&CertificateFiles::key, path("absent.key")),
              HasSubstr("key: " + path("absent.key")));
  EXPECT_THAT(with(&CertificateFiles::client_ca, folder_.path()),
              AllOf(HasSubstr("client CA: "), HasSubstr("is a folder")));

  EXPECT_THAT(problem({path("absent.pem"), path("absent.key"), ""}), HasSubstr("No such file"));

  write(path("no.pem"), "certificates are elsewhere\n");
  EXPECT_THAT(with(&CertificateFiles::certificate, path("no.pem")),
              AllOf(HasSubstr(path("no.pem")), HasSubstr("BEGIN CERTIFICATE")));
  EXPECT_THAT(with(&CertificateFiles::client_ca, good.key), HasSubstr("no certificate in it"));
  EXPECT_THAT(with(&CertificateFiles::key, good.certificate), HasSubstr("BEGIN PRIVATE KEY"));
  std::string broken = read_file(authority_.certificate()).value();
  broken.replace(broken.size() / 2, 1, "!");
  write(path("broken.pem"), read_file(good.certificate).value() + broken);
  EXPECT_THAT(with(&CertificateFiles::certificate, path("broken.pem")),
              AllOf(HasSubstr(path("broken.pem")), HasSubstr("certificate 2 in it is broken")));

  EXPECT_THAT(with(&CertificateFiles::key, other.key),
              AllOf(HasSubstr(other.key + " does not belong"), HasSubstr(good.certificate)));
  const CertificateFiles locked = authority_.issue("locked", {}, "secret");
  EXPECT_THAT(problem(locked), AllOf(HasSubstr(locked.key), HasSubstr("passphrase"),
                                     HasSubstr("openssl pkey -in FILE -out NEW")));
}

TEST_F(ServerCertificateTest, AKeyThatMayNotBeReadIsTheEnvironmentsFault) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const CertificateFiles files = authority_.issue("server");
  std::filesystem::permissions(files.key, std::filesystem::perms::none);
  const auto loaded = ServerCertificate::load(files);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kPermission);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr(files.key), HasSubstr("chgrp")));
}

TEST_F(ServerCertificateTest, WhatSomebodyShouldLookAtIsUsed) {
  const CertificateFiles expired = authority_.issue("expired", {-48h, -1h});
  EXPECT_THAT(ServerCertificate::load(expired).value()->warnings(),
              ElementsAre(AllOf(HasSubstr(expired.certificate), HasSubstr("expired"))));
  const CertificateFiles early = authority_.issue("early", {1h, 2h});
  EXPECT_THAT(ServerCertificate::load(early).value()->warnings(),
              ElementsAre(AllOf(HasSubstr(early.certificate), HasSubstr("clock"))));
  const CertificateFiles open = authority_.issue("open");
  std::filesystem::permissions(open.key, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(ServerCertificate::load(open).value()->warnings(),
              ElementsAre(AllOf(HasSubstr(open.key), HasSubstr("chmod o-r"))));
}

TEST_F(ServerCertificateTest, IsReadAnewWhereTheFilesHaveChanged) {
  const CertificateFiles files = authority_.issue("server", {-1h, 24h});
  const auto certificate = ServerCertificate::load(files).value();
  const auto first = certificate->context();
  EXPECT_FALSE(*certificate->refresh());
  EXPECT_EQ(certificate->context(), first);

  authority_.issue("server", {-1h, 72h});
  EXPECT_TRUE(*certificate->refresh());
  EXPECT_NE(certificate->context(), first);
  EXPECT_GT(seconds_left(*certificate), 71h);
  EXPECT_FALSE(*certificate->refresh());
}

TEST_F(ServerCertificateTest, LinksThatAreSetToOtherFilesAreAChange) {
  const CertificateFiles first = authority_.issue("first", {-1h, 24h});
  const CertificateFiles second = authority_.issue("second", {-1h, 72h});
  const CertificateFiles links{path("live.pem"), path("live.key"), ""};
  const auto point = [&](const CertificateFiles& to) {
    std::filesystem::remove(links.certificate);
    std::filesystem::remove(links.key);
    std::filesystem::create_symlink(to.certificate, links.certificate);
    std::filesystem::create_symlink(to.key, links.key);
  };
  point(first);
  const auto certificate = ServerCertificate::load(links).value();
  point(second);
  EXPECT_TRUE(*certificate->refresh());
  EXPECT_GT(seconds_left(*certificate), 71h);
}

TEST_F(ServerCertificateTest, WhatCannotBeTakenLeavesWhatWas) {
  const CertificateFiles files = authority_.issue("server");
  const auto certificate = ServerCertificate::load(files).value();
  const auto first = certificate->context();
  const std::string before = read_file(files.key).value();
  // Renewed by halves: the certificate has its new key not yet.
  authority_.issue("server", {-1h, 72h});
  const std::string renewed = read_file(files.key).value();
  write(files.key, before);
  for (int i = 0; i < 2; ++i) {
    const auto refreshed = certificate->refresh();
    ASSERT_FALSE(refreshed);
    EXPECT_THAT(refreshed.error().message, HasSubstr("does not belong"));
    EXPECT_EQ(certificate->context(), first);
  }
  std::filesystem::remove(files.key);
  EXPECT_FALSE(certificate->refresh());
  EXPECT_EQ(certificate->context(), first);
  write(files.key, renewed);
  EXPECT_TRUE(*certificate->refresh());
  EXPECT_NE(certificate->context(), first);
}

}  // namespace
}  // namespace pareto::tls
