#include "tests/e2e/fixture.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/paretod.h"

namespace pareto::test {

Daemon::Daemon(const std::string& name, const std::filesystem::path& folder,
               const std::vector<std::string>& flags, std::vector<std::string> program) {
  // Several daemons share the machine: with all its cores each, they would wait for each other.
  std::vector<std::string> more{"--log-level", "warn", "--threads", "1"};
  more.insert(more.end(), flags.begin(), flags.end());
  const auto arguments = paretod_arguments(name, folder / name, more);
  program.insert(program.end(), arguments.begin() + 1, arguments.end());
  process_ = std::make_unique<Process>(program);
  // The line about itself; a warning may come before it.
  if (!process_->wait_for_output("}\n")) {
    throw std::runtime_error("paretod did not start: " + process_->errors());
  }
  const auto ready = nlohmann::json::parse(process_->output());
  address_ = ready.at("control").get<std::string>();
  metrics_ = ready.value("metrics", "");
}

EndToEnd::EndToEnd() {
  std::string pattern = (std::filesystem::temp_directory_path() / "pareto-e2e.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  // What is kept of runs and models stays in this test's folder.
  ::setenv("XDG_DATA_HOME", path("data").c_str(), 1);
  // The credentials of the user who runs it are not used.
  ::setenv("XDG_CONFIG_HOME", path("config").c_str(), 1);
}

EndToEnd::~EndToEnd() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Finished EndToEnd::paretoctl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "paretoctl");
  return run(std::move(arguments));
}

std::vector<std::string> small_model() {
  return {"--model", "squeezenet1_0", "--input-shape", "3x64x64", "--num-classes", "10"};
}

Finished EndToEnd::run_model(const std::vector<std::string>& more,
                             const std::string& output) const {
  std::vector<std::string> arguments{"run",           "--json",    "--requests",    "3",
                                     "--num-classes", "10",        "--input-shape", "3x64x64",
                                     "--output",      path(output)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return paretoctl(arguments);
}

std::vector<std::string> EndToEnd::small_sweep(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"sweep",      "--store", path("results.db"), "--rounds", "2",
                                     "--requests", "4"};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string EndToEnd::inventory(
    const std::vector<std::pair<std::string, std::string>>& devices) const {
  std::ofstream file(path("inventory.yaml"));
  file << "devices:\n";
  for (const auto& [name, address] : devices) {
    file << "  - name: " << name << "\n    address: " << address << "\n";
  }
  return path("inventory.yaml");
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, float first) {
  std::string dims;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    dims += std::to_string(size) + ",";
    elements *= size;
  }
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + dims + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() % 256)
       << static_cast<char>(header.size() / 256) << header;
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = first + static_cast<float>(i) * 1e-4F;
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

}  // namespace pareto::test
