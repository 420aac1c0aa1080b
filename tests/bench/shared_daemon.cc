#include "tests/bench/shared_daemon.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/load/take_result.h"

namespace pareto::bench {
namespace {

constexpr std::chrono::seconds kDaemonStart{60};

}  // namespace

Expected<std::unique_ptr<SharedDaemon>> SharedDaemon::start(std::vector<std::string> flags) {
  std::unique_ptr<SharedDaemon> daemon(new SharedDaemon);
  PARETO_ASSIGN(auto folder, TemporaryFolder::create("pareto-bench"));
  daemon->folder_ = std::make_unique<TemporaryFolder>(std::move(folder));
  const std::string state = daemon->folder_->path().string();
  flags.insert(flags.end(),
               {"--listen", "127.0.0.1:0", "--data", "tcp=127.0.0.1:0", "--state-dir", state,
                "--log-level", "warn", "--discovery", "off", "--exit-with-parent"});
  PARETO_ASSIGN(auto process,
                cluster::ChildProcess::start(std::filesystem::path(PARETO_BIN_DIR) / "paretod",
                                             std::move(flags), state + ".log"));
  PARETO_ASSIGN(const std::string line, process.wait_ready(deadline_after(kDaemonStart)));
  daemon->process_.push_back(std::move(process));
  daemon->control_ = nlohmann::json::parse(line, nullptr, false).value("control", "");
  return daemon;
}

Expected<std::unique_ptr<Pipelines>> SharedDaemon::connect(const std::string& model) const {
  PARETO_ASSIGN(auto cluster, cluster::Cluster::connect({{"shared", control_}}));
  return Pipelines::over(std::move(cluster), model, "tcp");
}

Expected<Nanoseconds> SharedDaemon::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  const int error = ::clock_getcpuclockid(process_.front().pid(), &clock);
  if (error != 0 || ::clock_gettime(clock, &time) != 0) {
    return fail(ErrorCode::kUnavailable, "the daemon's processor time cannot be read: {}",
                std::strerror(error != 0 ? error : errno));
  }
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Expected<std::unique_ptr<SharedPipeline>> SharedPipeline::open(
    const SharedDaemon& daemon, const std::string& model,
    const cluster::DeploymentOptions& options) {
  auto opened = std::make_unique<SharedPipeline>();
  PARETO_ASSIGN(opened->pipelines_, daemon.connect(model));
  PARETO_ASSIGN(opened->deployment_, opened->pipelines_->deploy({}, options));
  return opened;
}

int PacedRequests::missed(Nanoseconds deadline) const {
  const double most = to_milliseconds(deadline);
  const auto late =
      std::ranges::count_if(latencies, [most](double latency) { return latency > most; });
  return dropped + static_cast<int>(late);
}

Expected<PacedRequests> SharedPipeline::pace(Nanoseconds interval, Nanoseconds duration,
                                             Nanoseconds deadline) {
  PacedRequests paced;
  wire::Message message;
  message.pipeline = deployment_->pipeline();
  message.time_left = deadline;
  const TimePoint begin = std::chrono::steady_clock::now();
  for (TimePoint next = begin; next < begin + duration;) {
    std::this_thread::sleep_until(next);
    message.request = sent_++;
    message.body = request();
    const TimePoint sent = std::chrono::steady_clock::now();
    PARETO_TRY(deployment_->source().send(message, deadline_after(load::kRequestTimeout)));
    PARETO_ASSIGN(
        const load::TakenResult taken,
        load::take_result(deployment_->sink(), message.request, sent, load::kRequestTimeout));
    const TimePoint back = std::chrono::steady_clock::now();
    if (!taken.failure) {
      paced.latencies.push_back(to_milliseconds(back - sent));
    } else if (taken.failure->code == ErrorCode::kTimeout && deadline > Nanoseconds(0)) {
      ++paced.dropped;
    } else {
      return tl::unexpected(*taken.failure);
    }
    next = std::max(next + interval, back);
  }
  return paced;
}

BackgroundLoad::BackgroundLoad(SharedPipeline& pipeline, int window, Nanoseconds duration)
    : result_(fail(ErrorCode::kInternal, "the load did not end")),
      thread_([this, &pipeline, window, duration] { result_ = pipeline.load(window, duration); }) {}

Expected<load::LoadResult> BackgroundLoad::wait() {
  thread_.join();
  return std::move(result_);
}

}  // namespace pareto::bench
