// Certificates, as people give them to their devices: two commands, and what may go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <asio.hpp>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using asio::ip::tcp;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Passes the bytes of one connection on, and keeps them.
class Recorder {
 public:
  explicit Recorder(const std::string& address)
      : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}), thread_([this, address] {
          try {
            tcp::socket near = acceptor_.accept();
            tcp::socket far(context_);
            const auto port = std::stoi(address.substr(address.rfind(':') + 1));
            far.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
            std::jthread back([&] { pass(far, near, answered_); });
            pass(near, far, asked_);
          } catch (const std::exception& error) {
            problem_ = error.what();
          }
        }) {}

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// Returns all that went through, both ways, when the connection has ended.
  std::string heard() {
    thread_.join();
    EXPECT_EQ(problem_, "");
    return asked_ + answered_;
  }

 private:
  static void pass(tcp::socket& from, tcp::socket& to, std::string& kept) {
    std::array<char, 4096> bytes{};
    std::error_code error;
    for (;;) {
      const std::size_t count = from.read_some(asio::buffer(bytes), error);
      if (error) break;
      kept.append(bytes.data(), count);
      asio::write(to, asio::buffer(bytes, count), error);
      if (error) break;
    }
    to.shutdown(tcp::socket::shutdown_both, error);
    from.shutdown(tcp::socket::shutdown_both, error);
  }

  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::string asked_;
  std::string answered_;
  std::string problem_;
  std::jthread thread_;
};

class Pki : public EndToEnd {
 protected:
  std::vector<std::string> environment() const { return {"XDG_CONFIG_HOME=" + path("home")}; }
  Finished pki(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"paretoctl", "pki"});
    return run(std::move(arguments), environment());
  }
  json list() const {
    const Finished done = pki({"list", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output, nullptr, false);
  }
  std::string state_of(const std::string& name) const {
    std::string states;
    const json all = list();
    for (const json& one : all.at("certificates")) {
      if (one.at("name") == name) states += one.at("state").get<std::string>() + " ";
    }
    return states;
  }

  /// The coordinator that waits for a device.
  struct Invited {
    std::unique_ptr<Process> process;
    json invitation;
    std::string address() const { return invitation.at("addresses").at(0); }
    std::string token() const { return invitation.at("token"); }
    std::string authority() const { return invitation.at("authority"); }
  };
  Invited invite(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"paretoctl", "pki"});
    arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0", "--json"});
    Invited invited{std::make_unique<Process>(std::move(arguments), environment()), {}};
    EXPECT_TRUE(invited.process->wait_for_output("}\n")) << invited.process->errors();
    const std::string said = invited.process->output();
    invited.invitation = json::parse(said.substr(0, said.find('\n'))).at("invitation");
    return invited;
  }
  Finished enroll(const Invited& invited, const std::vector<std::string>& more = {},
                  const std::string& address = "") const {
    std::vector<std::string> arguments{
        "paretod",           "enroll",        address.empty() ? invited.address() : address,
        "--token",           invited.token(), "--authority",
        invited.authority(), "--credentials", path("device")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(std::move(arguments));
  }
};

TEST_F(Pki, TwoCommandsGiveADeviceItsCertificate) {
  const Invited invited = invite({"issue", "pi-1"});
  Recorder recorder(invited.address());
  const Finished device = enroll(invited, {}, recorder.address());
  EXPECT_EQ(device.exit_code, 0) << device.errors;
  EXPECT_THAT(device.output, AllOf(HasSubstr("this is device pi-1 until "), HasSubstr("device")));
  EXPECT_THAT(device.errors, HasSubstr("restart paretod"));
  EXPECT_EQ(invited.process->wait(), 0) << invited.process->errors();
  EXPECT_THAT(invited.process->output(), HasSubstr("\"name\":\"pi-1\""));
  EXPECT_EQ(state_of("pi-1"), "valid ");

  struct stat key {};
  ASSERT_EQ(::stat((path("device") + "/key.pem").c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777, 0600U);
  const std::string heard = recorder.heard();
  EXPECT_GT(heard.size(), 1000U);
  std::ifstream pem(path("device") + "/key.pem");
  for (std::string line; std::getline(pem, line);) EXPECT_THAT(heard, Not(HasSubstr(line)));
  EXPECT_THAT(heard, Not(HasSubstr(invited.token())));

  // It was for one device.
  const Finished again = enroll(invited);
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.errors, HasSubstr("does paretoctl pki issue still wait there"));
}

TEST_F(Pki, AWrongTokenIsRefusedAndFiveEndTheInvitation) {
  const Invited invited = invite({"issue", "pi-1"});
  for (int i = 0; i < 5; ++i) {
    // Of a flag given twice the last counts, with other flags in between too.
    const Finished wrong =
        run({"paretod", "enroll", invited.address(), "--token", "00000-00000-00000-00000-000000",
             "--authority", invited.authority(), "--credentials", path("device")});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_THAT(wrong.errors, HasSubstr("wrong token"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("device")));
  EXPECT_EQ(invited.process->wait(), 1);
  EXPECT_THAT(invited.process->errors(), AllOf(HasSubstr("5 wrong tokens"), HasSubstr("(4 of 5)")));
  EXPECT_EQ(state_of("pi-1"), "");
}

TEST_F(Pki, ADeviceBelievesOnlyTheAuthorityThatItWasTold) {
  const Invited invited = invite({"issue", "pi-1"});
  const std::string other = "SHA256:" + std::string(64, '0');
  const Finished wrong = run({"paretod", "enroll", invited.address(), "--token", invited.token(),
                              "--authority", other, "--credentials", path("device")});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.errors, HasSubstr("compare --authority"));
  EXPECT_EQ(enroll(invited).exit_code, 0) << "the token was not shown";
  EXPECT_EQ(invited.process->wait(), 0);
}

TEST_F(Pki, MistakesOnTheDeviceLeaveTheInvitationOpen) {
  const Invited invited = invite({"issue", "pi-1"});
  const Finished other_name = enroll(invited, {"--name", "pi-2"});
  EXPECT_EQ(other_name.exit_code, 2);
  EXPECT_THAT(other_name.errors, HasSubstr("the invitation is for device pi-1"));
  std::filesystem::create_directories(path("full"));
  std::ofstream(path("full/thesis.tex")) << "x";
  const Finished full = enroll(invited, {"--credentials", path("full")});
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.errors, HasSubstr("thesis.tex"));
  const Finished unknown = enroll(invited, {"--credential", path("x")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean --credentials"));
  const Finished no_token =
      run({"paretod", "enroll", invited.address(), "--authority", invited.authority()});
  EXPECT_EQ(no_token.exit_code, 2);
  EXPECT_THAT(no_token.errors, HasSubstr("--token"));
  EXPECT_EQ(enroll(invited, {"--name", "pi-1"}).exit_code, 0);
  EXPECT_EQ(invited.process->wait(), 0);
}

TEST_F(Pki, AnInvitationIsTakenBackByCtrlC) {
  const Invited invited = invite({"issue", "pi-1"});
  invited.process->signal(SIGINT);
  EXPECT_EQ(invited.process->wait(), 1);
  EXPECT_THAT(invited.process->errors(), HasSubstr("nobody enrolled"));
  EXPECT_EQ(enroll(invited).exit_code, 3);
}

TEST_F(Pki, ADeviceIsRenewedReplacedAndRevoked) {
  const auto enrol = [this](const std::vector<std::string>& how) {
    const Invited invited = invite(how);
    EXPECT_EQ(enroll(invited).exit_code, 0);
    EXPECT_EQ(invited.process->wait(), 0) << invited.process->errors();
    return slurp(path("device/certificate.pem"));
  };
  const std::string first = enrol({"issue", "pi-1"});
  const Finished taken = pki({"issue", "pi-1"});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.errors, AllOf(HasSubstr("pki renew pi-1"), HasSubstr("--replace")));
  EXPECT_NE(enrol({"renew", "pi-1"}), first);
  EXPECT_EQ(state_of("pi-1"), "replaced valid ");
  enrol({"issue", "pi-1", "--replace"});
  EXPECT_EQ(state_of("pi-1"), "revoked revoked valid ");

  const std::string own = path("home/pareto-edge/credentials/revoked.pem");
  const std::string before = slurp(own);
  const Finished revoked = pki({"revoke", "pi-1"});
  EXPECT_EQ(revoked.exit_code, 0);
  EXPECT_THAT(revoked.output, HasSubstr("revoked device pi-1"));
  EXPECT_THAT(revoked.errors, HasSubstr("authority/revoked.pem root@DEVICE"));
  EXPECT_EQ(state_of("pi-1"), "revoked revoked revoked ");
  EXPECT_NE(slurp(own), before);
  const Finished nobody = pki({"revoke", "pi-2"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.errors, HasSubstr("did you mean pi-1"));
}

TEST_F(Pki, TheCoordinatorsOwnAreMadeOnceAndRenewed) {
  EXPECT_EQ(pki({"list"}).exit_code, 2);
  const Finished made = pki({"init", "desk"});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("authority SHA256:"));
  EXPECT_THAT(made.errors, HasSubstr("this machine is coordinator desk"));
  EXPECT_THAT(pki({"init", "desk"}).errors, HasSubstr("nothing to do"));
  const std::string own = path("home/pareto-edge/credentials/certificate.pem");
  const std::string before = slurp(own);
  const Finished renewed = pki({"renew", "--days", "10"});
  EXPECT_EQ(renewed.exit_code, 0) << renewed.errors;
  EXPECT_THAT(renewed.output, HasSubstr("this machine is coordinator desk until"));
  EXPECT_NE(slurp(own), before);
  EXPECT_EQ(state_of("desk"), "replaced valid ");
  EXPECT_EQ(pki({"renew", "--days", "826"}).exit_code, 2);
  EXPECT_EQ(pki({"renew", "--days", "0"}).exit_code, 2);
}

TEST_F(Pki, CertificatesAreGivenWithoutAConnectionToo) {
  const Finished observer =
      pki({"issue", "grafana", "--role", "observer", "--to", path("grafana")});
  EXPECT_EQ(observer.exit_code, 0) << observer.errors;
  EXPECT_THAT(observer.errors, HasSubstr("the key was made here"));
  EXPECT_TRUE(std::filesystem::exists(path("grafana/key.pem")));

  const Finished request = run({"/usr/bin/openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=anything",
                                "-keyout", path("key.pem"), "-out", path("pi.csr")});
  ASSERT_EQ(request.exit_code, 0) << request.errors;
  const Finished no_folder = pki({"issue", "pi-2", "--request", path("pi.csr")});
  EXPECT_EQ(no_folder.exit_code, 2);
  EXPECT_THAT(no_folder.errors, HasSubstr("--to"));
  const Finished done = pki({"issue", "pi-2", "--request", path("pi.csr"), "--to", path("pi-2")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_FALSE(std::filesystem::exists(path("pi-2/key.pem")));
  const Finished verified = run(
      {"/usr/bin/openssl", "verify", "-x509_strict", "-crl_check", "-CAfile",
       path("pi-2/authority.pem"), "-CRLfile", path("pi-2/revoked.pem"), "-purpose", "sslclient",
       "-verify_hostname", "pi-2.device.pareto-edge", path("pi-2/certificate.pem")});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
}

TEST_F(Pki, WhatAnActionDoesNotTakeIsSaid) {
  for (const auto& [arguments, part] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"list", "pi-1"}, "pki list takes no name"},
           {{"revoke", "pi-1", "--replace"}, "takes no --replace"},
           {{"issue", "a b"}, "\"a b\" is no name"},
           {{"issue", "pi-1", "--timeout", "2d"}, "--timeout"},
           {{"issue", "pi-1", "--listen", "nowhere"}, "--listen"}}) {
    const Finished done = pki(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_THAT(done.errors, HasSubstr(part));
  }
}

}  // namespace
}  // namespace pareto::test
