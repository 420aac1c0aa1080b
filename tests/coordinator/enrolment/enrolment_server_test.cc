// Devices that enrol, strangers who try, and bytes that are nothing.
#include "coordinator/enrolment/enrolment_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <mutex>

#include "core/base/file.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment_channel.h"
#include "core/transport/socket.h"

namespace pareto::enrolment {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{30};

class EnrolmentServerTest : public testing::Test {
 protected:
  EnrolmentServerTest()
      : folder_(TemporaryFolder::create("enrolment").value()),
        authority_(tls::Authority::create(folder_.path() / "authority", "test").value()),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~EnrolmentServerTest() override {
    if (!served_.valid()) return;
    stop();
    served_.wait();
  }

  void open(const EnrolmentLimits& limits = {}, std::chrono::seconds life = 60s,
            tls::Authority* authority = nullptr) {
    auto& signing = authority == nullptr ? *authority_ : *authority;
    server_ = EnrolmentServer::open(
                  {"127.0.0.1", 0}, signing, {device_, token_, {}}, life,
                  [this](const std::string& sentence) {
                    const std::lock_guard lock(mutex_);
                    notices_.push_back(sentence);
                    changed_.notify_all();
                  },
                  limits)
                  .value();
    served_ = std::async(std::launch::async, [this] { return server_->serve(stop_.get()); });
  }
  void stop() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  Expected<Enrolled> outcome() {
    EXPECT_EQ(served_.wait_for(kPatience), std::future_status::ready);
    return served_.get();
  }
  bool noticed(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      return std::ranges::any_of(
          notices_, [&](const std::string& one) { return one.find(part) != std::string::npos; });
    });
  }

  FileDescriptor connect() const {
    return transport::open_connection({"127.0.0.1", server_->port()}, deadline_after(kPatience))
        .value();
  }
  /// Waits until the server has ended a connection.
  static void wait_for_end(const FileDescriptor& socket) {
    char bytes[256];
    for (;;) {
      ASSERT_TRUE(
          transport::wait_until_ready(socket.get(), POLLIN, nullptr, deadline_after(kPatience)));
      if (::recv(socket.get(), bytes, sizeof bytes, 0) <= 0) return;
    }
  }

  /// Asks as a device does; `change` may spoil the request, after its proof was made.
  Expected<tls::EnrolmentReply> ask(
      const tls::Token& token, const std::string& name = "",
      const std::function<void(tls::EnrolmentRequest&)>& change = [](auto&) {}) {
    return ask_for(key_.request, token, name, change);
  }
  Expected<tls::EnrolmentReply> ask_for(
      const std::string& key_request, const tls::Token& token, const std::string& name = "",
      const std::function<void(tls::EnrolmentRequest&)>& change = [](auto&) {}) {
    const FileDescriptor socket = connect();
    const Deadline deadline = deadline_after(kPatience);
    PARETO_ASSIGN(const auto channel, tls::EnrolmentChannel::connect(
                                          socket.get(), authority_->fingerprint(), deadline));
    tls::EnrolmentRequest request{name, key_request,
                                  tls::proof_of(token, channel->binding(), name, key_request)};
    change(request);
    PARETO_TRY(channel->send(tls::encode(request), deadline));
    PARETO_ASSIGN(const std::string bytes, channel->receive(tls::kLongestEnrolmentReply, deadline));
    PARETO_ASSIGN(tls::EnrolmentReply reply, tls::parse_enrolment_reply(bytes));
    if (!reply.error) PARETO_TRY(channel->send(tls::encode(end_), deadline));
    return reply;
  }
  std::string refusal(const Expected<tls::EnrolmentReply>& reply) const {
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) return "";
    EXPECT_TRUE(reply->error);
    return reply->error ? reply->error->message : "";
  }

  const tls::Identity device_{"pi-1", tls::Role::kDevice};
  const tls::Token token_ = tls::make_token();
  const tls::KeyRequest key_ = tls::make_key_request();
  tls::EnrolmentEnd end_;
  TemporaryFolder folder_;
  std::unique_ptr<tls::Authority> authority_;
  FileDescriptor stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> notices_;
  std::unique_ptr<EnrolmentServer> server_;
  std::future<Expected<Enrolled>> served_;
};

TEST_F(EnrolmentServerTest, TheInvitedDeviceGetsCredentials) {
  open();
  const auto reply = ask(token_).value();
  ASSERT_FALSE(reply.error);
  const auto texts =
      tls::credentials_texts(key_.key, reply.certificate, reply.authority, reply.revoked);
  auto made = tls::NewCredentials::begin(folder_.path() / "credentials").value();
  EXPECT_EQ(made.write(texts.value()).value(), device_);
  const Enrolled enrolled = outcome().value();
  EXPECT_EQ(enrolled.certificate.identity, device_);
  EXPECT_FALSE(enrolled.unconfirmed);
  EXPECT_THAT(enrolled.peer, HasSubstr("127.0.0.1:"));
  EXPECT_EQ(authority_->issued().value().certificates.size(), 1U);
}

TEST_F(EnrolmentServerTest, ADeviceThatCannotStoreSaysSo) {
  open();
  end_.error = Error{ErrorCode::kExhausted, "no space left"};
  ASSERT_TRUE(ask(token_));
  const Enrolled enrolled = outcome().value();
  ASSERT_TRUE(enrolled.unconfirmed);
  EXPECT_EQ(enrolled.unconfirmed->message, "no space left");
}

TEST_F(EnrolmentServerTest, WrongTokensEndTheInvitation) {
  open({10s, 16, 3});
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(refusal(ask(tls::make_token())), HasSubstr("wrong token"));
  const auto done = outcome();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kPermission);
  EXPECT_THAT(done.error().message, HasSubstr("3 wrong tokens"));
  EXPECT_TRUE(authority_->issued().value().certificates.empty());
}

TEST_F(EnrolmentServerTest, AWrongTokenIsForgivenOnce) {
  open();
  EXPECT_THAT(refusal(ask(tls::make_token())), HasSubstr("wrong token"));
  EXPECT_TRUE(noticed("wrong token (1 of 5)"));
  EXPECT_FALSE(ask(token_).value().error);
  EXPECT_TRUE(outcome());
}

TEST_F(EnrolmentServerTest, TheProofIsOfThisRequestOnly) {
  open({10s, 16, 100});
  const auto wrong = [&](const std::function<void(tls::EnrolmentRequest&)>& change) {
    EXPECT_THAT(refusal(ask(token_, "pi-1", change)), HasSubstr("wrong token"));
  };
  wrong([](auto& request) { request.name = "pi-2"; });
  wrong([](auto& request) { request.request = tls::make_key_request().request; });
  wrong([](auto& request) { request.proof.bytes[31] ^= std::byte{1}; });
  // A proof that was heard on another connection is worth nothing.
  wrong([&](auto& request) {
    request.proof = tls::proof_of(token_, sha256("another"), "pi-1", request.request);
  });
  EXPECT_FALSE(ask(token_, "pi-1").value().error);
}

TEST_F(EnrolmentServerTest, AnotherNameIsRefusedAndTheTokenStaysGood) {
  open();
  EXPECT_THAT(refusal(ask(token_, "pi-2")), AllOf(HasSubstr("device pi-1"), HasSubstr("\"pi-2\"")));
  EXPECT_FALSE(ask(token_, "pi-1").value().error);
  EXPECT_TRUE(outcome());
}

TEST_F(EnrolmentServerTest, ABadRequestIsRefusedAndTheTokenStaysGood) {
  open();
  EXPECT_THAT(refusal(ask_for("nonsense", token_)), HasSubstr("no certificate request"));
  EXPECT_FALSE(ask(token_).value().error);
  EXPECT_TRUE(outcome());
}

TEST_F(EnrolmentServerTest, ADeviceDoesNotHearOfTheAuthoritysFolder) {
  open();
  ASSERT_TRUE(write_file_atomically(authority_->folder() / "issued.json", "damaged"));
  EXPECT_THAT(refusal(ask(token_)),
              AllOf(HasSubstr("cannot sign"), testing::Not(HasSubstr("issued.json"))));
  EXPECT_TRUE(noticed("issued.json"));
}

TEST_F(EnrolmentServerTest, OnlyTheNamedAuthorityIsBelieved) {
  open();
  const FileDescriptor socket = connect();
  const auto channel = tls::EnrolmentChannel::connect(socket.get(), sha256("another authority"),
                                                      deadline_after(kPatience));
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, ErrorCode::kPermission);
  EXPECT_THAT(channel.error().message, HasSubstr("compare --authority"));
  EXPECT_TRUE(noticed("does not believe this authority"));
}

TEST_F(EnrolmentServerTest, ACertificateOfADeviceDoesNotEnrol) {
  // Somebody who was enrolled once shows his certificate, and his authority's.
  const auto signed_one = authority_->sign(key_.request, device_, {}).value();
  const auto texts =
      tls::credentials_texts(key_.key, signed_one.certificate, authority_->certificate_der(),
                             authority_->revoked_der().value())
          .value();
  const auto place = folder_.path() / "credentials";
  auto made = tls::NewCredentials::begin(place).value();
  ASSERT_TRUE(made.write(texts));
  ASSERT_TRUE(made.commit());
  ASSERT_TRUE(
      write_file_atomically(place / "certificate.pem", texts.certificate + texts.authority));
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  ASSERT_EQ(SSL_CTX_use_certificate_chain_file(context.get(), (place / "certificate.pem").c_str()),
            1);
  ASSERT_EQ(
      SSL_CTX_use_PrivateKey_file(context.get(), (place / "key.pem").c_str(), SSL_FILETYPE_PEM), 1);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const FileDescriptor near(ends[0]);
  const FileDescriptor far(ends[1]);
  const auto impostor = std::async(std::launch::async, [&] {
    return tls::EnrolmentChannel::accept(far.get(), *context, deadline_after(kPatience));
  });
  const auto channel = tls::EnrolmentChannel::connect(near.get(), authority_->fingerprint(),
                                                      deadline_after(kPatience));
  ASSERT_FALSE(channel);
  EXPECT_THAT(channel.error().message, HasSubstr("did not make it for enrolling"));
}

TEST_F(EnrolmentServerTest, AMessageThatIsTooLongIsNotRead) {
  open();
  const FileDescriptor socket = connect();
  const auto channel = tls::EnrolmentChannel::connect(socket.get(), authority_->fingerprint(),
                                                      deadline_after(kPatience))
                           .value();
  ASSERT_TRUE(channel->send(std::string(tls::kLongestEnrolmentRequest + 1, 'x'),
                            deadline_after(kPatience)));
  EXPECT_FALSE(channel->receive(1000, deadline_after(kPatience)));
  EXPECT_TRUE(noticed("at most"));
  EXPECT_FALSE(ask(token_).value().error);
}

TEST_F(EnrolmentServerTest, BytesThatAreNoTlsAreAnError) {
  open();
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(1000, '\0'), std::string(1000, '\xff'),
        std::string("\x16\x03\x01\xff\xff", 5) + std::string(1 << 16, 'x')}) {
    const FileDescriptor socket = connect();
    static_cast<void>(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ::shutdown(socket.get(), SHUT_WR);
    wait_for_end(socket);
  }
  EXPECT_FALSE(ask(token_).value().error);
}

TEST_F(EnrolmentServerTest, SilentStrangersEnd) {
  open({200ms, 16, 5});
  const FileDescriptor silent = connect();
  wait_for_end(silent);
}

TEST_F(EnrolmentServerTest, ManyStrangersDoNotKeepTheDeviceOut) {
  open({60s, 4, 5});
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 50; ++i) strangers.push_back(connect());
  EXPECT_FALSE(ask(token_).value().error);
  EXPECT_TRUE(outcome());
}

TEST_F(EnrolmentServerTest, OneOfTwoWithTheSameTokenIsServed) {
  open();
  const auto try_once = [this] { return ask(token_); };
  auto first = std::async(std::launch::async, try_once);
  auto second = std::async(std::launch::async, try_once);
  const auto one = first.get();
  const auto other = second.get();
  // The later one may find the port closed already.
  const int served = (one && !one->error ? 1 : 0) + (other && !other->error ? 1 : 0);
  EXPECT_EQ(served, 1);
  EXPECT_TRUE(outcome());
  EXPECT_EQ(authority_->issued().value().certificates.size(), 1U);
}

TEST_F(EnrolmentServerTest, EndsByItselfAndWhenItIsStopped) {
  open({}, 0s);
  EXPECT_EQ(outcome().error().code, ErrorCode::kTimeout);
  open();
  stop();
  EXPECT_EQ(outcome().error().code, ErrorCode::kClosed);
}

TEST_F(EnrolmentServerTest, APortInUseIsSaid) {
  open();
  const auto second = EnrolmentServer::open({"127.0.0.1", server_->port()}, *authority_,
                                            {device_, token_, {}}, 1s, [](const std::string&) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kPermission);
}

}  // namespace
}  // namespace pareto::enrolment
