#include <unistd.h>

#include "core/base/cores.h"
#include "core/transport/transport.h"
#include "tests/bench/bench.h"
#include "tests/bench/benches.h"
#include "tests/bench/device_tasks.h"
#include "tests/bench/overlapped.h"
#include "tests/bench/warm_links.h"

namespace pareto::bench {

std::vector<Bench> builtin_benches() {
  using runtime::Precision;
  struct Bar {
    const char* model;
    double fp32;
    double bf16;
  };
  constexpr Bar kUnsplit[] = {{"mobilenetv2", 0.45, 0.35},
                              {"resnet50", 0.65, 0.25},
                              {"inceptionv3", 0.65, 0.3},
                              {"googlenet", 0.65, 0.3}};
  std::vector<Bench> benches;
  const auto add = [&](const char* group, const std::string& name, auto run) {
    benches.push_back({group, name, [=] { return run(name); }});
  };
  for (const Bar& bar : kUnsplit) {
    add("runtime", std::string("unsplit/") + bar.model, [=](const std::string& name) {
      return unsplit(name, bar.model, Precision::kFloat32, bar.fp32);
    });
  }
  for (const Bar& bar : kUnsplit) {
    if (!runtime::runtime_info().fast_bf16) break;
    add("runtime", std::string("unsplit_bf16/") + bar.model, [=](const std::string& name) {
      return unsplit(name, bar.model, Precision::kBFloat16, bar.bf16);
    });
  }
  for (const char* model :
       {"mobilenetv2", "mobilenetv3_large", "efficientnet_b0", "squeezenet1_0", "googlenet",
        "resnet18", "resnet50", "densenet121", "inceptionv3", "vgg16"}) {
    for (const std::int64_t batch : {1, 8}) {
      add("runtime", fmt::format("prefix_suffix_over_whole/{}/b{}", model, batch),
          [=](const std::string& name) { return split_overhead(name, model, batch, 1.02); });
    }
  }
  add("runtime", "prepare/resnet50", [](const std::string& name) {
    return prepare_split(name, "resnet50", std::chrono::seconds(1));
  });
  add("runtime", "prepare/swin_t", [](const std::string& name) {
    return prepare_split(name, "swin_t", std::chrono::seconds(2));
  });
  for (const char* model : {"mobilenetv2", "mobilenetv3_large"}) {
    for (const int threads : {1, 2}) {
      add("runtime", fmt::format("auto_engine/{}/t{}", model, threads),
          [=](const std::string& name) { return auto_engine(name, model, threads); });
    }
  }
  add("runtime", "two_stage/resnet50",
      [](const std::string& name) { return two_stage(name, "resnet50", 1.7); });
  add("runtime", "weights_sent",
      [](const std::string& name) { return weights_sent(name, "mobilenetv2", 1); });
  for (const auto& [model, bars] : {std::pair{"inceptionv3", ScheduleBars{1.7, 1.05}},
                                    std::pair{"googlenet", ScheduleBars{1.6, 1.05}},
                                    std::pair{"squeezenet1_0", ScheduleBars{1.5, 1}},
                                    std::pair{"resnet50", ScheduleBars{1.7, 1}},
                                    std::pair{"densenet121", ScheduleBars{1.4, 1}}}) {
    add("schedule", std::string("best_over_sequential/") + model,
        [model, bars](const std::string& name) { return schedule_gain(name, model, bars); });
  }
  for (const char* model :
       {"resnet18", "mobilenetv2", "mobilenetv3_large", "efficientnet_b0", "vgg16"}) {
    add("schedule", std::string("auto_over_best/") + model,
        [model](const std::string& name) { return schedule_auto(name, model); });
  }
  add("schedule", "microbatch/batch8",
      [](const std::string& name) { return schedule_microbatch(name, "resnet50"); });
  add("schedule", "overhead/one_unit", schedule_overhead);
  add("schedule", "overlap/100mbit", overlapped);
  add("schedule", "mismatches", [](const std::string& name) {
    return schedule_mismatches(
        name, {"squeezenet1_0", "googlenet", "inceptionv3", "resnet18", "resnet50", "densenet121",
               "mobilenetv2", "mobilenetv3_large", "efficientnet_b0", "vgg16"});
  });
  add("tasks", "tasks/10x1:1",
      [](const std::string& name) { return tasks_gain(name, 10, 1.0 / 2); });
  add("tasks", "tasks/20x1:2",
      [](const std::string& name) { return tasks_gain(name, 20, 1.0 / 3); });
  add("tasks", "over_queue", tasks_mixes);
  add("tasks", "deadline_misses", tasks_deadlines);
  add("tasks", "task_mismatches", tasks_mismatches);
  if (::geteuid() == 0) add("tasks", "over_devices", device_tasks);
  add("tasks", "fairness/p99", fair_latency);
  add("tasks", "daemon_deadline_misses", daemon_deadlines);
  const int cores = static_cast<int>(usable_cores().size());
  const LimitedShare busy{{"--limit-busy", "30%"}, 30, cores, {"resnet50"}, 0};
  // Threads that wait for each other would get less than that next to others.
  const LimitedShare busy_machine{{"--limit-busy", "30%", "--threads", "1"},
                                  30,
                                  cores,
                                  {"resnet50", "mobilenetv2"},
                                  static_cast<unsigned>(cores)};
  for (const auto& [name, limit] :
       {std::pair{"limits/busy30", busy}, std::pair{"limits/busy30_next_to_others", busy_machine},
        std::pair{"limits/cores1",
                  LimitedShare{{"--limit-cores", "1"}, 100, 1, {"resnet50", "mobilenetv2"}, 0}}}) {
    add("tasks", name, [limit](const std::string& row) { return limited_share(row, limit); });
  }
  add("pipeline", "overhead_ms/k2",
      [](const std::string& name) { return pipeline_overhead(name, "mobilenetv2", "tcp", 0.5); });
  // Each brings loaded_response/… along.
  add("pipeline", "efficiency/k2",
      [](const std::string& name) { return real_pipeline(name, "resnet50", 0.97); });
  for (int stages = 1; stages <= 4; ++stages) {
    const std::string name = fmt::format("efficiency/{}k{}", stages < 4 ? "replay_" : "", stages);
    const auto bar = stages == 4 ? std::optional(0.95) : std::nullopt;
    add("pipeline", name,
        [=](const std::string& row) { return replayed_pipeline(row, "mobilenetv2", stages, bar); });
  }
  add("pipeline", "stage_memory/window8",
      [](const std::string& name) { return stage_memory(name, 1.05); });
  add("pipeline", "metrics_cost/1ms", metrics_cost);
  add("search", "mismatches", search_mismatches);
  struct SearchBar {
    int positions;
    int devices;
    std::chrono::milliseconds most;
    const char* name = "";
    double room = 1;
  };
  using std::chrono::milliseconds;
  for (const SearchBar& bar : {SearchBar{200, 4, milliseconds(5)},
                               {200, 6, milliseconds(100)},
                               {200, 8, milliseconds(1000)},
                               {500, 8, milliseconds(5000)},
                               {500, 8, milliseconds(5000), "room", 1.0 / 3}}) {
    add("search", fmt::format("time/N{}K{}{}", bar.positions, bar.devices, bar.name),
        [=](const std::string& name) {
          return search_time(name, bar.positions, bar.devices, bar.most, bar.room);
        });
  }
  for (const int devices : {3, 4}) {
    add("search", fmt::format("three_ms/N200K{}", devices),
        [=](const std::string& name) { return search_time_of_three(name, 200, devices); });
  }
  for (const int devices : {4, 6}) {
    add("search", fmt::format("media_ms/N200K{}", devices),
        [=](const std::string& name) { return search_time_of_media(name, 200, devices); });
  }
  for (const char* model : {"mobilenetv2", "inceptionv3"}) {
    add("search", fmt::format("ideals/{}K4", model), [=](const std::string& name) {
      return search_time_of_ideals(name, model, 4, milliseconds(1000));
    });
  }
  add("simulate", "fleet/10000", simulated_fleet);
  add("intervals", "intervals", interval_coverage);
  add("report", "report/225x4", report_page);
  add("codec", "codec_auto",
      [](const std::string& name) { return codec_auto(name, "inceptionv3"); });
  if (::geteuid() == 0) {
    add("codec", "codec_auto_wire",
        [](const std::string& name) { return codec_auto_wire(name, "inceptionv3"); });
  }
  for (const auto& transport : transport::builtin_transports()) {
    const std::string wire(transport->name());
    if (transport->reach() == transport::Reach::kProcess) continue;
    add("transport", "latency/" + wire,
        [=](const std::string& name) { return transport_latency(name, wire); });
    add("transport", "goodput/" + wire,
        [=](const std::string& name) { return transport_goodput(name, wire); });
    if (transport->reach() != transport::Reach::kNetwork) continue;
    add("transport", "checksum/" + wire,
        [=](const std::string& name) { return checksum_cost(name, wire); });
    add("transport", "tls/" + wire + "/goodput",
        [=](const std::string& name) { return tls_goodput(name, wire); });
    add("transport", "tls/" + wire + "/latency",
        [=](const std::string& name) { return tls_latency(name, wire); });
  }
  add("transport", "grpc_over_tcp", grpc_over_tcp);
  for (const char* congestion_control : {"bbr", "reno"}) {
    for (const char* transport : {"tcp", "grpc"}) {
      add("warm", fmt::format("warm/{}/{}", congestion_control, transport),
          [=](const std::string& name) { return warm_links(name, transport, congestion_control); });
    }
  }
  for (const char* model :
       {"mobilenetv2", "mobilenetv3_large", "efficientnet_b0", "squeezenet1_0", "googlenet",
        "resnet18", "resnet50", "densenet121", "inceptionv3", "vgg16"}) {
    for (const int batch : {1, 8}) {
      for (const int threads : {1, 2}) {
        add("peers", fmt::format("peers/{}/t{}b{}", model, threads, batch),
            [=](const std::string& name) {
              return onnx_runtime(name, model, threads, batch, 0.95);
            });
        benches.back().on_request = true;
      }
    }
  }
  if (::geteuid() != 0) return benches;
  for (const double milliseconds : {1.0, 10.0, 40.0, 100.0, 400.0}) {
    add("netem", fmt::format("round_trip/{}ms", milliseconds),
        [=](const std::string& name) { return emulated_round_trip(name, milliseconds); });
  }
  for (const int megabits : {1, 10, 100, 500}) {
    add("netem", fmt::format("goodput/{}mbit", megabits), [=](const std::string& name) {
      return emulated_goodput(name, megabits, std::chrono::milliseconds(5), 0.93);
    });
  }
  add("netem", "goodput/1000mbit", [](const std::string& name) {
    return emulated_goodput(name, 1000, std::chrono::microseconds(50), 0.9);
  });
  for (const int percent : {1, 5}) {
    add("netem", fmt::format("loss/{}percent", percent),
        [=](const std::string& name) { return emulated_loss(name, percent / 100.0); });
  }
  for (const plan::JitterShape shape :
       {plan::JitterShape::kNormal, plan::JitterShape::kUniform, plan::JitterShape::kPareto}) {
    add("netem", fmt::format("jitter/{}", to_string(shape)),
        [=](const std::string& name) { return emulated_jitter(name, shape); });
  }
  add("netem", "step", emulated_step);
  add("train", "training_mismatches", [](const std::string& name) {
    return training_mismatches(name, {"resnet18", "mobilenetv2"});
  });
  for (const char* model : {"resnet18", "mobilenetv2"}) {
    add("train", std::string("step_over_unsplit/") + model,
        [model](const std::string& name) { return training_overhead(name, model); });
  }
  add("train", "two_devices_over_one/resnet18",
      [](const std::string& name) { return training_speedup(name, "resnet18"); });
  return benches;
}

}  // namespace pareto::bench
