#include "coordinator/cluster/calls_under_way.h"

#include <grpcpp/grpcpp.h>

namespace pareto::cluster {

CallsUnderWay::Scope::Scope(CallsUnderWay& calls, grpc::ClientContext& context)
    : calls_(calls), context_(context) {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.insert(&context_);
  if (calls_.ended_) context_.TryCancel();
}

CallsUnderWay::Scope::~Scope() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.erase(&context_);
}

void CallsUnderWay::cancel() {
  const std::lock_guard lock(mutex_);
  for (grpc::ClientContext* const context : calls_) context->TryCancel();
}

void CallsUnderWay::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (grpc::ClientContext* const context : calls_) context->TryCancel();
}

}  // namespace pareto::cluster
