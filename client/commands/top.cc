// top: what running pipelines do, while they do it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/screen.h"
#include "client/commands/show.h"
#include "client/flags/address_flags.h"
#include "client/watch/background_reading.h"
#include "client/watch/top_json.h"
#include "client/watch/top_text.h"
#include "client/watch/watcher.h"
#include "coordinator/results/time_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The address that paretod listens on by default, on this machine.
constexpr const char* kOwnDaemon = "127.0.0.1:7070";
constexpr milliseconds kShortest{100};
constexpr std::chrono::hours kLongest{1};

class TopCommand final : public Command {
 public:
  std::string_view name() const override { return "top"; }
  std::string_view summary() const override {
    return "watch running pipelines: rates, times, queues, links, and who is the bottleneck";
  }
  std::string_view examples() const override {
    return "  paretoctl top --devices inventory.yaml\n"
           "  paretoctl top 10.0.0.1:7070 10.0.0.2:7070 --sort computing --interval 2s\n"
           "  paretoctl top --devices inventory.yaml --once\n"
           "  paretoctl top --devices inventory.yaml --json | jq .pipelines[].bottleneck.words\n"
           "\n"
           "On a terminal q or Ctrl-C ends. The arrows, or an order's first letter, sort.\n"
           "\n"
           "mean ms and wait ms are means. A percentile is a step of a histogram: p50 20-50 lies "
           "between 20\nand 50 ms. Work counts when it is done: choose a longer --interval if a "
           "stage takes long for a\nrequest. Each part of a micro-batched request counts as a "
           "request.\n\n"
           "workers 92 88 %: the share of time that each worker of a stage's schedule computes. "
           "Operators that\nall threads share count for each.\n";
  }
  void add_options(CLI::App& app) override {
    devices_.add_to(app, std::string("the daemon of this machine, ") + kOwnDaemon);
    devices_.add_testbed_to(app);
    set_value(
        app.add_option("--interval", interval_text_, "time between two readings, as 1s or 500ms"),
        "DURATION")
        ->capture_default_str();
    auto* count = set_value(app.add_option("--count", count_,
                                           "number of intervals to show; 0: until it is stopped"),
                            "N")
                      ->check(CLI::NonNegativeNumber.description(""))
                      ->capture_default_str();
    app.add_flag("--once", once_, "show one interval, in the form that files get")->excludes(count);
    set_value(app.add_option("--sort", order_, "order of the stages"), "ORDER")
        ->check(CLI::IsMember(orders()))
        ->capture_default_str();
    app.add_flag("--json", json_, "print a JSON object for each interval, on a line of its own");
  }

  Expected<int> run(Context& context) override {
    PARETO_TRY(read_interval());
    devices_.settle(context);
    PARETO_ASSIGN(auto devices, devices_.read(context));
    const bool is_own = devices.empty();
    if (is_own) devices.push_back({"this machine", kOwnDaemon});
    style_.report = style_of(context);
    style_.order = static_cast<watch::TopOrder>(std::ranges::find(watch::kTopOrders, order_) -
                                                watch::kTopOrders.begin());
    context.stop.watch();
    watch::Watcher watcher(std::move(devices));
    bool answered = false;
    if (context.out_is_terminal && !json_ && !once_) {
      PARETO_ASSIGN(answered, watch(context, watcher));
    } else {
      answered = print(context, watcher);
    }
    if (!answered && is_own) tell_how_to_begin(context);
    return answered ? kExitDone : kExitEnvironment;
  }

 private:
  static std::vector<std::string> orders() {
    return {watch::kTopOrders.begin(), watch::kTopOrders.end()};
  }

  Expected<> read_interval() {
    PARETO_ASSIGN(const Nanoseconds interval,
                  with_context(parse_duration(interval_text_), "--interval"));
    if (interval < kShortest || interval > kLongest) {
      return fail(ErrorCode::kInvalidArgument, "--interval {}: between 100ms and 1h",
                  interval_text_);
    }
    interval_ = interval;
    return {};
  }

  /// Says what to do for those who named no device and run no daemon.
  static void tell_how_to_begin(Context& context) {
    context.err << fmt::format(
                       "paretoctl: no daemon answers on this machine ({}): name the devices to "
                       "watch, as \"paretoctl top --devices inventory.yaml\" or \"paretoctl top "
                       "pi-1:7070\", or start one here with paretod. Daemons that a sweep starts "
                       "for itself are not watched: its progress and report show them\n",
                       kOwnDaemon)
                << std::flush;
  }

  /// Returns how long a device is waited for.
  milliseconds patience() const {
    return std::clamp(std::chrono::ceil<milliseconds>(interval_), milliseconds(1000),
                      milliseconds(5000));
  }

  static bool any_answered(const std::vector<watch::DeviceReading>& readings) {
    return std::ranges::any_of(readings,
                               [](const watch::DeviceReading& one) { return one.problem.empty(); });
  }

  std::string title(const std::string& time) const {
    return fmt::format("paretoctl top, {}, every {}, by {}", time, interval_text_,
                       watch::kTopOrders.at(static_cast<std::size_t>(style_.order)));
  }

  /// Intervals one below the other, until as many as were asked for or a stop. Whether anybody
  /// answered last.
  bool print(Context& context, watch::Watcher& watcher) {
    const int wanted = once_ ? 1 : count_;
    std::vector<watch::DeviceReading> before = watcher.read(patience());
    TimePoint next = std::chrono::steady_clock::now();
    int no_keys = -1;
    for (int printed = 0; wanted == 0 || printed < wanted; ++printed) {
      // What a silent device has delayed is not made up for by readings without a wait.
      next = std::max(next + interval_, std::chrono::steady_clock::now());
      if (wait_for_key(no_keys, context.stop.descriptor(), next).stop) break;
      std::vector<watch::DeviceReading> now = watcher.read(patience());
      const watch::Activity activity = watch::activity_between(before, now);
      const std::string time = results::time_text(std::chrono::system_clock::now());
      style_.title = title(time);
      context.out << (json_ ? watch::top_json(activity, time) + "\n"
                            : (printed == 0 ? "" : "\n") + watch::top_text(activity, style_))
                  << std::flush;
      // Nobody reads it any more: `top --json | head`.
      if (!context.out) break;
      before = std::move(now);
    }
    return any_answered(before);
  }

  /// Watches on the whole terminal, until as many intervals as were asked for, a key or a stop.
  /// Returns whether anybody answered last.
  Expected<bool> watch(Context& context, watch::Watcher& watcher) {
    watch::BackgroundReading reading([&] { return watcher.read(patience()); });
    std::vector<watch::DeviceReading> last;
    // What is under way afterwards is waited for on a terminal that is as it was.
    PARETO_TRY(show(context, reading, last));
    return any_answered(last.empty() ? reading.take() : last);
  }

  /// `last`: what was shown last; empty: nothing, and the first reading is still to be taken.
  Expected<> show(Context& context, watch::BackgroundReading& reading,
                  std::vector<watch::DeviceReading>& last) {
    Screen screen(context.out, context.input);
    TimePoint next = std::chrono::steady_clock::now() + interval_;
    PARETO_TRY(reading.start());
    watch::Activity activity;
    std::string time = results::time_text(std::chrono::system_clock::now());
    int taken = 0;
    for (;;) {
      draw(screen, activity, time);
      // The first has no interval before it.
      if (count_ > 0 && taken > count_) return {};
      // While a reading is under way it is what is waited for.
      const bool reads = reading.descriptor() >= 0;
      const Awakening awake = screen.wait(context.stop.descriptor(),
                                          reads ? TimePoint::max() : next, reading.descriptor());
      if (awake.stop || awake.key == 'q') return {};
      if (awake.key != 0) {
        sort_by(awake.key);
      } else if (awake.news) {
        std::vector<watch::DeviceReading> now = reading.take();
        activity = watch::activity_between(last, now);
        time = results::time_text(std::chrono::system_clock::now());
        last = std::move(now);
        ++taken;
      } else if (!reads) {
        next = std::chrono::steady_clock::now() + interval_;
        PARETO_TRY(reading.start());
      }
    }
  }

  void draw(Screen& screen, const watch::Activity& activity, const std::string& time) {
    const Screen::Size size = screen.size();
    style_.report.width = size.columns;
    style_.rows = size.rows;
    style_.title = title(time);
    style_.keys = "q: quit; ←, → or the first letter: sort by " + join(orders());
    screen.draw(watch::top_text(activity, style_));
  }

  void sort_by(char key) {
    const std::size_t orders = watch::kTopOrders.size();
    auto order = static_cast<std::size_t>(style_.order);
    if (key == '>') order = (order + 1) % orders;
    if (key == '<') order = (order + orders - 1) % orders;
    for (std::size_t i = 0; i < orders; ++i) {
      if (watch::kTopOrders[i].front() == key) order = i;
    }
    style_.order = static_cast<watch::TopOrder>(order);
  }

  AddressFlags devices_;
  std::string interval_text_ = "1s";
  Nanoseconds interval_{};
  int count_ = 0;
  bool once_ = false;
  bool json_ = false;
  std::string order_ = std::string(watch::kTopOrders.front());
  watch::TopStyle style_;
};

}  // namespace

std::unique_ptr<Command> make_top_command() { return std::make_unique<TopCommand>(); }

}  // namespace pareto::client::commands
