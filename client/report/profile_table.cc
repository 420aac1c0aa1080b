#include <utility>

#include "client/report/plan_text.h"
#include "client/report/profile_writer.h"
#include "client/report/text_table.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/profile_doubt.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

constexpr const char* kOfCuts =
    "ms: what a lone request takes in such a stage, with what every stage adds. Stages are timed "
    "one "
    "by one, so a part may come out a little slower than the whole. memory: what plans count for "
    "it: its weights, and what crosses at both its ends.";
constexpr const char* kOfSegments =
    "alone: a lone request, as above. busy: from one request to the next, while all devices are at "
    "work. plain: its operators one by one in the plain engine, without what a stage adds. memory: "
    "as above.";

std::string ms(Nanoseconds time) { return format_figure(to_milliseconds(time)); }

std::string bytes_text(std::int64_t bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

/// Returns the rate of messages that follow each other.
std::string rate_text(const transport::ProbePoint& point) {
  if (point.interval.count() <= 0) return "";
  return format_figure(static_cast<double>(point.bytes) / to_seconds(point.interval) / 1e6);
}

/// The tables of one choice of settings.
class SettingsTables {
 public:
  SettingsTables(const ProfileReport& report, const ProfiledSettings& run, const ReportStyle& style)
      : report_(report), run_(run), style_(style) {}

  std::string all() const {
    std::string text = titled("Stages that begin or end the model", cuts(), kOfCuts);
    text += titled("Segments, each as a stage of its own and in the plain engine", segments(),
                   kOfSegments);
    if (!run_.operators.empty()) {
      text += titled("Operators, one by one in the plain engine", operators());
    }
    if (!run_.codecs.positions.empty()) {
      text += titled("Codecs, on what crosses the cuts that were timed", codecs());
    }
    for (const plan::DeviceProfile& device : run_.devices) {
      text += fmt::format("{}: {}{}\n", device.device,
                          run_.measured_now ? "measured now" : "as measured " + device.measured,
                          others_note(device));
    }
    return text + '\n';
  }

 private:
  /// `note`: says what the columns are; "" if their heads do.
  std::string titled(const std::string& title, const TextTable& table,
                     const char* note = "") const {
    return fmt::format("{}: {}, {}\n{}{}\n", title, report_.model,
                       profile::settings_text(run_.settings), table.render(style_),
                       paragraph(note, RowStyle::kPlain, style_));
  }

  /// Returns what others did meanwhile, and the remedy for a profile that was kept.
  std::string others_note(const plan::DeviceProfile& device) const {
    const std::string others = profile::others_text(device);
    if (others.empty()) return "";
    return fmt::format(", {}: figures vary{}", others,
                       run_.measured_now ? "" : " (--fresh measures it again)");
  }

  /// Returns the columns of every device behind `columns`, the first of them with its name.
  std::vector<TextColumn> with_devices(std::vector<TextColumn> columns,
                                       const std::vector<TextColumn>& of_each) const {
    for (const plan::DeviceProfile& device : run_.devices) {
      for (const TextColumn& column : of_each) {
        columns.push_back(column);
        if (&column != of_each.data()) continue;
        columns.back().title = device.device + ": " + column.title;
      }
    }
    return columns;
  }

  /// Returns the time if there is room for such a stage.
  std::string time_of(std::size_t device, int begin, int end) const {
    const planning::DeviceCosts& costs = run_.inputs.devices[device];
    if (!planning::has_room(run_.inputs, costs, begin, end)) return "no room";
    return ms(costs.time(begin, end));
  }

  /// Returns what plans count for such a stage, as the table of segments does.
  std::string memory_of(std::size_t device, int begin, int end) const {
    return bytes_text(planning::stage_memory_bytes(run_.inputs.devices[device], begin, end));
  }

  /// Returns the table of what each side of each cut takes on each device.
  TextTable cuts() const {
    TextTable table(
        with_devices({{"cut"}, {"output", Align::kRight}}, {{"ms before", Align::kRight},
                                                            {"after", Align::kRight},
                                                            {"memory before", Align::kRight, 1},
                                                            {"after", Align::kRight, 1}}));
    const int last = run_.inputs.positions();
    for (int position = 1; position <= last; ++position) {
      const bool whole = position == last;
      std::vector<std::string> row{
          whole ? "the whole model" : report_.cuts[static_cast<std::size_t>(position) - 1],
          bytes_text(run_.inputs.boundary(position))};
      for (std::size_t device = 0; device < run_.devices.size(); ++device) {
        row.push_back(time_of(device, 0, position));
        row.push_back(whole ? "" : time_of(device, position, last));
        row.push_back(memory_of(device, 0, position));
        row.push_back(whole ? "" : memory_of(device, position, last));
      }
      table.add(std::move(row), whole ? RowStyle::kStrong : RowStyle::kPlain);
    }
    return table;
  }

  TextTable segments() const {
    TextTable table(
        with_devices({{"up to"}, {"output", Align::kRight}}, {{"ms alone", Align::kRight},
                                                              {"busy", Align::kRight},
                                                              {"plain", Align::kRight, 2},
                                                              {"memory", Align::kRight, 1}}));
    std::vector<std::vector<std::string>> rows;
    for (std::size_t device = 0; device < run_.devices.size(); ++device) {
      const auto segments =
          profiled_segments(run_.devices[device], report_.positions, run_.inputs, device);
      rows.resize(segments.size());
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const planning::ProfiledSegment& one = segments[i];
        if (device == 0) rows[i] = {report_.cut_at(one.end), bytes_text(one.output_bytes)};
        rows[i].insert(rows[i].end(),
                       {one.alone ? ms(*one.alone) : "no room", one.busy ? ms(*one.busy) : "",
                        ms(one.plain), bytes_text(one.memory_bytes)});
      }
    }
    for (auto& row : rows) table.add(std::move(row));
    return table;
  }

  TextTable operators() const {
    TextTable table(with_devices({{"at", Align::kRight},
                                  {"operator"},
                                  {"module"},
                                  {"output", Align::kRight},
                                  {"weights", Align::kRight, 1}},
                                 {{"ms", Align::kRight}}));
    for (std::size_t i = 0; i < run_.operators.size(); ++i) {
      const planning::ProfiledOperator& one = run_.operators[i];
      std::vector<std::string> row{std::to_string(i), one.kind, one.scope,
                                   format_bytes(one.output_bytes), format_bytes(one.weight_bytes)};
      for (const plan::DeviceProfile& device : run_.devices) row.push_back(ms(device.operators[i]));
      table.add(std::move(row));
    }
    return table;
  }

  TextTable codecs() const {
    const planning::ProbedCodecs& codecs = run_.codecs;
    TextTable table(with_devices({{"cut"},
                                  {"codec"},
                                  {"bytes", Align::kRight},
                                  {"of plain", Align::kRight},
                                  {"error", Align::kRight}},
                                 {{"ms to encode", Align::kRight}, {"to decode", Align::kRight}}));
    for (std::size_t place = 0; place < codecs.positions.size(); ++place) {
      for (std::size_t codec = 0; codec < codecs.codecs.size(); ++codec) {
        const wire::CodecCost& here = codecs.crossing[place][codec];
        const double share =
            static_cast<double>(here.bytes) / static_cast<double>(codecs.plain_bytes[place]);
        std::vector<std::string> row{codec == 0 ? report_.cut_at(codecs.positions[place]) : "",
                                     codecs.codecs[codec], format_bytes(here.bytes),
                                     fmt::format("{:.1f} %", 100 * share),
                                     here.error > 0 ? fmt::format("{:.2g}", here.error) : "none"};
        for (std::size_t device = 0; device < run_.devices.size(); ++device) {
          const wire::CodecCost cost = planning::codec_cost_on(codecs, codec, device, place);
          row.push_back(ms(cost.encode));
          row.push_back(ms(cost.decode));
        }
        table.add(std::move(row));
      }
    }
    return table;
  }

  const ProfileReport& report_;
  const ProfiledSettings& run_;
  const ReportStyle& style_;
};

TextTable table_of(const ProfileReport& report, const planning::ProbedLinks& links) {
  TextTable table({{"link"},
                   {"bytes", Align::kRight},
                   {"round trip ms", Align::kRight},
                   {"alone ms", Align::kRight},
                   {"each of many ms", Align::kRight},
                   {"MB/s", Align::kRight},
                   {"cpu send ms", Align::kRight, 1},
                   {"receive ms", Align::kRight, 1}});
  for (std::size_t from = 0; from < links.size(); ++from) {
    for (std::size_t to = 0; to < links.size(); ++to) {
      for (const transport::ProbePoint& point : links[from][to].points) {
        const bool first = &point == links[from][to].points.data();
        table.add({first ? report.end_at(from) + " > " + report.end_at(to) : "",
                   format_bytes(point.bytes), first ? ms(links[from][to].round_trip) : "",
                   ms(point.crossing), ms(point.interval), rate_text(point), ms(point.send_cpu),
                   ms(point.receive_cpu)});
      }
    }
  }
  return table;
}

}  // namespace

std::string write_profile_table(const ProfileReport& report, const ReportStyle& style) {
  std::string text;
  for (const ProfiledSettings& run : report.settings) {
    text += SettingsTables(report, run, style).all();
  }
  for (const planning::ProbedTransport& probed : report.links) {
    text += "Links, " + probed.name + '\n' + table_of(report, probed.links).render(style);
  }
  return text;
}

}  // namespace pareto::report
