// Who may open a link, over each transport that leaves the machine: everybody else is refused on
// both sides, before a message is taken.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "core/transport/socket.h"
#include "tests/core/transport/fixture.h"
#include "tests/core/transport/test_credentials.h"

namespace pareto::transport {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using tls::Credentials;
using tls::Role;

constexpr std::chrono::hours kDay{24};
constexpr test::Validity kExpired{-2 * kDay, -kDay};
constexpr test::Validity kToCome{kDay, 2 * kDay};

/// An authority of the same name, whom nobody believes here.
const TestCredentials& strangers() {
  static const TestCredentials kOther;
  return kOther;
}

LinkOptions with(std::shared_ptr<const Credentials> credentials) {
  LinkOptions options;
  options.credentials = std::move(credentials);
  return options;
}

/// The errors that both ends of a link came to.
struct Outcome {
  Error client;
  Error server;
};

class SecuredLinks : public testing::TestWithParam<std::string> {
 protected:
  SecuredLinks() : transport_(must(make_transport(GetParam()))) {}

  /// Lets a client connect and send a message, which the server must not get.
  Outcome refuse(const LinkOptions& server, const LinkOptions& client) {
    const auto listener = must(transport_->listen("127.0.0.1:0", server));
    Async serving([&] { return serve(*listener); });
    const auto link = transport_->connect(listener->address(), soon(), client);
    Outcome outcome;
    if (link) {
      static_cast<void>((*link)->send(message_of(1, 1000), soon()));
      const auto answer = (*link)->receive(soon());
      EXPECT_FALSE(answer) << "nobody answers";
      if (!answer) outcome.client = answer.error();
    } else {
      outcome.client = link.error();
    }
    listener->close();
    outcome.server = serving.get();
    return outcome;
  }

  /// Returns why no message came.
  static Error serve(Listener& listener) {
    const auto link = listener.accept(soon());
    if (!link) return link.error();
    const auto received = (*link)->receive(soon());
    EXPECT_FALSE(received) << "a message of somebody who may not send any";
    EXPECT_FALSE((*link)->send(message_of(2, 10), soon()));
    return received ? Error{} : received.error();
  }

  /// `by_server`: the server is the one who refuses. gRPC does not pass its reason on.
  void expect_refused(const LinkOptions& server, const LinkOptions& client, bool by_server,
                      const char* why) {
    const Outcome outcome = refuse(server, client);
    EXPECT_EQ(outcome.client.code, ErrorCode::kPermission) << outcome.client.message;
    const bool told = GetParam() == "tcp" || !by_server;
    EXPECT_THAT(outcome.client.message, HasSubstr(told ? why : "hangs up once it has seen"));
    // gRPC hands out no link with such a peer, or one that ends.
    if (GetParam() == "tcp") {
      EXPECT_EQ(outcome.server.code, ErrorCode::kPermission) << outcome.server.message;
    }
  }

  const TestCredentials& ours_ = test_credentials();
  std::unique_ptr<Transport> transport_;
};

TEST_P(SecuredLinks, AnotherAuthoritysCertificateIsRefused) {
  expect_refused(with(ours_.device), with(strangers().coordinator), false, "one authority");
  expect_refused(with(strangers().device), with(ours_.coordinator), false, "one authority");
}

TEST_P(SecuredLinks, WhoBelievesEverybodyIsNotBelieved) {
  const TestCredentials other("another-authority");
  const auto folder = other.authority.credentials({"gullible", Role::kCoordinator});
  const auto read = [](const std::filesystem::path& file) {
    return must(read_file(file, 1 << 20));
  };
  ASSERT_TRUE(write_file_atomically(
      folder / tls::kAuthorityFile,
      read(other.authority.certificate()) + read(ours_.authority.certificate())));
  expect_refused(with(ours_.device), with(must(Credentials::open(folder))), true,
                 "refuses this side's certificate");
}

TEST_P(SecuredLinks, ACertificateHoldsForItsTimeOnly) {
  const auto old_device = ours_.of({"old", Role::kDevice}, kExpired);
  const auto old_coordinator = ours_.of({"old", Role::kCoordinator}, kExpired);
  expect_refused(with(old_device), with(ours_.coordinator), false, "expired");
  expect_refused(with(ours_.device), with(old_coordinator), true, "expired");
  const auto early = ours_.of({"early", Role::kDevice}, kToCome);
  expect_refused(with(early), with(ours_.coordinator), false, "clock");
}

TEST_P(SecuredLinks, ARevokedCertificateIsRefusedByWhoHasTheList) {
  TestCredentials own;
  const auto folder = own.authority.credentials({"judge", Role::kDevice});
  const auto lost = own.authority.credentials({"lost", Role::kDevice});
  const auto judge = must(Credentials::open(folder));
  const auto revoked = must(Credentials::open(lost));
  own.authority.revoke(lost);
  ASSERT_TRUE(write_file_atomically(folder / tls::kRevokedFile, own.authority.revocation()));
  ASSERT_TRUE(must(judge->refresh()));
  expect_refused(with(revoked), with(judge), false, "revoked");
  const Outcome outcome = refuse(with(judge), with(revoked));
  EXPECT_EQ(outcome.client.code, ErrorCode::kPermission) << outcome.client.message;
}

TEST_P(SecuredLinks, TheOtherEndIsTheDeviceThatWasNamed) {
  LinkOptions client = with(ours_.coordinator);
  client.expected_peer = {"pi-2", Role::kDevice};
  const Outcome outcome = refuse(with(ours_.device), client);
  EXPECT_EQ(outcome.client.code, ErrorCode::kPermission) << outcome.client.message;
  EXPECT_THAT(outcome.client.message, HasSubstr("device pi-1 answers, not device pi-2"));
  client.expected_peer = {"pi-1", Role::kDevice};
  const auto listener = must(transport_->listen("127.0.0.1:0", with(ours_.device)));
  Async accepting([&] {
    auto link = must(listener->accept(soon()));
    EXPECT_TRUE(link->authenticate(soon()));
    return link;
  });
  const auto link = must(transport_->connect(listener->address(), soon(), client));
  const auto accepted = accepting.get();
  ASSERT_TRUE(link->send(message_of(5, 10), soon()));
  EXPECT_EQ(must(accepted->receive(soon())).message.request, 5U);
}

TEST_P(SecuredLinks, NobodyButADeviceIsLinkedTo) {
  for (const Role role : {Role::kCoordinator, Role::kObserver}) {
    const auto other = ours_.of({"other", role});
    const Outcome outcome = refuse(with(other), with(ours_.coordinator));
    EXPECT_EQ(outcome.client.code, ErrorCode::kPermission) << outcome.client.message;
    EXPECT_THAT(outcome.client.message, HasSubstr(" other answers, which is no device"));
  }
}

TEST_P(SecuredLinks, OneSideAloneWithCredentialsIsToldSo) {
  const Outcome plain_client = refuse(with(ours_.device), {});
  EXPECT_THAT(plain_client.client.message, HasSubstr("credentials"));
  const Outcome plain_server = refuse({}, with(ours_.coordinator));
  EXPECT_EQ(plain_server.client.code, ErrorCode::kPermission) << plain_server.client.message;
  EXPECT_THAT(plain_server.client.message, HasSubstr("the peer speaks no TLS 1.3"));
  if (GetParam() == "grpc") return;
  EXPECT_EQ(plain_client.client.code, ErrorCode::kPermission);
  EXPECT_EQ(plain_client.server.code, ErrorCode::kPermission);
  EXPECT_THAT(plain_client.server.message, HasSubstr("the peer speaks no TLS 1.3"));
  EXPECT_EQ(plain_server.server.code, ErrorCode::kPermission);
  EXPECT_THAT(plain_server.server.message, HasSubstr("has no credentials"));
}

/// Shakes hands as a client without a certificate, or with an older TLS. Returns whether the server
/// let it in: whether it could read a byte, or was still there.
bool is_let_in(const std::string& address, int newest_version) {
  const FileDescriptor socket = must(open_connection(must(parse_host_port(address)), soon()));
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), newest_version);
  const unsigned char protocols[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), protocols, sizeof protocols);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), socket.get());
  if (SSL_connect(ssl.get()) != 1) return false;
  char byte = 0;
  return SSL_read(ssl.get(), &byte, 1) == 1;
}

TEST_P(SecuredLinks, WithoutACertificateNobodyComesIn) {
  const auto listener = must(transport_->listen("127.0.0.1:0", with(ours_.device)));
  Async serving([&] { return serve(*listener); });
  EXPECT_FALSE(is_let_in(listener->address(), TLS1_3_VERSION));
  listener->close();
  const Error error = serving.get();
  if (GetParam() == "grpc") return;
  EXPECT_EQ(error.code, ErrorCode::kPermission);
  EXPECT_THAT(error.message, HasSubstr("shows no certificate"));
}

TEST_P(SecuredLinks, RenewedFilesHoldForWhoConnectsNext) {
  TestCredentials own;
  const auto folder = own.authority.credentials({"pi-7", Role::kDevice});
  const auto device = must(Credentials::open(folder));
  const auto judging = own.authority.credentials({"judge", Role::kCoordinator});
  const auto listener = must(transport_->listen("127.0.0.1:0", with(device)));
  const auto connect = [&]() -> Expected<Pair> {
    Async accepting([&]() -> Expected<std::unique_ptr<Link>> {
      PARETO_ASSIGN(auto link, listener->accept(deadline_after(std::chrono::seconds(5))));
      PARETO_TRY(link->authenticate(soon()));
      return link;
    });
    // Reads its folder again: it is another process.
    auto client =
        transport_->connect(listener->address(), soon(), with(must(Credentials::open(judging))));
    auto server = client ? accepting.get() : tl::unexpected(client.error());
    if (!server) return tl::unexpected(server.error());
    return Pair{*std::move(client), *std::move(server)};
  };
  const Pair before = must(connect());
  // The old certificate is taken back, and the device has a new one.
  own.authority.revoke(folder);
  ASSERT_TRUE(write_file_atomically(judging / tls::kRevokedFile, own.authority.revocation()));
  own.authority.credentials({"pi-7", Role::kDevice});
  ASSERT_TRUE(must(device->refresh()));
  const Pair after = must(connect());
  for (const Pair* links : {&before, &after}) {
    ASSERT_TRUE(links->client->send(message_of(1, 100'000), soon()));
    EXPECT_TRUE(links->server->receive(soon()));
  }
}

TEST_P(SecuredLinks, SlowHandshakesDelayNobody) {
  const auto listener = must(transport_->listen("127.0.0.1:0", with(ours_.device)));
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(must(open_connection(must(parse_host_port(listener->address())), soon())));
    // The beginning of a handshake, and then nothing.
    ASSERT_EQ(::send(silent.back().get(), "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  }
  Async connecting([&] {
    auto link = must(transport_->connect(listener->address(), soon(), with(ours_.coordinator)));
    EXPECT_TRUE(link->send(message_of(3, 10), soon()));
    return must(link->receive(soon())).message.request;
  });
  std::vector<std::unique_ptr<Link>> slow;
  while (true) {
    // A link with a slow peer comes out of here at once, and each has its own time.
    auto link = must(listener->accept(soon()));
    const auto shaken = link->authenticate(slow.size() < 8 ? shortly() : soon());
    if (!shaken) {
      EXPECT_EQ(shaken.error().code, ErrorCode::kTimeout) << shaken.error().message;
      slow.push_back(std::move(link));
      ASSERT_LE(slow.size(), 8U);
      continue;
    }
    EXPECT_EQ(must(link->receive(soon())).message.request, 3U);
    // The peer may hang up before this side knows that it was sent.
    static_cast<void>(link->send(message_of(4, 10), soon()));
    EXPECT_EQ(connecting.get(), 4U);
    break;
  }
  EXPECT_EQ(slow.size(), GetParam() == "grpc" ? 0U : 8U);
}

INSTANTIATE_TEST_SUITE_P(Networks, SecuredLinks, testing::Values("tcp", "grpc"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace pareto::transport
