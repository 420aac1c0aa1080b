// One of OpenSSL's calls on a socket that does not block, repeated until it is done.
#pragma once

#include <functional>

#include "core/base/clock.h"
#include "core/base/error.h"

struct ssl_st;  // OpenSSL's SSL

namespace pareto::tls {

/// The end of a call.
struct CompletedCall {
  int result = 0;  ///< the value that it returned last
  int error = 0;   ///< SSL_get_error() of that value; SSL_ERROR_NONE if it succeeded
};

/// Calls `call(&connection)` until it succeeds or fails; OpenSSL's queue of errors is then that of
/// the last call. Fails: kTimeout.
Expected<CompletedCall> complete_call(ssl_st& connection, Deadline deadline,
                                      const std::function<int(ssl_st*)>& call);

}  // namespace pareto::tls
