#include "core/transport/tls_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/transport/socket.h"
#include "core/transport/tcp/tls_stream.h"

namespace pareto::transport {
namespace {

constexpr std::chrono::seconds kCheckPatience{2};

}  // namespace

Expected<> check_tls(const HostPort& address, const LinkOptions& options, Deadline deadline) {
  const Deadline patience = deadline_after(kCheckPatience);
  const Deadline until = deadline ? std::min(*deadline, *patience) : patience;
  PARETO_ASSIGN(FileDescriptor socket, open_connection(address, until));
  PARETO_ASSIGN(const auto stream, tcp::TlsStream::connect(std::move(socket), options, until));
  std::array<std::byte, 1> byte;
  const iovec part{byte.data(), byte.size()};
  const auto got = stream->read_some({&part, 1}, until);
  if (!got && got.error().code == ErrorCode::kPermission) return tl::unexpected(got.error());
  return {};
}

}  // namespace pareto::transport
