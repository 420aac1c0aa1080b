// The transports that this process connects by, each made when it is first needed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::cluster {

/// A transport for each name that was asked for.
///
/// Threads: one owner. What it hands out lives as long as it does.
class TransportSet {
 public:
  using Factory =
      std::function<Expected<std::unique_ptr<transport::Transport>>(std::string_view name)>;

  /// Makes the transports of this build.
  TransportSet()
      : TransportSet([](std::string_view name) { return transport::make_transport(name); }) {}
  explicit TransportSet(Factory make) : make_(std::move(make)) {}

  /// Returns the transport of that name, and makes it the first time. Fails: kNotFound with the
  /// names there are.
  Expected<transport::Transport*> named(const std::string& name);

 private:
  const Factory make_;
  std::map<std::string, std::unique_ptr<transport::Transport>> made_;
};

}  // namespace pareto::cluster
