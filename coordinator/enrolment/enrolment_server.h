// The coordinator's side of an enrolment: a port that is open until one invited device has its
// certificate (core/tls/enrolment.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tls/authority.h"
#include "core/tls/enrolment.h"
#include "core/transport/address.h"

namespace pareto::enrolment {

/// Whom an authority invites.
struct Invitation {
  tls::Identity identity;
  tls::Token token;
  tls::SigningTerms terms;
};

struct EnrolmentLimits {
  std::chrono::milliseconds conversation =
      std::chrono::seconds(10);  ///< longest time of one connection
  std::size_t connections = 16;  ///< at a time
  int wrong_tokens = 5;          ///< number of them that ends the invitation
};

/// The end of an invitation.
struct Enrolled {
  tls::IssuedCertificate certificate;
  std::string peer;                  ///< address of the device
  std::optional<Error> unconfirmed;  ///< why it is not known that the device stored it
};

/// Takes connections while serve() runs, each on a thread of its own. One that is silent ends after
/// limits.conversation. If there are too many, the oldest of the address that has most of them
/// ends, so that strangers do not keep the device out.
///
/// Threads: one owner.
class EnrolmentServer {
 public:
  /// Told what a person should know: a wrong token, a device that does not believe this authority.
  /// Threads: called from any, one at a time.
  using Notice = std::function<void(const std::string& sentence)>;

  /// The authority outlives the server. life: longest time for which it serves. Fails: kPermission
  /// (the port is in use), kInvalidArgument (no such address), kUnavailable.
  static Expected<std::unique_ptr<EnrolmentServer>> open(const transport::HostPort& listen,
                                                         tls::Authority& authority,
                                                         Invitation invitation,
                                                         std::chrono::seconds life, Notice notice,
                                                         const EnrolmentLimits& limits = {});
  ~EnrolmentServer();
  EnrolmentServer(const EnrolmentServer&) = delete;
  EnrolmentServer& operator=(const EnrolmentServer&) = delete;

  std::uint16_t port() const;
  /// Waits until a device has enrolled. stop: a descriptor that becomes readable if somebody wants
  /// to stop; -1 means none. Call it once. Fails: kTimeout (nobody came), kClosed (stopped),
  /// kPermission (too many wrong tokens).
  Expected<Enrolled> serve(int stop);

 private:
  struct Impl;
  explicit EnrolmentServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::enrolment
