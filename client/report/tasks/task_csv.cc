#include <algorithm>

#include "client/report/csv_cell.h"
#include "client/report/tasks/task_writer.h"

namespace pareto::report {
namespace {

std::string profile_csv(const tasks::TaskReport& report) {
  std::string text =
      "task,model,layer,kind,compute,time_ms,memory_bytes,weight_bytes,flops,bytes_accessed\n";
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    // The number of the first task that runs it.
    const auto first = std::ranges::find(report.set.tasks, i, &tasks::Task::model);
    if (first == report.set.tasks.end()) continue;
    for (const tasks::LayerCost& layer : report.models[i].layers) {
      text +=
          fmt::format("{},{},{},{},cpu,{:.6f},{},{},{},{}\n", first - report.set.tasks.begin(),
                      csv_cell(report.models[i].title), csv_cell(layer.name), csv_cell(layer.kind),
                      to_milliseconds(layer.time), layer.weight_bytes + layer.output_bytes,
                      layer.weight_bytes, layer.flops, layer.bytes);
    }
  }
  return text;
}

std::string runs_csv(const tasks::TaskReport& report) {
  std::string text =
      "way,round,makespan_ms,speed_up,throughput_per_s,mean_completion_ms,mean_slowdown,"
      "missed_deadlines,output_mismatches,predicted_makespan_ms\n";
  for (const tasks::Contestant& one : report.contestants) {
    const std::string predicted =
        &one == &report.schedule()
            ? fmt::format("{:.6f}", to_milliseconds(report.predicted.makespan))
            : "";
    const auto line = [&](const std::string& round, Nanoseconds makespan) {
      text +=
          fmt::format("{},{},{:.6f},{:.4f},{:.6f},{:.6f},{:.4f},{},{},{}\n", csv_cell(one.name),
                      round, to_milliseconds(makespan), report.speed_up_over(one),
                      one.figures.throughput_per_s, to_milliseconds(one.figures.mean_completion),
                      one.figures.mean_slowdown, one.figures.misses, one.mismatches, predicted);
    };
    line("median", one.makespan);
    for (std::size_t i = 0; i < one.makespans.size(); ++i) {
      text += fmt::format("{},{},{:.6f},,,,,,,\n", csv_cell(one.name), i + 1,
                          to_milliseconds(one.makespans[i]));
    }
  }
  return text;
}

std::string tasks_csv(const tasks::TaskReport& report) {
  std::string text =
      "task,model,stage,worker,arrival_ms,start_ms,finish_ms,completion_ms,slowdown,deadline_ms,"
      "missed\n";
  const tasks::Contestant& run = report.schedule();
  for (const tasks::StageSpan& span : run.timeline.spans) {
    const tasks::Task& task = report.set.tasks[span.turn.task];
    const tasks::TaskOutcome& outcome = run.figures.tasks[span.turn.task];
    const bool is_last =
        span.turn.stage + 1 == run.plan.problem.tasks[span.turn.task].stages.size();
    text += fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{},{},{},{}\n", span.turn.task,
                        csv_cell(report.models[task.model].title), span.turn.stage, span.worker,
                        to_milliseconds(task.arrival), to_milliseconds(span.start),
                        to_milliseconds(span.finish),
                        is_last ? fmt::format("{:.6f}", to_milliseconds(outcome.completion)) : "",
                        is_last ? fmt::format("{:.4f}", outcome.slowdown) : "",
                        task.deadline ? fmt::format("{:.6f}", to_milliseconds(*task.deadline)) : "",
                        task.deadline ? (outcome.missed ? "true" : "false") : "");
  }
  return text;
}

}  // namespace

std::map<std::string, std::string> task_csv_files(const tasks::TaskReport& report) {
  return {{"profile.csv", profile_csv(report)},
          {"runs.csv", runs_csv(report)},
          {"tasks.csv", tasks_csv(report)}};
}

std::map<std::string, std::string> task_sweep_csv_files(const tasks::TaskSweep& sweep) {
  std::string text =
      "heavy_share,way,makespan_ms,speed_up,throughput_per_s,mean_completion_ms,mean_slowdown,"
      "split_tasks,predicted_makespan_ms\n";
  for (const tasks::SweepPoint& point : sweep.points) {
    for (const tasks::Contestant& one : point.report.contestants) {
      text += fmt::format("{},{},{:.6f},{:.4f},{:.6f},{:.6f},{:.4f},{},{:.6f}\n", point.heavy_share,
                          csv_cell(one.name), to_milliseconds(one.makespan),
                          point.report.speed_up_over(one), one.figures.throughput_per_s,
                          to_milliseconds(one.figures.mean_completion), one.figures.mean_slowdown,
                          one.plan.splits(), to_milliseconds(one.plan.predicted.makespan()));
    }
  }
  std::map<std::string, std::string> files{{"sweep.csv", text}};
  if (!sweep.points.empty()) files["profile.csv"] = profile_csv(sweep.points.back().report);
  return files;
}

}  // namespace pareto::report
