#include "client/watch/top_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/text.h"
#include "core/control/pipeline_name.h"

namespace pareto::watch {
namespace {

constexpr const char* kNothing = "-";
/// Blanks before the lines of a paragraph but its first.
constexpr std::size_t kIndent = 2;
/// Remedy for columns without room. A screen that is drawn again cannot be piped elsewhere.
constexpr std::string_view kMoreRoom = "widen the terminal";
/// Column of workers in the table of stages.
constexpr std::size_t kWorkersColumn = 11;

template <typename T, typename Format>
std::string or_nothing(const std::optional<T>& value, Format format) {
  return value ? format(*value) : std::string(kNothing);
}

std::string bytes(double count) { return format_bytes(static_cast<std::uint64_t>(count)); }

/// Returns "20-50": no closer than the histogram knows it.
std::string range(const DurationRange& durations) {
  if (!durations.high_ms) return fmt::format("> {:g}", durations.low_ms);
  return fmt::format("{:g}-{:g}", durations.low_ms, *durations.high_ms);
}

std::string mean_of(const std::optional<DurationFigures>& durations) {
  return or_nothing(durations,
                    [](const auto& known) { return report::format_figure(known.mean_ms); });
}

std::string range_of(const std::optional<DurationFigures>& durations,
                     DurationRange DurationFigures::*percentile) {
  return or_nothing(durations, [&](const auto& known) { return range(known.*percentile); });
}

std::string gigahertz(double hertz) { return fmt::format("{:.2f} GHz", hertz / 1e9); }

std::string clock_of(const control::MachineState& machine) {
  if (!machine.frequency_hertz) return kNothing;
  if (!machine.frequency_max_hertz) return gigahertz(*machine.frequency_hertz);
  return fmt::format("{:.2f} of {}", *machine.frequency_hertz / 1e9,
                     gigahertz(*machine.frequency_max_hertz));
}

/// Returns the table of devices. The reason why a device does not answer stands below, if there is
/// room for it.
std::string device_table(const Activity& activity, const report::ReportStyle& style) {
  report::TextTable table({{"device"},
                           {"address", report::Align::kLeft, 3},
                           {"runs on", report::Align::kLeft, 5},
                           {"cpu", report::Align::kRight},
                           {"turns", report::Align::kRight, 6},
                           {"cores", report::Align::kRight, 4},
                           {"memory", report::Align::kRight, 1},
                           {"available", report::Align::kRight, 2},
                           {"temp", report::Align::kRight},
                           {"clock", report::Align::kRight, 2},
                           {"slowed down"}});
  std::string problems;
  std::string users;
  for (const DeviceView& device : activity.devices) {
    const DeviceReading& reading = device.reading;
    if (reading.problem.empty() && !reading.observation.holders.empty()) {
      users += paragraph(fmt::format("{}: used by {}", reading.name,
                                     control::to_string(reading.observation.holders)),
                         report::RowStyle::kFaint, style, kIndent);
    }
    if (!reading.problem.empty()) {
      table.add({reading.name, reading.address, "", "no answer"}, report::RowStyle::kBad);
      problems += paragraph(reading.problem, report::RowStyle::kBad, style, kIndent);
      continue;
    }
    const control::MachineState& machine = reading.observation.machine;
    table.add({reading.name, reading.address, reading.runs_on, or_nothing(device.cpu, percent),
               or_nothing(device.turns, percent), std::to_string(reading.cores),
               format_bytes(reading.observation.resident_bytes),
               format_bytes(machine.memory_available_bytes),
               or_nothing(machine.temperature_celsius,
                          [](double degrees) { return fmt::format("{:.0f} °C", degrees); }),
               clock_of(machine), machine.throttled.empty() ? "no" : join(machine.throttled)},
              machine.throttled.empty() ? report::RowStyle::kPlain : report::RowStyle::kBad);
  }
  std::vector<std::string> imitated;
  for (const DeviceView& device : activity.devices) {
    if (device.reading.imitated) imitated.push_back(device.reading.name);
  }
  std::string note;
  if (!imitated.empty()) {
    note = paragraph(
        fmt::format(
            "imitated: {}. cpu is what the imitation takes of this machine; computing, of a "
            "stage, counts its pauses too",
            join(imitated)),
        report::RowStyle::kFaint, style, kIndent);
  }
  table.remove_if_repeated(1, 0);
  return table.render(style, kMoreRoom) + note + users + problems;
}

struct StageRow {
  const PipelineView* pipeline;
  const StageView* stage;
  bool bottleneck;
};

std::vector<StageRow> stage_rows(const Activity& activity, TopOrder order) {
  std::vector<StageRow> rows;
  for (const PipelineView& pipeline : activity.pipelines) {
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
      rows.push_back(
          {&pipeline, &pipeline.stages[i],
           pipeline.bottleneck.limit == Limit::kStage && pipeline.bottleneck.index == i});
    }
  }
  // The most first; what is not known last.
  const auto by = [&](auto value_of) {
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](const StageRow& row) {
      return row.stage->rates ? value_of(*row.stage->rates) : -1.0;
    });
  };
  switch (order) {
    case TopOrder::kPipeline:
      break;
    case TopOrder::kRate:
      by([](const StageRates& rates) { return rates.requests_per_s; });
      break;
    case TopOrder::kComputing:
      by([](const StageRates& rates) { return rates.computing; });
      break;
    case TopOrder::kWait:
      by([](const StageRates& rates) { return rates.wait ? rates.wait->mean_ms : 0; });
      break;
    case TopOrder::kDevice:
      std::ranges::stable_sort(rows, {}, [](const StageRow& row) { return row.stage->device; });
      break;
  }
  return rows;
}

std::string note_of(const StageRow& row) {
  const control::StageActivity& now = row.stage->now;
  if (now.state != control::StageState::kRunning) {
    const std::string state(to_string(now.state));
    return now.failure.empty() ? state : state + ": " + now.failure;
  }
  if (row.bottleneck) return "◀ bottleneck";
  if (!row.stage->rates) return "";
  const double dropped = row.stage->rates->dropped_per_s;
  const double failed = row.stage->rates->failed_per_s - dropped;
  std::vector<std::string> notes;
  if (failed > 0) notes.push_back(report::format_figure(failed) + " failed/s");
  if (dropped > 0) notes.push_back(report::format_figure(dropped) + " too late/s");
  return join(notes);
}

report::RowStyle style_of(const StageRow& row) {
  if (row.bottleneck) return report::RowStyle::kStrong;
  if (row.stage->now.state == control::StageState::kFailed) return report::RowStyle::kBad;
  return row.stage->now.state == control::StageState::kRunning ? report::RowStyle::kPlain
                                                               : report::RowStyle::kFaint;
}

/// Returns "92 88 %": the share of each worker; nothing of one worker. If there are many, it is the
/// range of their shares, "16 of 40-92 %".
std::string workers_of(const StageRates& rates) {
  constexpr std::size_t kMany = 8;
  if (rates.workers.size() < 2) return "";
  if (rates.workers.size() > kMany) {
    const auto [least, most] = std::ranges::minmax(rates.workers);
    return fmt::format("{} of {:.0f}-{}", rates.workers.size(), least * 100, percent(most));
  }
  std::string shares;
  for (const double share : rates.workers) shares += fmt::format("{:.0f} ", share * 100);
  return shares + "%";
}

std::string stage_table(const Activity& activity, const TopStyle& style) {
  report::TextTable table({{"pipeline"},
                           {"stage", report::Align::kRight},
                           {"device"},
                           {"model", report::Align::kLeft, 6},
                           {"req/s", report::Align::kRight},
                           {"mean ms", report::Align::kRight},
                           {"p50 ms", report::Align::kRight, 4},
                           {"p95 ms", report::Align::kRight, 4},
                           {"wait ms", report::Align::kRight, 1},
                           {"wait p95", report::Align::kRight, 5},
                           {"computing", report::Align::kRight},
                           {"workers", report::Align::kRight, 2},
                           {"in flight", report::Align::kRight, 2},
                           {"in/s", report::Align::kRight, 3},
                           {"out/s", report::Align::kRight, 3},
                           {"operators", report::Align::kLeft, 7},
                           {""}});
  for (const StageRow& row : stage_rows(activity, style.order)) {
    const control::StageActivity& now = row.stage->now;
    const auto& rates = row.stage->rates;
    const auto rate = [&](auto value_of) { return rates ? value_of(*rates) : kNothing; };
    table.add({control::pipeline_name(row.pipeline->id), std::to_string(now.stage),
               activity.devices[row.stage->device].reading.name, now.model,
               rate([](const StageRates& r) { return report::format_figure(r.requests_per_s); }),
               rate([](const StageRates& r) { return mean_of(r.compute); }),
               rate([](const StageRates& r) { return range_of(r.compute, &DurationFigures::p50); }),
               rate([](const StageRates& r) { return range_of(r.compute, &DurationFigures::p95); }),
               rate([](const StageRates& r) { return mean_of(r.wait); }),
               rate([](const StageRates& r) { return range_of(r.wait, &DurationFigures::p95); }),
               rate([](const StageRates& r) { return percent(r.computing); }),
               rates ? workers_of(*rates) : "", std::to_string(now.in_flight),
               rate([](const StageRates& r) { return bytes(r.bytes_in_per_s); }),
               rate([](const StageRates& r) { return bytes(r.bytes_out_per_s); }),
               fmt::format("[{}, {})", now.begin, now.end), note_of(row)},
              style_of(row));
  }
  table.remove_if_empty(kWorkersColumn);
  return table.render(style.report, kMoreRoom);
}

std::string link_table(const Activity& activity, const report::ReportStyle& style) {
  report::TextTable table({{"pipeline"},
                           {"link from"},
                           {"to"},
                           {"busy", report::Align::kRight},
                           {"bytes/s", report::Align::kRight},
                           {"ms then", report::Align::kRight, 1},
                           {"bytes/s then", report::Align::kRight, 2},
                           {""}});
  bool probed = false;
  for (const PipelineView& pipeline : activity.pipelines) {
    for (std::size_t i = 0; i < pipeline.links.size(); ++i) {
      const LinkView& link = pipeline.links[i];
      probed = probed || link.round_trip || link.bytes_per_second_then;
      const bool bottleneck =
          pipeline.bottleneck.limit == Limit::kLink && pipeline.bottleneck.index == i;
      table.add(
          {control::pipeline_name(pipeline.id), link.from, link.to, or_nothing(link.busy, percent),
           or_nothing(link.bytes_per_s, bytes),
           or_nothing(
               link.round_trip,
               [](Nanoseconds time) { return report::format_figure(to_milliseconds(time)); }),
           or_nothing(link.bytes_per_second_then, format_bytes), bottleneck ? "◀ bottleneck" : ""},
          bottleneck ? report::RowStyle::kStrong : report::RowStyle::kPlain);
    }
  }
  std::string text = table.render(style, kMoreRoom);
  if (probed) {
    text += paragraph(
        "then: round trip, and what the link carried, as its pipeline was deployed. What else used "
        "the link then took its part",
        report::RowStyle::kFaint, style, kIndent);
  }
  return text;
}

std::string summary(const Activity& activity, const report::ReportStyle& style) {
  std::string text;
  for (const PipelineView& pipeline : activity.pipelines) {
    const bool limited =
        pipeline.bottleneck.limit == Limit::kStage || pipeline.bottleneck.limit == Limit::kLink;
    report::RowStyle row = limited ? report::RowStyle::kStrong : report::RowStyle::kPlain;
    if (pipeline.bottleneck.limit == Limit::kFailed) row = report::RowStyle::kBad;
    // Nothing where it is not known: a dash in front of a number is a sign.
    const std::string rate = pipeline.requests_per_s
                                 ? report::format_figure(*pipeline.requests_per_s) + " requests/s, "
                                 : "";
    const std::string line =
        fmt::format("pipeline {} {}: {}{} in flight; {}", control::pipeline_name(pipeline.id),
                    pipeline.model, rate, pipeline.in_flight, pipeline.bottleneck.words);
    text += paragraph(line, row, style, kIndent);
  }
  return text.empty() ? "no pipeline runs on these devices\n" : text;
}

/// Returns the first lines that there is room for.
std::string cut_to(const std::string& text, int rows) {
  std::size_t end = 0;
  for (int line = 0; line < rows && end < text.size(); ++line) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string::npos ? text.size() : next + 1;
  }
  return text.substr(0, end);
}

}  // namespace

std::string top_text(const Activity& activity, const TopStyle& style) {
  const report::ReportStyle& report = style.report;
  const auto faint = [&](const std::string& line) {
    return paragraph(line, report::RowStyle::kFaint, report, kIndent);
  };
  std::string text = faint(style.title);
  text += activity.devices.empty()
              ? "the devices are being asked\n"
              : summary(activity, report) + "\n" + device_table(activity, report);
  if (!activity.pipelines.empty()) {
    text += "\n" + stage_table(activity, style) + "\n" + link_table(activity, report);
  }
  const std::string keys = style.keys.empty() ? "" : faint(style.keys);
  if (style.rows <= 0) return text + keys;
  const auto left = style.rows - static_cast<int>(std::ranges::count(keys, '\n'));
  return left > 0 ? cut_to(text, left) + keys : cut_to(text, style.rows);
}

}  // namespace pareto::watch
