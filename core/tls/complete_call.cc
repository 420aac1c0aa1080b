#include "core/tls/complete_call.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <cerrno>

#include "core/base/poll.h"

namespace pareto::tls {

Expected<CompletedCall> complete_call(SSL& connection, Deadline deadline,
                                      const std::function<int(SSL*)>& call) {
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const int result = call(&connection);
    if (result > 0) return CompletedCall{result, SSL_ERROR_NONE};
    const int error = SSL_get_error(&connection, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      return CompletedCall{result, error};
    }
    const short event = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    pollfd polled{SSL_get_fd(&connection), event, 0};
    PARETO_TRY(poll_until({&polled, 1}, deadline));
  }
}

}  // namespace pareto::tls
