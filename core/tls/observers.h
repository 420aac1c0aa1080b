// The rule for those who only look: certificates of coordinators and observers.
#pragma once

#include <memory>
#include <utility>

#include "core/tls/credentials.h"
#include "core/tls/server_tls.h"

namespace pareto::tls {

/// Lets in those whom credentials vouch for as a coordinator or an observer, and who were not taken
/// back: TLS 1.3. The owner of the credentials refreshes them, and says what is to be looked at.
///
/// Threads: any.
class Observers final : public ServerTls {
 public:
  explicit Observers(std::shared_ptr<const Credentials> credentials)
      : credentials_(std::move(credentials)) {}

  Expected<bool> refresh() override { return false; }
  std::shared_ptr<ssl_ctx_st> context() const override { return credentials_->context(); }
  Expected<> admit(ssl_st& connection) const override {
    PARETO_ASSIGN(const Identity client, Credentials::peer_of(connection));
    if (client.role != Role::kDevice) return {};
    return fail(ErrorCode::kPermission, "{} came: use the certificate of an observer",
                to_string(client));
  }
  std::chrono::sys_seconds expiry() const override { return credentials_->expiry(); }
  std::vector<std::string> warnings() const override { return {}; }

 private:
  const std::shared_ptr<const Credentials> credentials_;
};

}  // namespace pareto::tls
