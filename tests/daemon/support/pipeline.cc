#include "tests/daemon/support/pipeline.h"

#include "core/control/greeting.h"
#include "tests/daemon/support/fake_runner.h"

namespace pareto::daemon::test {

wire::Message message_of(wire::MessageKind kind, std::uint64_t pipeline) {
  wire::Message message;
  message.kind = kind;
  message.pipeline = pipeline;
  return message;
}

wire::Message request_message(std::uint64_t pipeline, std::uint64_t request, Value body) {
  wire::Message message = message_of(wire::MessageKind::kValues, pipeline);
  message.request = request;
  message.body = std::move(body);
  return message;
}

wire::Message request_message(std::uint64_t pipeline, std::uint64_t request, float value) {
  return request_message(pipeline, request, Tuple{{filled(value)}});
}

Expected<std::unique_ptr<transport::Link>> connect_as(transport::Transport& transport,
                                                      const std::string& address,
                                                      const control::Hello& hello) {
  PARETO_ASSIGN(auto link, transport.connect(address, soon()));
  PARETO_TRY(control::introduce(*link, hello, soon()));
  return link;
}

Expected<std::unique_ptr<StageHost>> host_on(const std::shared_ptr<transport::Transport>& transport,
                                             const std::string& address, const std::string& device,
                                             Nanoseconds hello_timeout) {
  StageHostOptions options;
  options.device = device;
  options.hello_timeout = hello_timeout;
  return StageHost::listen(options, {transport}, {{std::string(transport->name()), address}});
}

Expected<std::unique_ptr<TwoStages>> TwoStages::open(
    const std::shared_ptr<transport::Transport>& transport, const std::string& address,
    std::shared_ptr<LoadedShard> first, std::shared_ptr<LoadedShard> second, std::uint32_t queue,
    Nanoseconds source_beat) {
  auto pipeline = std::make_unique<TwoStages>();
  PARETO_ASSIGN(pipeline->hosts[0], host_on(transport, address, "first"));
  PARETO_ASSIGN(pipeline->hosts[1], host_on(transport, address, "second"));
  const std::string name(transport->name());
  PARETO_ASSIGN(
      const StageAddresses last,
      pipeline->hosts[1]->open({{kPipeline, 1, "", name, name, "", queue}, std::move(second)}));
  PARETO_ASSIGN(const StageAddresses front,
                pipeline->hosts[0]->open(
                    {{kPipeline, 0, "", name, name, last.upstream, queue}, std::move(first)}));
  PARETO_ASSIGN(pipeline->source,
                connect_as(*transport, front.upstream,
                           {kPipeline, 0, control::Role::kUpstream, source_beat}));
  PARETO_ASSIGN(pipeline->sink,
                connect_as(*transport, last.sink, {kPipeline, 1, control::Role::kSink}));
  PARETO_TRY(pipeline->hosts[1]->start(kPipeline, 1, soon()));
  PARETO_ASSIGN(pipeline->round_trip, pipeline->hosts[0]->start(kPipeline, 0, soon()));
  return pipeline;
}

}  // namespace pareto::daemon::test
