#include <algorithm>

#include "core/base/text.h"
#include "core/transport/grpc/transport.h"
#include "core/transport/inproc/transport.h"
#include "core/transport/shm/transport.h"
#include "core/transport/tcp/transport.h"
#include "core/transport/transport.h"

namespace pareto::transport {

std::vector<std::unique_ptr<Transport>> builtin_transports() {
  std::vector<std::unique_ptr<Transport>> all;
  all.push_back(tcp::make_transport());
  all.push_back(grpc::make_transport());
  all.push_back(shm::make_transport());
  all.push_back(inproc::make_transport());
  return all;
}

Expected<std::unique_ptr<Transport>> make_transport(std::string_view name) {
  std::vector<std::string> names;
  for (auto& transport : builtin_transports()) {
    if (transport->name() == name) return std::move(transport);
    names.emplace_back(transport->name());
  }
  return fail(ErrorCode::kNotFound, "no transport is called \"{}\"; there are {}{}", name,
              join(names), did_you_mean(name, names));
}

}  // namespace pareto::transport
