#include "client/watch/own_checks.h"

#include <fmt/format.h>

#include <array>

#include "client/watch/verdict.h"

namespace pareto::watch {
namespace {

Verdict cores(const OwnFacts& own) {
  if (own.cores >= 2) return ok(std::to_string(own.cores));
  return warn("1: two daemons on this machine would share it", "measure with devices (--devices)");
}

Verdict own_torch(const OwnFacts& own) {
  return ok(fmt::format("{}, CUDA devices: {}, bf16 {}", own.torch_version, own.cuda_devices,
                        own.fast_bf16 ? "by the processor" : "emulated: it will be slow"));
}

Verdict congestion_control(const OwnFacts& own) {
  return ok(own.congestion_control + " (affects rates over lossy links)");
}

Verdict idle_links(const OwnFacts& own) {
  if (!own.slow_start_after_idle) return ok("keep their rate");
  return warn("start slowly again: the first request after a pause is slow over long links",
              "here and on devices: sudo sysctl net.ipv4.tcp_slow_start_after_idle=0");
}

Verdict results(const OwnFacts& own) {
  if (own.store_problem.empty()) return ok(own.store);
  return failed(own.store_problem, "name a file that can be written (--store)");
}

Verdict paretod(const OwnFacts& own) {
  if (own.paretod_problem.empty()) return ok(own.paretod + " starts and answers");
  return failed(own.paretod_problem,
                "install or build paretod next to paretoctl, or name devices (--devices)");
}

Verdict listens(const ListenFacts& listen) {
  if (listen.problem.empty()) return ok("can listen");
  return failed(listen.problem, "let this user open sockets here");
}

struct OwnCheck {
  const char* name;
  Verdict (*check)(const OwnFacts&);
};
constexpr std::array kOwnChecks{
    OwnCheck{"cores", cores},
    OwnCheck{"LibTorch", own_torch},
    OwnCheck{"congestion control", congestion_control},
    OwnCheck{"idle links", idle_links},
    OwnCheck{"results", results},
};

}  // namespace

void check_own(const OwnFacts& own, std::vector<Finding>& findings) {
  for (const OwnCheck& one : kOwnChecks) {
    findings.push_back(finding(results::kThisMachine, one.name, one.check(own)));
  }
  for (const ListenFacts& listen : own.listens) {
    findings.push_back(finding(results::kThisMachine, listen.transport, listens(listen)));
  }
  if (!own.paretod.empty()) {
    findings.push_back(finding(results::kThisMachine, "paretod", paretod(own)));
  }
}

}  // namespace pareto::watch
