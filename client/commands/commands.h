// The factories that builtin_commands.cc lists.
#pragma once

#include <memory>

#include "client/command.h"

namespace pareto::client::commands {

std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_splits_command();
std::unique_ptr<Command> make_graph_command();
std::unique_ptr<Command> make_profile_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_schedule_command();
std::unique_ptr<Command> make_bench_modes_command();
std::unique_ptr<Command> make_tasks_command();
std::unique_ptr<Command> make_train_command();
std::unique_ptr<Command> make_deploy_command();
std::unique_ptr<Command> make_resplit_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_evaluate_command();
std::unique_ptr<Command> make_verify_command();
std::unique_ptr<Command> make_front_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_runs_command();
std::unique_ptr<Command> make_models_command();
std::unique_ptr<Command> make_devices_command();
std::unique_ptr<Command> make_discover_command();
std::unique_ptr<Command> make_pki_command();
std::unique_ptr<Command> make_netem_command();
std::unique_ptr<Command> make_testbed_command();
std::unique_ptr<Command> make_top_command();
std::unique_ptr<Command> make_doctor_command();

}  // namespace pareto::client::commands
