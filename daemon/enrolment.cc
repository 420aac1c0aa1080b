#include "daemon/enrolment.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/tls/credentials.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment.h"
#include "core/tls/enrolment_channel.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"

namespace pareto::daemon {
namespace {

constexpr std::chrono::seconds kEnrolmentPatience{15};

/// The arguments, read.
struct Invited {
  transport::HostPort address;
  tls::Token token;
  Digest authority;
};

/// Reads a line of stdin, so that no list of processes shows the token.
Expected<std::string> line_of_input() {
  constexpr std::size_t kLongestLine = 100;
  std::string line;
  for (char letter = 0; line.size() < kLongestLine; line += letter) {
    const ssize_t count = ::read(STDIN_FILENO, &letter, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(error_from_errno(errno, "stdin"));
    if (count == 0 || letter == '\n') return line;
  }
  return fail(ErrorCode::kInvalidArgument, "the line of stdin is too long for a token");
}

Expected<Invited> read_flags(const EnrolmentFlags& flags) {
  Invited invited;
  PARETO_ASSIGN(invited.address, transport::parse_host_port(flags.address));
  PARETO_ASSIGN(invited.authority,
                with_context(tls::parse_fingerprint(flags.authority), "--authority"));
  if (!flags.name.empty()) PARETO_TRY(with_context(tls::valid_name(flags.name), "--name"));
  std::string token = flags.token;
  if (token == "-") {
    PARETO_ASSIGN(token, with_context(line_of_input(), "--token -"));
  }
  PARETO_ASSIGN(invited.token, with_context(tls::parse_token(token), "--token"));
  return invited;
}

/// Says what most often keeps a folder from being written.
Expected<tls::NewCredentials> begin_folder(const std::string& folder) {
  auto begun = tls::NewCredentials::begin(folder);
  if (!begun && begun.error().code == ErrorCode::kPermission) {
    begun.error().message +=
        ": run it as a user who may write there (sudo), or name another folder by --credentials";
  }
  return begun;
}

Expected<FileDescriptor> reach(const transport::HostPort& address, Deadline deadline) {
  auto socket = transport::open_connection(address, deadline);
  if (!socket) {
    socket.error().message +=
        ": does paretoctl pki issue still wait there, and may this port pass the firewall?";
  }
  return socket;
}

Expected<tls::EnrolmentReply> ask(tls::EnrolmentChannel& channel, const Invited& invited,
                                  const std::string& name, const std::string& request,
                                  Deadline deadline) {
  const Digest proof = tls::proof_of(invited.token, channel.binding(), name, request);
  PARETO_TRY(channel.send(tls::encode(tls::EnrolmentRequest{name, request, proof}), deadline));
  PARETO_ASSIGN(const std::string bytes, channel.receive(tls::kLongestEnrolmentReply, deadline));
  PARETO_ASSIGN(tls::EnrolmentReply reply, tls::parse_enrolment_reply(bytes));
  if (reply.error) {
    return fail(reply.error->code, "the coordinator refuses: {}", reply.error->message);
  }
  if (sha256(reply.authority) != invited.authority) {
    return fail(ErrorCode::kPermission,
                "the coordinator sent another authority than the fingerprint names");
  }
  return reply;
}

/// Checks what came, and puts it into its place.
Expected<tls::Identity> store(tls::NewCredentials& folder, const tls::EnrolmentReply& reply,
                              std::string key, const std::string& name) {
  PARETO_ASSIGN(
      const tls::CredentialsTexts texts,
      tls::credentials_texts(std::move(key), reply.certificate, reply.authority, reply.revoked));
  PARETO_ASSIGN(tls::Identity identity, with_context(folder.write(texts), "what came"));
  if (!name.empty() && identity.name != name) {
    return fail(ErrorCode::kPermission, "the certificate that came names {}, not \"{}\"",
                to_string(identity), name);
  }
  PARETO_TRY(folder.commit());
  return identity;
}

}  // namespace

Expected<NewIdentity> enrol(const EnrolmentFlags& flags) {
  PARETO_ASSIGN(const Invited invited, read_flags(flags));
  std::error_code ignored;
  const std::filesystem::path certificate =
      std::filesystem::path(flags.credentials) / tls::kCertificateFile;
  const bool first = !std::filesystem::exists(certificate, ignored);
  PARETO_ASSIGN(tls::NewCredentials folder, begin_folder(flags.credentials));
  tls::KeyRequest key = tls::make_key_request();
  const Deadline deadline = deadline_after(kEnrolmentPatience);
  PARETO_ASSIGN(const FileDescriptor socket, reach(invited.address, deadline));
  PARETO_ASSIGN(const auto channel, with_context(tls::EnrolmentChannel::connect(
                                                     socket.get(), invited.authority, deadline),
                                                 "{}", flags.address));
  PARETO_ASSIGN(
      const tls::EnrolmentReply reply,
      with_context(ask(*channel, invited, flags.name, key.request, deadline), "{}", flags.address));
  auto stored = store(folder, reply, std::move(key.key), flags.name);
  tls::EnrolmentEnd end;
  if (!stored) end.error = stored.error();
  // Whether or not it hears this, the credentials are in their place.
  static_cast<void>(channel->send(tls::encode(end), deadline));
  PARETO_TRY(stored);
  PARETO_ASSIGN(const auto credentials, tls::Credentials::open(flags.credentials));
  return NewIdentity{*std::move(stored), credentials->expiry(), flags.credentials, first};
}

}  // namespace pareto::daemon
