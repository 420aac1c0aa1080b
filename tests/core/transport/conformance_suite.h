// The suite over all transports that are built in: what it is made of. Its tests, by what they ask
// of a transport:
//   conformance_test.cc             messages: all arrive, in order, within the limits
//   conformance_connecting_test.cc  addresses, listeners, strangers
//   conformance_closing_test.cc     ends and deadlines
#pragma once

#include "tests/core/transport/fixture.h"
#include "tests/core/transport/test_credentials.h"

namespace pareto::transport {

/// A transport, plain or with credentials on both sides.
struct Way {
  std::string transport;
  bool secured = false;
};

/// One run for each way (conformance_test.cc lists them).
class Conformance : public testing::TestWithParam<Way> {
 protected:
  Conformance() : transport_(must(make_transport(GetParam().transport))) {}

  /// Returns the options with the credentials of a device, which listens.
  LinkOptions accepting(LinkOptions options = {}) const {
    if (GetParam().secured) options.credentials = test_credentials().device;
    return options;
  }
  /// Returns the options with the credentials of a coordinator, which connects.
  LinkOptions connecting(LinkOptions options = {}) const {
    if (GetParam().secured) options.credentials = test_credentials().coordinator;
    return options;
  }
  std::unique_ptr<Listener> listen(const LinkOptions& options = {}) {
    return must(transport_->listen(listen_address(*transport_), accepting(options)));
  }
  Expected<std::unique_ptr<Link>> dial(const std::string& address) {
    return transport_->connect(address, soon(), connecting());
  }
  Pair connect(Listener& listener, const LinkOptions& options = {}) {
    // Both sides of a handshake have to be at it.
    Async accepted([&] {
      auto server = must(listener.accept(soon()));
      EXPECT_TRUE(server->authenticate(soon()));
      return server;
    });
    auto client = must(transport_->connect(listener.address(), soon(), connecting(options)));
    return {std::move(client), accepted.get()};
  }
  Pair pair(const LinkOptions& options = {}) {
    const auto listener = listen(options);
    return connect(*listener, options);
  }
  bool is_network() const { return transport_->reach() == Reach::kNetwork; }

  std::unique_ptr<Transport> transport_;
};

/// The number of times that the other side took a message, and the error that ended it.
struct Filled {
  int sent = 0;
  Error error;
};
inline Filled fill(Link& link, std::int64_t bytes, Deadline deadline) {
  Filled filled;
  const wire::Message message = message_of(0, bytes);
  while (true) {
    const auto sent = link.send(message, deadline);
    if (!sent) {
      filled.error = sent.error();
      return filled;
    }
    ++filled.sent;
  }
}

}  // namespace pareto::transport
