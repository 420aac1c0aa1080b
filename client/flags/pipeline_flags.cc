#include "client/flags/pipeline_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/flags/known_names.h"
#include "client/flags/number_flags.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/wire/codec.h"

namespace pareto::client {
namespace {

std::string codec_help() {
  std::vector<std::string> names{"none"};
  for (const wire::Codec* codec : wire::builtin_codecs()) names.emplace_back(codec->name());
  return "codec of the tensors between stages: " + join(names) +
         "; auto: the fastest, by measured times of encoding, link and decoding";
}

std::string codec_error_help() {
  return "loss that auto accepts: mean difference of a tensor, as a share of its largest magnitude";
}

}  // namespace

void PipelineFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Pipeline");
  set_value(app.add_option("--transport", transport,
                           "transport of the links: tcp, grpc or shm; auto: for each link shm, if "
                           "its two ends share a machine and a user, and tcp otherwise; "
                           "shm+tcp+grpc: that of the source's link, of those between stages, and "
                           "of the sink's"),
            "LIST", transport_names())
      ->capture_default_str();
  set_value(app.add_option("--codec", codec, codec_help()), "LIST", codec_names({"none", "auto"}))
      ->capture_default_str();
  set_value(app.add_option("--codec-error", codec_error, codec_error_help()), "SHARE")
      ->capture_default_str();
  set_value(app.add_option("--micro-batch", micro_batch,
                           "number of a batch's samples that travel together, so that stages "
                           "overlap within one request; none sends the whole batch"),
            "LIST", {"none"})
      ->capture_default_str();
  set_value(app.add_option("--window", window,
                           "number of requests in flight when throughput is measured; auto: the "
                           "fewest within 1 % of the best"),
            "N|auto", {"auto"})
      ->capture_default_str();
  add_no_checksum(app, no_checksum);
}

void add_no_checksum(CLI::App& app, bool& no_checksum) {
  app.add_flag("--no-checksum", no_checksum,
               "send tensors without a checksum over tcp and grpc: a byte that changes on its way "
               "is not noticed then");
}

Expected<std::vector<std::int64_t>> parse_micro_batches(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(const auto size, part == "none"
                                       ? Expected<std::int64_t>(0)
                                       : parse_number<std::int64_t>(part, "--micro-batch"));
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  if (sizes.empty()) return fail(ErrorCode::kInvalidArgument, "--micro-batch names no size");
  return sizes;
}

Expected<> check_codec_error(double error) {
  if (error >= 0) return {};
  return fail(ErrorCode::kInvalidArgument, "--codec-error {}: at least 0 is needed", error);
}

Expected<std::vector<std::string>> parse_codecs(const std::string& text) {
  std::vector<std::string> chosen;
  for (const std::string& name : split_list(text)) {
    PARETO_TRY(with_context(cluster::check_codec_name(name), "--codec {}", name));
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--codec names none");
  return chosen;
}

Expected<std::vector<std::string>> parse_transports(const std::string& text) {
  std::vector<std::string> chosen;
  for (const std::string& mix : split_list(text)) {
    PARETO_TRY(with_context(cluster::parse_transport_mix(mix), "--transport {}", mix));
    if (std::find(chosen.begin(), chosen.end(), mix) == chosen.end()) chosen.push_back(mix);
  }
  if (chosen.empty()) return fail(ErrorCode::kInvalidArgument, "--transport names none");
  return chosen;
}

Expected<int> parse_window(const std::string& text) {
  if (text == "auto") return 0;
  return parse_number<int>(text, "--window");
}

}  // namespace pareto::client
