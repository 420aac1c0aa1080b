// Trainings with the real coordinator and real daemons, on samples that a test makes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/e2e/fixture.h"

namespace pareto::test {

inline constexpr int kSamples = 32;
inline constexpr int kClasses = 4;

/// Writes a .npy file of those bytes. `shape`: as Python writes it, "(16,)".
inline void write_array(const std::string& path, const char* type, const std::string& shape,
                        const void* data, std::size_t bytes) {
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() % 256)
       << static_cast<char>(header.size() / 256) << header;
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

inline void write_labels(const std::string& path, const std::vector<std::int64_t>& labels) {
  write_array(path, "<i8", "(" + std::to_string(labels.size()) + ",)", labels.data(),
              labels.size() * sizeof(std::int64_t));
}

/// Writes pictures of noise.
inline void write_pictures(const std::string& path) {
  std::mt19937 random(5);
  std::vector<float> numbers(static_cast<std::size_t>(kSamples) * 3 * 32 * 32);
  for (float& number : numbers) number = static_cast<float>(random() % 2001) / 1000 - 1;
  write_array(path, "<f4", "(" + std::to_string(kSamples) + ", 3, 32, 32)", numbers.data(),
              numbers.size() * sizeof(float));
}

/// Each test has a folder of noise with labels.
class Train : public EndToEnd {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder() / "samples");
    write_pictures(path("samples/inputs.npy"));
    std::vector<std::int64_t> labels;
    for (int i = 0; i < kSamples; ++i) labels.push_back(i % kClasses);
    write_labels(path("samples/labels.npy"), labels);
  }

  /// Returns the arguments of a training of two epochs with four steps each, and `more`. Flags of
  /// `more` replace those.
  std::vector<std::string> with(const std::vector<std::string>& more) const {
    std::vector<std::pair<std::string, std::string>> flags{
        {"--model", "mobilenetv2"}, {"--input-shape", "3x32x32"},
        {"--num-classes", "4"},     {"--data", "npy:" + path("samples")},
        {"--batch", "8"},           {"--micro-batches", "2"},
        {"--epochs", "2"},          {"--learning-rate", "0.002"},
        {"--momentum", "0.9"},      {"--rate-schedule", "cosine"},
        {"--threads", "1"}};
    std::vector<std::string> arguments{"train"};
    for (const auto& [flag, value] : flags) {
      if (std::ranges::find(more, flag) != more.end()) continue;
      arguments.push_back(flag);
      arguments.push_back(value);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Finished train(const std::vector<std::string>& more) const { return paretoctl(with(more)); }

  /// Trains without a stop, uncut, and returns the bytes of the state_dict.
  std::string uncut() const {
    const auto done = train({"--output", path("uncut.pth")});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    std::string bytes = slurp(path("uncut.pth"));
    EXPECT_FALSE(bytes.empty());
    return bytes;
  }

  /// Waits until a checkpoint of that many steps is there.
  bool wait_for_step(const std::string& folder, int step) const {
    const std::string name = "step-" + std::string(11, '0') + std::to_string(step);
    for (int i = 0; i < 6000; ++i) {
      if (std::filesystem::exists(path(folder) + "/" + name + "/manifest.json")) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

}  // namespace pareto::test
