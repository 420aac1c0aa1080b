#include "client/report/trace_events.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

namespace pareto::report {

using Json = nlohmann::ordered_json;

double microseconds(Nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double rounded_us(double us) { return std::round(us * 1e3) / 1e3; }

void Events::name_process(int process, const std::string& name) {
  name_it("process_name", {process, 0}, {{"name", name}});
  name_it("process_sort_index", {process, 0}, {{"sort_index", process}});
}

void Events::name_thread(Track track, const std::string& name) {
  name_it("thread_name", track, {{"name", name}});
  name_it("thread_sort_index", track, {{"sort_index", track.thread}});
}

void Events::complete(const std::string& name, Track track, Span span, Json args) {
  events_.push_back({{"name", name},
                     {"ph", "X"},
                     {"pid", track.process},
                     {"tid", track.thread},
                     {"ts", rounded_us(span.start)},
                     {"dur", rounded_us(std::max(span.duration, 0.0))},
                     {"args", std::move(args)}});
}

void Events::arrow(const char* kind, const char* phase, Track track, double at,
                   std::uint64_t number) {
  Json event{{"name", kind},         {"cat", kind},         {"ph", phase},         {"id", number},
             {"pid", track.process}, {"tid", track.thread}, {"ts", rounded_us(at)}};
  if (std::string_view(phase) == "f") event["bp"] = "e";
  events_.push_back(std::move(event));
}

Json Events::take() { return std::exchange(events_, Json::array()); }

void Events::name_it(const char* what, Track track, Json args) {
  events_.push_back({{"name", what},
                     {"ph", "M"},
                     {"pid", track.process},
                     {"tid", track.thread},
                     {"args", std::move(args)}});
}

}  // namespace pareto::report
