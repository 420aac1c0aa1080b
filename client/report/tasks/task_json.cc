#include <nlohmann/json.hpp>

#include "client/report/tasks/task_writer.h"
#include "core/base/json_text.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

Json figures_to_json(const tasks::RunFigures& figures, const tasks::Problem& problem) {
  Json busy = Json::array();
  for (std::size_t i = 0; i < figures.workers.size(); ++i) {
    const tasks::WorkerUse& use = figures.workers[i];
    Json worker{
        {"stages", use.stages}, {"busy_ms", to_milliseconds(use.busy)}, {"share", use.share}};
    if (!problem.workers[i].name.empty()) worker["name"] = problem.workers[i].name;
    busy.push_back(std::move(worker));
  }
  return {{"makespan_ms", to_milliseconds(figures.makespan)},
          {"throughput_per_s", figures.throughput_per_s},
          {"done", figures.done},
          {"missed_deadlines", figures.misses},
          {"mean_completion_ms", to_milliseconds(figures.mean_completion)},
          {"mean_slowdown", figures.mean_slowdown},
          {"workers", busy}};
}

Json contestant_json(const tasks::TaskReport& report, const tasks::Contestant& one) {
  Json makespans = Json::array();
  for (const Nanoseconds each : one.makespans) makespans.push_back(to_milliseconds(each));
  Json json{{"name", one.name},
            {"about", one.about},
            {"makespan_ms", to_milliseconds(one.makespan)},
            {"rounds_ms", makespans},
            {"partial", one.partial},
            {"speed_up", report.speed_up_over(one)},
            {"output_mismatches", one.mismatches},
            {"worst_output_error", one.worst_error},
            {"figures", figures_to_json(one.figures, one.plan.problem)}};
  return json;
}

/// Adds the time on each device, if there are some.
void add_device_times(const tasks::StageCost& cost, Json& json) {
  for (const Nanoseconds time : cost.on_device) json["device_ms"].push_back(to_milliseconds(time));
}

Json stages_json(const tasks::PreparedModel& model, const tasks::ModelCosts& costs) {
  Json stages = Json::array();
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    stages.push_back({{"begin", model.ranges[i].begin},
                      {"end", model.ranges[i].end},
                      {"cut", model.ranges[i].name},
                      {"ms", to_milliseconds(costs.stages[i].time)},
                      {"input_bytes", costs.stages[i].bytes}});
    add_device_times(costs.stages[i], stages.back());
  }
  return stages;
}

Json models_to_json(const tasks::TaskReport& report) {
  Json models = Json::array();
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    models.push_back({{"model", report.set.models[i].model},
                      {"batch", report.set.models[i].batch},
                      {"engine", report.models[i].engine},
                      {"alone_ms", to_milliseconds(report.costs[i].alone)},
                      {"whole_ms", to_milliseconds(report.costs[i].whole.time)},
                      {"stages", stages_json(report.models[i], report.costs[i])}});
    add_device_times(report.costs[i].whole, models.back());
  }
  return models;
}

Json tasks_to_json(const tasks::TaskReport& report) {
  const tasks::Contestant& run = report.schedule();
  Json all = Json::array();
  for (std::size_t i = 0; i < report.set.tasks.size(); ++i) {
    const tasks::Task& task = report.set.tasks[i];
    const tasks::TaskOutcome& outcome = run.figures.tasks[i];
    Json json{{"model", task.model},
              {"arrival_ms", to_milliseconds(task.arrival)},
              {"priority", task.priority},
              {"stages", run.plan.problem.tasks[i].stages.size()},
              {"done", outcome.finish.has_value()}};
    if (task.deadline) {
      json["deadline_ms"] = to_milliseconds(*task.deadline);
      json["missed"] = outcome.missed;
    }
    if (outcome.finish) {
      json["finish_ms"] = to_milliseconds(*outcome.finish);
      json["completion_ms"] = to_milliseconds(outcome.completion);
      json["slowdown"] = outcome.slowdown;
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json spans_to_json(const tasks::Timeline& timeline) {
  Json spans = Json::array();
  for (const tasks::StageSpan& span : timeline.spans) {
    spans.push_back({{"task", span.turn.task},
                     {"stage", span.turn.stage},
                     {"worker", span.worker},
                     {"start_ms", to_milliseconds(span.start)},
                     {"finish_ms", to_milliseconds(span.finish)}});
  }
  return spans;
}

Json report_to_json(const tasks::TaskReport& report) {
  Json contestants = Json::array();
  for (const tasks::Contestant& one : report.contestants) {
    if (&one != &report.schedule()) contestants.push_back(contestant_json(report, one));
  }
  const tasks::Contestant& run = report.schedule();
  Json losses = Json::array();
  for (const tasks::DeviceLoss& loss : report.losses) {
    losses.push_back({{"device", loss.device},
                      {"round", loss.round},
                      {"way", loss.way},
                      {"error", loss.error},
                      {"done", loss.done}});
  }
  return {{"workers", run.plan.problem.workers.size()},
          {"devices", report.devices},
          {"lost_devices", losses},
          {"not_admitted", report.refused.size()},
          {"cores", report.cores},
          {"rounds", report.rounds},
          {"stopped", report.stopped},
          {"split_tasks", run.plan.splits()},
          {"models", models_to_json(report)},
          {"tasks", tasks_to_json(report)},
          {"schedule", contestant_json(report, run)},
          {"predicted", figures_to_json(report.predicted, run.plan.problem)},
          {"prediction_error", report.prediction_error()},
          {"baselines", contestants},
          {"timeline", spans_to_json(run.timeline)}};
}

}  // namespace

std::string write_task_json(const tasks::TaskReport& report) {
  return dump(report_to_json(report)) + "\n";
}

std::string write_task_sweep_json(const tasks::TaskSweep& sweep) {
  Json points = Json::array();
  for (const tasks::SweepPoint& point : sweep.points) {
    Json json;
    json["heavy_share"] = point.heavy_share;
    json.update(report_to_json(point.report));
    points.push_back(std::move(json));
  }
  return dump(Json{{"stopped", sweep.stopped}, {"mixes", points}}) + "\n";
}

}  // namespace pareto::report
