#include <nlohmann/json.hpp>
#include <utility>

#include "client/report/profile_writer.h"
#include "core/base/json_text.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

Json segments_of(const ProfileReport& report, const ProfiledSettings& run, std::size_t device) {
  Json segments = Json::array();
  for (const planning::ProfiledSegment& one :
       profiled_segments(run.devices[device], report.positions, run.inputs, device)) {
    Json segment{{"begin", one.begin}, {"end", one.end}, {"up_to", report.cut_at(one.end)}};
    if (one.alone) segment["alone_ns"] = one.alone->count();
    if (one.busy) segment["busy_ns"] = one.busy->count();
    segment["plain_ns"] = one.plain.count();
    segment["memory_bytes"] = one.memory_bytes;
    segment["output_bytes"] = one.output_bytes;
    segments.push_back(std::move(segment));
  }
  return segments;
}

/// Returns the profile as it is kept, and what follows from it.
Json device_of(const ProfileReport& report, const ProfiledSettings& run, std::size_t device) {
  Json json = Json::parse(plan::to_json(run.devices[device]));
  json["segments"] = segments_of(report, run, device);
  if (run.operators.empty()) return json;
  json["operators"] = Json::array();
  for (std::size_t i = 0; i < run.operators.size(); ++i) {
    const planning::ProfiledOperator& one = run.operators[i];
    json["operators"].push_back({{"kind", one.kind},
                                 {"scope", one.scope},
                                 {"plain_ns", run.devices[device].operators[i].count()},
                                 {"weight_bytes", one.weight_bytes},
                                 {"output_bytes", one.output_bytes}});
  }
  return json;
}

void add_codecs(const ProfileReport& report, const ProfiledSettings& run, Json& all) {
  const planning::ProbedCodecs& codecs = run.codecs;
  for (std::size_t place = 0; place < codecs.positions.size(); ++place) {
    for (std::size_t codec = 0; codec < codecs.codecs.size(); ++codec) {
      Json json{{"cut", report.cut_at(codecs.positions[place])},
                {"position", codecs.positions[place]},
                {"batch", run.settings.batch},
                {"codec", codecs.codecs[codec]},
                {"plain_bytes", codecs.plain_bytes[place]},
                {"bytes", codecs.crossing[place][codec].bytes},
                {"error", codecs.crossing[place][codec].error},
                {"devices", Json::array()}};
      for (std::size_t device = 0; device < run.devices.size(); ++device) {
        const wire::CodecCost cost = planning::codec_cost_on(codecs, codec, device, place);
        json["devices"].push_back({{"device", run.devices[device].device},
                                   {"encode_ms", to_milliseconds(cost.encode)},
                                   {"decode_ms", to_milliseconds(cost.decode)}});
      }
      all.push_back(std::move(json));
    }
  }
}

void add_links(const ProfileReport& report, const planning::ProbedTransport& probed, Json& all) {
  const planning::ProbedLinks& links = probed.links;
  for (std::size_t from = 0; from < links.size(); ++from) {
    for (std::size_t to = 0; to < links.size(); ++to) {
      if (links[from][to].points.empty()) continue;
      Json link{{"from", report.end_at(from)},
                {"to", report.end_at(to)},
                {"transport", probed.name},
                {"round_trip_ms", to_milliseconds(links[from][to].round_trip)},
                {"points", Json::array()}};
      for (const transport::ProbePoint& point : links[from][to].points) {
        link["points"].push_back({{"bytes", point.bytes},
                                  {"crossing_ms", to_milliseconds(point.crossing)},
                                  {"interval_ms", to_milliseconds(point.interval)},
                                  {"send_cpu_ms", to_milliseconds(point.send_cpu)},
                                  {"receive_cpu_ms", to_milliseconds(point.receive_cpu)}});
      }
      all.push_back(std::move(link));
    }
  }
}

}  // namespace

std::string write_profile_json(const ProfileReport& report) {
  Json json{{"devices", Json::array()},
            {"codecs", Json::array()},
            {"transports", report.transports},
            {"links", Json::array()}};
  for (const ProfiledSettings& run : report.settings) {
    for (std::size_t device = 0; device < run.devices.size(); ++device) {
      json["devices"].push_back(device_of(report, run, device));
    }
    add_codecs(report, run, json["codecs"]);
  }
  for (const planning::ProbedTransport& probed : report.links)
    add_links(report, probed, json["links"]);
  return dump(json, 2) + "\n";
}

}  // namespace pareto::report
