// The suite over all transports that are built in: what it is made of. Its tests, by what they ask
// of a transport:
//   conformance_test.cc             messages: all arrive, in order, within the limits
//   conformance_connecting_test.cc  addresses, listeners, strangers
//   conformance_closing_test.cc     ends and deadlines
#pragma once

#include "tests/core/transport/fixture.h"

namespace pareto::transport {

/// One run for each transport (conformance_test.cc names them).
class Conformance : public testing::TestWithParam<std::string> {
 protected:
  Conformance() : transport_(must(make_transport(GetParam()))) {}

  std::unique_ptr<Listener> listen(const LinkOptions& options = {}) {
    return must(transport_->listen(listen_address(*transport_), options));
  }
  Pair connect(Listener& listener, const LinkOptions& options = {}) {
    auto client = must(transport_->connect(listener.address(), soon(), options));
    return {std::move(client), must(listener.accept(soon()))};
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
