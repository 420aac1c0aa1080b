// Two network namespaces and an emulated link between them: two machines on one.
#pragma once

#include <memory>
#include <utility>

#include "netem/link_emulator.h"
#include "netem/network_namespace.h"

namespace pareto::netem {

/// Two namespaces and the emulated link between them.
///
/// Threads: as its parts.
class EmulatedPair {
 public:
  static constexpr const char* kFirst = "10.213.0.1";
  static constexpr const char* kSecond = "10.213.0.2";

  /// Makes both namespaces and the link. Fails: as NetworkNamespace and LinkEmulator do.
  static Expected<EmulatedPair> create(const plan::Condition& condition,
                                       EmulatorKind kind = EmulatorKind::kAuto) {
    PARETO_ASSIGN(auto first, NetworkNamespace::create());
    PARETO_ASSIGN(auto second, NetworkNamespace::create());
    PARETO_ASSIGN(auto link,
                  LinkEmulator::create({first, kFirst}, {second, kSecond}, condition, kind));
    return EmulatedPair(std::move(first), std::move(second), std::move(link));
  }

  LinkEnd first() const { return {first_, kFirst}; }
  LinkEnd second() const { return {second_, kSecond}; }
  LinkEmulator& link() const { return *link_; }

 private:
  EmulatedPair(NetworkNamespace first, NetworkNamespace second, std::unique_ptr<LinkEmulator> link)
      : first_(std::move(first)), second_(std::move(second)), link_(std::move(link)) {}

  NetworkNamespace first_;
  NetworkNamespace second_;
  std::unique_ptr<LinkEmulator> link_;
};

}  // namespace pareto::netem
