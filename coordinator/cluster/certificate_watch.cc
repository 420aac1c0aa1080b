#include "coordinator/cluster/certificate_watch.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "coordinator/cluster/control_address.h"
#include "core/transport/grpc/secure.h"

namespace pareto::cluster {

Expected<std::optional<tls::Identity>> CertificateWatch::identity(
    const grpc::ClientContext& answered) const {
  if (own_ == nullptr) return std::nullopt;
  return with_context(
      own_->judge_again(transport::grpc_peer_certificates(*answered.auth_context())), "{}",
      name_and_address(config_));
}

Expected<> CertificateWatch::check(const grpc::ClientContext& answered) {
  if (own_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ssl_ctx_st> now = own_->context();
  if (now == judged_by_) return {};
  PARETO_TRY(identity(answered));
  judged_by_ = std::move(now);
  return {};
}

}  // namespace pareto::cluster
