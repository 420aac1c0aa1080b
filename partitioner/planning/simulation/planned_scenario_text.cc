#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "partitioner/planning/simulation/planned_scenario.h"
#include "partitioner/planning/simulation/scenario_file.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::simulation {
namespace {

/// The column where comments next to values begin.
constexpr std::size_t kCommentColumn = 34;

/// Returns "12.345678ms": to the nanosecond.
std::string text_of(Nanoseconds time) {
  std::string text = fmt::format("{:.6f}", to_milliseconds(time));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "ms";
}

/// Quotes a name. Between quotes JSON's escapes are YAML's.
std::string quoted(const std::string& name) { return dump(name); }

std::string line(std::string text, std::string_view comment = "") {
  if (comment.empty()) return text + "\n";
  text.resize(std::max(text.size() + 1, kCommentColumn), ' ');
  return fmt::format("{}# {}\n", text, comment);
}

/// Returns "medium: "wifi"", or "media: [{name: "wifi"}, {name: "lan", share: 25%}]".
std::string media_text(const std::vector<MediumPass>& media, const Scenario& scenario) {
  std::vector<std::string> parts;
  for (const MediumPass& pass : media) {
    const std::string name = quoted(scenario.media[static_cast<std::size_t>(pass.medium)].name);
    if (media.size() == 1 && pass.share == 1) return "medium: " + name;
    parts.push_back(pass.share == 1
                        ? fmt::format("{{name: {}}}", name)
                        : fmt::format("{{name: {}, share: {}%}}", name, pass.share * 100));
  }
  return fmt::format("media: [{}]", fmt::join(parts, ", "));
}

/// Returns "{bytes: 100352, occupancy: 0.4ms, delay: 0.1ms}".
std::string link_text(const Crossing& link, const Scenario& scenario) {
  std::vector<std::string> parts;
  if (!link.media.empty()) parts.push_back(media_text(link.media, scenario));
  parts.push_back(fmt::format("bytes: {}", bytes_without_packet_headers(link.bytes) - kFrameBytes));
  const auto add = [&](const char* key, Nanoseconds time) {
    if (time.count() > 0) parts.push_back(fmt::format("{}: {}", key, text_of(time)));
  };
  add("occupancy", link.occupancy.mean);
  add("delay", link.delay.mean);
  add("early", link.early);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string stage_text(const Stage& stage, const Scenario& scenario) {
  const DeviceClass& device = scenario.devices[static_cast<std::size_t>(stage.device)];
  std::string text = line("      - device: " + quoted(device.name));
  text += line("        compute: " + text_of(stage.compute.mean), "of a lone message");
  if (stage.busy) {
    text += line("        busy: " + text_of(stage.busy->mean), "of one that follows another");
  }
  if (stage.compute.cv > 0) {
    text += line(fmt::format("        cv: {:.6g}%", stage.compute.cv * 100),
                 "of both: standard deviation / mean");
  }
  if (!stage.receive.is_zero()) {
    text += line("        receive: " + text_of(stage.receive.mean), "processor time");
  }
  if (!stage.send.is_zero()) {
    text += line("        send: " + text_of(stage.send.mean), "processor time");
  }
  return text + line("        link: " + link_text(stage.link, scenario));
}

std::string pipeline_text(const PipelineClass& pipeline, const Scenario& scenario) {
  std::string text = line("  - name: " + quoted(pipeline.name));
  text += line(fmt::format("    count: {}", pipeline.count),
               "more of them take devices and media in turn");
  text += line(fmt::format("    batch: {}", pipeline.batch),
               "samples of a request; times are for that many");
  text += line("    # arrivals: {poisson: 20/s}",
               "or {every: 50ms}, {trace: FILE}; without: as soon as there is room");
  text += line(fmt::format("    window: {}", pipeline.window), "in flight at most");
  text += line("    stages:");
  for (const Stage& stage : pipeline.stages) text += stage_text(stage, scenario);
  return text + line("    result: " + link_text(pipeline.result, scenario));
}

}  // namespace

std::string planned_scenario_text(const Scenario& scenario,
                                  const std::vector<std::string>& heading) {
  std::string text;
  for (const std::string& one : heading) text += one.empty() ? "#\n" : "# " + one + "\n";
  text += line(fmt::format("seed: {}", scenario.seed));
  text += line(fmt::format("requests: {}", scenario.requests),
               "that end it; or duration: 10min, of simulated time");
  text +=
      line("devices:", "count: devices of this kind; cores: messages that one works on at a time");
  for (const DeviceClass& device : scenario.devices) {
    text += line(fmt::format("  - {{name: {}, count: {}, cores: {}}}", quoted(device.name),
                             device.count, device.cores));
  }
  if (!scenario.media.empty()) text += line("media:", "what several links share");
  for (const MediumClass& medium : scenario.media) {
    text += line(fmt::format("  - {{name: {}, count: {}}}", quoted(medium.name), medium.count));
  }
  text += line("pipelines:");
  for (const PipelineClass& pipeline : scenario.pipelines) {
    text += pipeline_text(pipeline, scenario);
  }
  return text;
}

}  // namespace pareto::simulation
