// paretod enroll: this device's side of an enrolment (core/tls/enrolment.h). The key is made here
// and stays here.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/tls/identity.h"

namespace pareto::daemon {

/// The folder that the package's daemon takes its credentials from.
inline constexpr const char* kPackageCredentials = "/etc/pareto-edge/credentials";

/// The arguments of `paretod enroll`, as text.
struct EnrolmentFlags {
  std::string address;    ///< HOST:PORT of the coordinator
  std::string token;      ///< "-": it is the first line of stdin
  std::string authority;  ///< fingerprint
  std::string name;       ///< the name that this device wants; "": whatever it is invited as
  std::string credentials = kPackageCredentials;  ///< folder that gets them
};

/// New credentials in their place.
struct NewIdentity {
  tls::Identity identity;
  std::chrono::sys_seconds expiry;
  std::filesystem::path folder;
  bool first = false;  ///< none were there before: a daemon that runs has none
};

/// Makes a key, gets its certificate and puts both into the folder, in the place of what is there.
/// Checks first whether it may write there. Fails: kInvalidArgument (a wrong argument; another name
/// than the one invited), kPermission (wrong token, another authority, the folder may not be
/// written), kUnavailable and kTimeout (nobody there), kClosed, kCorrupt (the answer is none).
Expected<NewIdentity> enrol(const EnrolmentFlags& flags);

}  // namespace pareto::daemon
