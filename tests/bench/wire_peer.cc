#include "tests/bench/wire_peer.h"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "core/tls/credentials.h"
#include "core/transport/transport.h"
#include "daemon/stage/link_probe.h"
#include "tests/bench/bare_link.h"
#include "tests/bench/interleaved.h"

namespace pareto::bench {
namespace {

void serve(transport::Link& link) {
  while (auto received = link.receive()) {
    wire::Message& message = received->message;
    if (message.kind == wire::MessageKind::kHello) {
      return daemon::answer_probe(link, message.pipeline, std::nullopt);
    }
    const auto order = static_cast<Order>(message.sequence);
    const bool ping = message.kind == wire::MessageKind::kPing;
    if (ping) message.kind = wire::MessageKind::kPong;
    if (!ping && order == Order::kTake) continue;
    if (!ping && order == Order::kReport) message.body = Value(processor_time().count());
    if (!link.send(message)) return;
  }
}

void serve(BareLink& link) {
  while (const auto order = link.receive()) {
    if (*order == Order::kTake) continue;
    const std::int64_t spent = processor_time().count();
    const auto body = *order == Order::kReport ? std::as_bytes(std::span(&spent, 1)) : link.body();
    if (!link.send(*order, body)) return;
  }
}

}  // namespace

int run_wire_peer(int argc, char** argv) {
  CLI::App app("the far end of the transport benches");
  int ready_fd = -1;
  int cpu = -1;
  std::string host = "127.0.0.1";
  app.add_option("--ready-fd", ready_fd)->required();
  app.add_option("--cpu", cpu);
  app.add_option("--host", host, "where it listens");
  std::string folder;
  app.add_option("--credentials", folder, "folder of those that it shows, on ports of their own");
  CLI11_PARSE(app, argc, argv);
  if (cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
  }
  nlohmann::json ready;
  std::vector<std::unique_ptr<transport::Listener>> listeners;
  std::vector<std::jthread> threads;
  const auto open = [&](transport::Transport& transport, const std::string& name,
                        const transport::LinkOptions& options) -> Expected<> {
    const bool network = transport.reach() == transport::Reach::kNetwork;
    PARETO_ASSIGN(auto listener, transport.listen(network ? host + ":0" : "auto", options));
    ready[name] = listener->address();
    threads.emplace_back([&accepting = *listener] {
      std::vector<std::jthread> serving;
      while (auto link = accepting.accept()) {
        serving.emplace_back([link = *std::move(link)] { serve(*link); });
      }
    });
    listeners.push_back(std::move(listener));
    return {};
  };
  // What checksums cost is measured on the way here.
  transport::LinkOptions options{.payload_checksum = false};
  const auto open_all = [&](const std::string& prefix) -> Expected<> {
    for (const auto& transport : transport::builtin_transports()) {
      if (transport->reach() == transport::Reach::kProcess) continue;
      if (options.credentials && transport->reach() != transport::Reach::kNetwork) continue;
      PARETO_TRY(open(*transport, prefix + std::string(transport->name()), options));
    }
    return {};
  };
  auto opened = open_all("");
  if (opened && !folder.empty()) {
    auto credentials = tls::Credentials::open(folder);
    if (credentials) options.credentials = *std::move(credentials);
    opened = credentials ? open_all("tls/") : tl::unexpected(credentials.error());
  }
  if (!opened) {
    fmt::print(stderr, "{}\n", opened.error().message);
    return 1;
  }
  std::uint16_t port = 0;
  const auto bare = BareLink::listen(port);
  if (!bare) {
    fmt::print(stderr, "{}\n", bare.error().message);
    return 1;
  }
  ready["bare"] = port;
  threads.emplace_back([&] {
    while (auto link = BareLink::accept(*bare)) serve(*link);
  });
  const std::string line = ready.dump() + "\n";
  if (::write(ready_fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
  // Until SIGTERM.
  for (std::jthread& thread : threads) thread.join();
  return 0;
}

}  // namespace pareto::bench
