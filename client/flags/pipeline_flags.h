// The flags for how requests travel: --transport, --codec, --micro-batch, --window, --no-checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client {

/// The flags for how requests travel through a pipeline. A command says whether it takes one of
/// each or a list.
struct PipelineFlags {
  std::string transport = "auto";  ///< transports for run, sweep and plan alike
  std::string codec = "none";
  double codec_error = 0;
  std::string micro_batch = "none";
  std::string window = "auto";
  bool no_checksum = false;

  void add_to(CLI::App& app);
};

/// Adds --no-checksum.
void add_no_checksum(CLI::App& app, bool& no_checksum);

/// Parses "none,2" -> {0, 2}. Fails with kInvalidArgument naming the flag.
Expected<std::vector<std::int64_t>> parse_micro_batches(const std::string& text);
/// Parses "none,fp16", "auto", each known and once. Fails: kNotFound with the nearest.
Expected<std::vector<std::string>> parse_codecs(const std::string& text);
/// Checks that an error of codecs is at least 0. Fails: kInvalidArgument.
Expected<> check_codec_error(double error);
/// Parses "tcp,grpc", "auto", "shm+tcp+grpc", each known and once. Fails: as parse_transport_mix.
Expected<std::vector<std::string>> parse_transports(const std::string& text);
/// Parses "auto" -> 0. Fails: kInvalidArgument.
Expected<int> parse_window(const std::string& text);

}  // namespace pareto::client
