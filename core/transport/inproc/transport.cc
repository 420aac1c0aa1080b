#include "core/transport/inproc/transport.h"

#include "core/transport/inproc/link.h"
#include "core/transport/inproc/listener.h"

namespace pareto::transport::inproc {
namespace {

/// Links inside one process: messages are handed over as they are.
///
/// Threads: any.
class InprocTransport final : public Transport {
 public:
  std::string_view name() const override { return "inproc"; }
  Reach reach() const override { return Reach::kProcess; }

  Expected<std::unique_ptr<Listener>> listen(const std::string& address,
                                             const LinkOptions& options) override {
    auto backlog = std::make_shared<Backlog>(options);
    PARETO_ASSIGN(std::string name, with_context(registry_->add(address, backlog), "inproc"));
    return std::make_unique<InprocListener>(registry_, std::move(backlog), std::move(name));
  }

  Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                          const LinkOptions& options) override {
    if (address.empty()) {
      return fail(ErrorCode::kInvalidArgument, "inproc: \"\" is no name to connect to");
    }
    const std::shared_ptr<Backlog> backlog = registry_->find(address);
    if (!backlog) return nobody(address);
    auto [connecting, accepting] = InprocLink::make_pair(address, options, backlog->options);
    const auto pushed = backlog->waiting.push(std::move(accepting), deadline);
    if (!pushed && pushed.error().code == ErrorCode::kClosed) return nobody(address);
    PARETO_TRY(with_context(pushed, "inproc: connecting to {}", address));
    return std::move(connecting);
  }

 private:
  static tl::unexpected<Error> nobody(const std::string& address) {
    return fail(ErrorCode::kUnavailable, "inproc: nobody listens on \"{}\" in this process",
                address);
  }

  const std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

}  // namespace

std::unique_ptr<Transport> make_transport() { return std::make_unique<InprocTransport>(); }

}  // namespace pareto::transport::inproc
