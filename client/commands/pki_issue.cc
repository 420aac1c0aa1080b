// pki issue and renew: a certificate for a key that is made elsewhere, or here.
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/pki_flags.h"
#include "client/flags/time_flags.h"
#include "coordinator/enrolment/enrolment_server.h"
#include "coordinator/enrolment/local_credentials.h"
#include "coordinator/enrolment/own_addresses.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/tls/credentials.h"
#include "core/tls/enrolment.h"
#include "core/tls/utc_text.h"

namespace pareto::client::commands {
namespace {

constexpr std::chrono::hours kLongestWait{24};

/// Returns the addresses that a device may reach the port at, likeliest first.
std::vector<std::string> reachable(transport::HostPort listen, std::uint16_t port) {
  listen.port = port;
  std::vector<std::string> addresses;
  if (listen.host == "0.0.0.0" || listen.host == "::") {
    for (const std::string& host : enrolment::own_addresses()) {
      addresses.push_back(transport::to_string(transport::HostPort{host, port}));
    }
  }
  if (addresses.empty()) addresses.push_back(transport::to_string(listen));
  return addresses;
}

void print_invitation(Context& context, const PkiFlags& flags, const tls::Authority& authority,
                      const enrolment::Invitation& invitation,
                      const std::vector<std::string>& addresses) {
  const std::string token = to_string(invitation.token);
  const std::string fingerprint = tls::fingerprint_text(authority.fingerprint());
  const std::string command = fmt::format("sudo paretod enroll {} --token {} --authority {}",
                                          addresses.front(), token, fingerprint);
  if (flags.json) {
    context.out << dump({{"invitation",
                          {{"name", invitation.identity.name},
                           {"role", std::string(to_string(invitation.identity.role))},
                           {"addresses", addresses},
                           {"token", token},
                           {"authority", fingerprint},
                           {"command", command}}}})
                << std::endl;
    return;
  }
  context.err << fmt::format("Run this on {} within {}:\n\n", invitation.identity.name,
                             flags.timeout);
  context.err.flush();
  context.out << "  " << command << std::endl;
  context.err << '\n';
  if (addresses.size() > 1) {
    context.err << fmt::format("Other addresses of this machine: {}\n",
                               join(std::span(addresses).subspan(1)));
  }
  context.err << "Waiting. Ctrl-C takes the invitation back." << std::endl;
}

/// Says where and for how long a device is waited for.
struct Waiting {
  transport::HostPort listen;
  std::chrono::seconds time;
};

Expected<Waiting> read_waiting(const PkiFlags& flags) {
  PARETO_ASSIGN(const Nanoseconds time, parse_long_time(flags.timeout, "--timeout"));
  if (time <= Nanoseconds(0) || time > kLongestWait) {
    return fail(ErrorCode::kInvalidArgument, "--timeout {}: more than 0 and at most a day",
                flags.timeout);
  }
  PARETO_ASSIGN(transport::HostPort listen,
                with_context(transport::parse_host_port(flags.listen), "--listen"));
  return Waiting{std::move(listen), std::chrono::ceil<std::chrono::seconds>(time)};
}

Expected<int> enrol_device(Context& context, const PkiFlags& flags, tls::Authority& authority,
                           const tls::Identity& identity, const tls::SigningTerms& terms) {
  PARETO_ASSIGN(const Waiting waiting, read_waiting(flags));
  context.stop.watch();
  context.stop.announce("stopping");
  const enrolment::Invitation invitation{identity, tls::make_token(), terms};
  PARETO_ASSIGN(const auto server,
                with_context(enrolment::EnrolmentServer::open(
                                 waiting.listen, authority, invitation, waiting.time,
                                 [&context](const std::string& sentence) {
                                   context.err << sentence << std::endl;
                                 }),
                             "--listen"));
  print_invitation(context, flags, authority, invitation,
                   reachable(waiting.listen, server->port()));
  context.phase = Phase::kRunning;
  PARETO_ASSIGN(const enrolment::Enrolled done, server->serve(context.stop.descriptor()));
  if (terms.others == tls::OtherKeys::kRevoke)
    PARETO_TRY(spread_revoked(context, flags, authority));
  print_certificate(
      context, flags, done.certificate,
      fmt::format("{} has a certificate until {} (enrolled from {})", to_string(identity),
                  tls::utc_text(done.certificate.until), done.peer));
  if (!done.unconfirmed) return kExitDone;
  return fail(ErrorCode::kInternal,
              "{} may not have stored its certificate: {}. If it has not: paretoctl pki issue {} "
              "--role {} --replace",
              to_string(identity), done.unconfirmed->message, identity.name,
              to_string(identity.role));
}

/// Writes credentials to --to, for a request or for a key that is made here.
Expected<int> write_credentials(Context& context, const PkiFlags& flags, tls::Authority& authority,
                                const tls::Identity& identity, const tls::SigningTerms& terms) {
  const bool for_request = !flags.request.empty();
  PARETO_ASSIGN(const tls::IssuedCertificate done,
                for_request
                    ? enrolment::sign_request(authority, flags.request, identity, terms, flags.to)
                    : enrolment::make_credentials(authority, identity, terms, flags.to));
  if (terms.others == tls::OtherKeys::kRevoke)
    PARETO_TRY(spread_revoked(context, flags, authority));
  context.err << (for_request
                      ? fmt::format("wrote certificate, authority and list of revoked ones to {}: "
                                    "copy them next to the key, as key.pem\n",
                                    flags.to)
                      : fmt::format(
                            "wrote credentials to {}: the key was made here. Move the folder "
                            "to where it belongs, over a channel that is secure\n",
                            flags.to));
  print_certificate(
      context, flags, done,
      fmt::format("{} has a certificate until {}", to_string(identity), tls::utc_text(done.until)));
  return kExitDone;
}

Expected<int> hand_out(Context& context, const PkiFlags& flags, tls::Authority& authority,
                       const tls::Identity& identity, const tls::SigningTerms& terms) {
  if (!flags.to.empty()) return write_credentials(context, flags, authority, identity, terms);
  return enrol_device(context, flags, authority, identity, terms);
}

/// Renews this machine's own credentials in their place.
Expected<int> renew_own(Context& context, const PkiFlags& flags, tls::Authority& authority,
                        const tls::Identity& own, const tls::SigningTerms& terms) {
  const auto folder = flags.credentials_folder();
  PARETO_ASSIGN(const tls::IssuedCertificate done,
                enrolment::make_credentials(authority, own, terms, folder));
  print_certificate(context, flags, done,
                    fmt::format("this machine is {} until {}: {}", to_string(own),
                                tls::utc_text(done.until), folder.string()));
  return kExitDone;
}

}  // namespace

Expected<int> issue_certificate(Context& context, const PkiFlags& flags) {
  PARETO_ASSIGN(const tls::Identity identity, flags.identity(tls::Role::kDevice));
  PARETO_ASSIGN(const tls::SigningTerms terms, flags.terms(tls::OtherKeys::kRefuse));
  // Before an authority is made: a mistake changes nothing.
  PARETO_TRY(read_waiting(flags));
  PARETO_ASSIGN(const auto authority, open_or_make_authority(context, flags));
  const bool may_be_same_key = !flags.request.empty();
  if (!flags.replace && !may_be_same_key) PARETO_TRY(authority->check_free(identity));
  return hand_out(context, flags, *authority, identity, terms);
}

Expected<int> renew_certificate(Context& context, const PkiFlags& flags) {
  PARETO_ASSIGN(const tls::SigningTerms terms, flags.terms(tls::OtherKeys::kLeave));
  PARETO_ASSIGN(const auto authority, tls::Authority::open(flags.authority_folder()));
  std::optional<tls::Identity> own;
  if (enrolment::are_of(*authority, flags.credentials_folder())) {
    PARETO_ASSIGN(const auto credentials, tls::Credentials::open(flags.credentials_folder()));
    own = credentials->identity();
  }
  if (flags.name.empty()) {
    if (own) return renew_own(context, flags, *authority, *own, terms);
    return fail(ErrorCode::kInvalidArgument,
                "pki renew names nobody, and {} holds no credentials of this authority (paretoctl "
                "pki init makes them)",
                flags.credentials_folder().string());
  }
  PARETO_ASSIGN(const tls::Identity identity, find_issued(*authority, flags));
  const bool is_own = own && tls::is_same_peer(*own, identity) && flags.to.empty();
  return is_own ? renew_own(context, flags, *authority, *own, terms)
                : hand_out(context, flags, *authority, identity, terms);
}

}  // namespace pareto::client::commands
