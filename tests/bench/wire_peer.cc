#include "tests/bench/wire_peer.h"

#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

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
    if (order == Order::kTake) continue;
    if (order == Order::kReport) message.body = Value(processor_time().count());
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
  bool own_network = false;
  app.add_option("--ready-fd", ready_fd)->required();
  app.add_option("--cpu", cpu);
  app.add_flag("--own-network", own_network, "in a network namespace of its own");
  CLI11_PARSE(app, argc, argv);
  if (cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
  }
  // Even its loopback begins down.
  if (own_network && (::unshare(CLONE_NEWNET) != 0 || std::system("ip link set lo up") != 0))
    return 1;
  nlohmann::json ready;
  std::vector<std::unique_ptr<transport::Listener>> listeners;
  std::vector<std::jthread> threads;
  for (const auto& transport : transport::builtin_transports()) {
    if (transport->reach() == transport::Reach::kProcess) continue;
    const bool network = transport->reach() == transport::Reach::kNetwork;
    auto listener = transport->listen(!network      ? "auto"
                                      : own_network ? "0.0.0.0:0"
                                                    : "127.0.0.1:0");
    if (!listener) {
      fmt::print(stderr, "{}\n", listener.error().message);
      return 1;
    }
    ready[std::string(transport->name())] = (*listener)->address();
    threads.emplace_back([&open = **listener] {
      while (const auto link = open.accept()) serve(**link);
    });
    listeners.push_back(*std::move(listener));
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
