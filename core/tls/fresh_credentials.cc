#include "core/tls/fresh_credentials.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace pareto::tls {
namespace {

/// Credentials with the thread that refreshes them.
///
/// Threads: one owner; the credentials from any.
class FreshCredentials {
 public:
  FreshCredentials(std::shared_ptr<Credentials> credentials,
                   std::function<void(const Error&)> complain, Nanoseconds every)
      : credentials_(std::move(credentials)),
        complain_(std::move(complain)),
        every_(every),
        refreshing_([this](const std::stop_token& stop) { refresh(stop); }) {}

  const Credentials* get() const { return credentials_.get(); }

 private:
  void refresh(const std::stop_token& stop) {
    std::string told;
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, every_, [&] { return stop.stop_requested(); })) {
      const auto changed = credentials_->refresh();
      const std::string problem = changed ? "" : changed.error().message;
      if (!changed && problem != told) complain_(changed.error());
      told = problem;
    }
  }

  const std::shared_ptr<Credentials> credentials_;
  const std::function<void(const Error&)> complain_;
  const Nanoseconds every_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;  ///< the last owner has let go
  std::jthread refreshing_;              // last: it uses all of the above
};

}  // namespace

Expected<std::shared_ptr<const Credentials>> keep_fresh(std::shared_ptr<Credentials> credentials,
                                                        std::function<void(const Error&)> complain,
                                                        Nanoseconds every) {
  try {
    const auto kept =
        std::make_shared<FreshCredentials>(std::move(credentials), std::move(complain), every);
    return std::shared_ptr<const Credentials>(kept, kept->get());
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "credentials: no thread to read them again: {}",
                error.what());
  }
}

}  // namespace pareto::tls
