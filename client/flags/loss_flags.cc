#include "client/flags/loss_flags.h"

#include <chrono>

#include "client/flags/time_flags.h"
#include "core/base/usage.h"

namespace pareto::client {
namespace {

constexpr const char* kNoRetry = "none";
constexpr const char* kFailover = "failover";
constexpr std::chrono::seconds kUsualRetry{60};

}  // namespace

void LossFlags::add_to(CLI::App& app) {
  set_value(app.add_option("--on-loss", on_loss,
                           "policy for a lost device, whose daemon ended or shows no sign of life "
                           "for five seconds. fail: each request that is left "
                           "fails. wait: what was not answered is sent again once the device is "
                           "back. failover: it is sent again through the best plan over the "
                           "devices that are left, by their profiles (default: wait, or fail for "
                           "daemons that this command starts)"),
            "POLICY", {"fail", "wait", kFailover});
  set_value(app.add_option("--retry", retry,
                           "time for which a lost pipeline is opened again; none is --on-loss fail "
                           "(default: 60s, or none for daemons that this command starts)"),
            "DURATION", {kNoRetry});
}

Expected<LossPolicy> LossFlags::read(bool own_daemons) const {
  LossPolicy policy;
  const bool fails =
      on_loss == "fail" || (!on_loss && (retry == kNoRetry || (own_daemons && !retry)));
  if (on_loss && !fails && *on_loss != "wait" && !is_failover()) {
    return fail(ErrorCode::kInvalidArgument, "--on-loss {}: fail, wait or failover", *on_loss);
  }
  if (on_loss && (fails ? retry.has_value() && *retry != kNoRetry : retry == kNoRetry)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "--on-loss {} with --retry {}: only a pipeline that is not opened again has no time "
        "for it",
        *on_loss, *retry);
  }
  if (fails) {
    policy.on_loss = OnLoss::kFail;
    return policy;
  }
  policy.on_loss = is_failover() ? OnLoss::kFailover : OnLoss::kWait;
  policy.retry = kUsualRetry;
  if (retry) {
    PARETO_ASSIGN(policy.retry, parse_long_time(*retry, "--retry"));
  }
  return policy;
}

}  // namespace pareto::client
