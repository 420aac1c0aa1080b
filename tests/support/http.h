// A client of HTTP as small as can be, and one that sends what it likes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pareto::test {

/// A connection over which a test says any bytes. Threads: one owner.
class RawConnection {
 public:
  /// address: "127.0.0.1:PORT". Throws where nobody listens.
  explicit RawConnection(const std::string& address);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  /// Sends bytes. False: the peer has hung up.
  bool send(std::string_view bytes) const;
  /// Ends the sending: no more will be sent.
  void end_sending() const;
  /// Returns all that comes until the peer hangs up; if it does not, what came within a minute,
  /// with " (cut off)" behind it.
  std::string read_to_end() const;

 private:
  int fd_ = -1;
};

struct HttpResult {
  int status = 0;  ///< 0: no answer
  std::string head;
  std::string body;
};
HttpResult parse_http(const std::string& answer);

/// path: "/metrics?x=1", encoded already. Status 0 where nobody listens.
HttpResult http_get(const std::string& address, const std::string& path);
/// Encodes text as a part of a path or of a form: "a+b" is "a%2Bb".
std::string percent_encoded(std::string_view text);

/// Returns a port of 127.0.0.1 that nobody uses now, for programs that cannot pick one. Another may
/// take it before they do.
std::uint16_t free_port();

}  // namespace pareto::test
