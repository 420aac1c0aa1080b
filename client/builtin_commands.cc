#include "client/commands/commands.h"
#include "client/program.h"

namespace pareto::client {

Commands builtin_commands() {
  Commands commands;
  commands.push_back(commands::make_sweep_command());
  commands.push_back(commands::make_splits_command());
  commands.push_back(commands::make_graph_command());
  commands.push_back(commands::make_profile_command());
  commands.push_back(commands::make_plan_command());
  commands.push_back(commands::make_run_command());
  commands.push_back(commands::make_schedule_command());
  commands.push_back(commands::make_bench_modes_command());
  commands.push_back(commands::make_tasks_command());
  commands.push_back(commands::make_train_command());
  commands.push_back(commands::make_deploy_command());
  commands.push_back(commands::make_resplit_command());
  commands.push_back(commands::make_history_command());
  commands.push_back(commands::make_verify_command());
  commands.push_back(commands::make_evaluate_command());
  commands.push_back(commands::make_front_command());
  commands.push_back(commands::make_report_command());
  commands.push_back(commands::make_export_command());
  commands.push_back(commands::make_diff_command());
  commands.push_back(commands::make_simulate_command());
  commands.push_back(commands::make_runs_command());
  commands.push_back(commands::make_models_command());
  commands.push_back(commands::make_devices_command());
  commands.push_back(commands::make_discover_command());
  commands.push_back(commands::make_pki_command());
  commands.push_back(commands::make_netem_command());
  commands.push_back(commands::make_testbed_command());
  commands.push_back(commands::make_top_command());
  commands.push_back(commands::make_doctor_command());
  return commands;
}

int run_program(const std::vector<std::string>& arguments, Context& context) {
  return run_program(arguments, builtin_commands(), context);
}

}  // namespace pareto::client
