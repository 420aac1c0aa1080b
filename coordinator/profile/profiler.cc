#include "coordinator/profile/profiler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/network.h"
#include "coordinator/load/foreign_load_meter.h"
#include "coordinator/profile/codec_prober.h"
#include "coordinator/profile/profile_doubt.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/inputs/condition_links.h"

namespace pareto::profile {

planning::SplitChoice spread_by_work(const std::vector<model::SplitPoint>& points,
                                     const planning::SplitChoice& splits, std::size_t count) {
  if (count == 0 || splits.size() <= count) return splits;
  if (count == 1) return {splits[splits.size() / 2]};
  const auto work = [&](std::size_t index) { return points[index].flops_before; };
  const double first = work(splits.front());
  const double last = work(splits.back());
  planning::SplitChoice chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted =
        first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1);
    const auto next = std::ranges::lower_bound(splits, wanted, {}, work);
    const std::size_t index = next == splits.end() ? splits.back() : *next;
    if (chosen.empty() || chosen.back() < index) chosen.push_back(index);
  }
  if (chosen.back() != splits.back()) chosen.push_back(splits.back());
  return chosen;
}

namespace {

/// Returns "" of the first pass, ", pass 2", ", timing again (times differ), pass 3".
std::string pass_text(const ProfileProgress& at) {
  if (at.pass == 1) return "";
  return fmt::format("{}, pass {}", at.again ? ", timing again (times differ)" : "", at.pass);
}

}  // namespace

ProfileRequest Profiler::request() const {
  ProfileRequest request;
  request.model = model_.name();
  request.model_digest = model_.digest().hex();
  request.operators = static_cast<std::int64_t>(model_.graph().operators.size());
  for (const std::size_t index :
       spread_by_work(model_.split_points(), splits_, options_.measured_cuts)) {
    request.cuts.push_back(model_.split_points()[index].position);
  }
  request.settings = options_.settings;
  request.own_settings = options_.own_settings;
  request.seed = options_.seed;
  return request;
}

void Profiler::make_space(planning::CutChoice cuts, std::vector<planning::DeviceFacts> devices) {
  why_in_order_ = cuts.why_in_order;
  plan::Plan blank = cluster::plan_with(options_.settings);
  blank.model = model_.name();
  space_ = planning::make_cut_space(model_, std::move(cuts), splits_, std::move(devices),
                                    std::move(blank));
}

bool Profiler::cut_in_order(std::string why) {
  if (options_.cuts != planning::Cuts::kAuto || !space_->anywhere()) return false;
  make_space({std::nullopt, std::move(why)}, devices());
  return true;
}

Expected<> Profiler::profile(const LinkTransports& transports, cluster::Workload& workload,
                             const Progress& progress) {
  PARETO_ASSIGN(splits_, model::select_split_points(model_, options_.splits));
  PARETO_ASSIGN(planning::CutChoice cuts,
                planning::choose_cuts(model_, options_.settings.batch, options_.cuts));
  const ProfileRequest request = this->request();
  std::vector<std::optional<plan::DeviceProfile>> known(cluster_.size());
  std::vector<planning::DeviceFacts> devices(cluster_.size());
  measured_now_ = false;
  for (std::size_t i = 0; i < cluster_.size(); ++i) {
    if (!options_.fresh) {
      PARETO_ASSIGN(known[i],
                    store_.find_profile(profile_key(cluster_, cluster_.device(i), request)));
    }
    measured_now_ = measured_now_ || !known[i] || !is_enough(*known[i], request);
    if (known[i]) devices[i].profile = *known[i];
    devices[i].memory_limit_bytes = cluster_.device(i).info().memory_limit_bytes;
    devices[i].figures = cluster_.device(i).config().figures;
    devices[i].medium = cluster_.device(i).config().medium;
  }
  if (!measured_now_) {
    make_space(std::move(cuts), std::move(devices));
    return {};
  }
  PARETO_TRY(store_.check_writable());
  PARETO_ASSIGN(const std::vector<planning::ProbedTransport> probed,
                probe(transports, cluster::resting_condition(cluster_.network()), progress));
  PARETO_ASSIGN(std::vector<Value> inputs,
                workload.example(options_.settings.batch, options_.seed));
  cluster::TransportSet own;
  const ProfileBench bench{cluster_,        pool_, own, probed, Value{Tuple{std::move(inputs)}},
                           options_.timeout};
  const std::string names = cluster_.size() == 1 ? cluster_.device(0).config().name
                                                 : fmt::format("{} devices", cluster_.size());
  const std::string now = fmt::format("profiling {}, {}", names,
                                      settings_text(options_.settings, options_.own_settings));
  // What comes before the first cut takes a minute and more over a slow link.
  progress(now, 0, request.cuts.size());
  load::ForeignLoadMeter others(cluster_);
  others.start();
  PARETO_ASSIGN(std::vector<plan::DeviceProfile> profiles,
                profile_devices(bench, request, known, stop_, [&](const ProfileProgress& at) {
                  progress(now + pass_text(at), at.done, at.total);
                }));
  if (!stop_) others.finish();
  const std::vector<std::optional<double>> shares = others.shares();
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    // What was kept of an earlier time goes on in it. Nothing known is less than any share.
    profiles[i].others_share =
        std::max(known[i] ? known[i]->others_share : std::nullopt, shares[i]);
    PARETO_TRY(store_.put_profile(profile_key(profiles[i]), profiles[i]));
    devices[i].profile = std::move(profiles[i]);
  }
  make_space(std::move(cuts), std::move(devices));
  return {};
}

std::vector<std::string> Profiler::doubts() const {
  std::vector<std::string> all;
  for (const planning::DeviceFacts& device : devices()) {
    if (std::string doubt = doubt_text(device.profile); !doubt.empty()) {
      all.push_back(std::move(doubt));
    }
  }
  return all;
}

Expected<std::vector<planning::ProbedTransport>> Profiler::probe(const LinkTransports& transports,
                                                                 const std::string& condition,
                                                                 const Progress& progress) {
  PARETO_TRY(cluster::apply_condition(cluster_.network(), condition));
  const std::pair asked(condition, transports);
  if (const auto known = probed_.find(asked); known != probed_.end()) return known->second;
  PARETO_ASSIGN(auto probed,
                with_context(probe_now(transports, progress), "network {}", condition));
  return probed_[asked] = std::move(probed);
}

Expected<std::vector<planning::ProbedTransport>> Profiler::probe_at_rest(
    const LinkTransports& transports, const plan::Condition& definition, const Progress& progress) {
  PARETO_ASSIGN(auto links,
                probe(transports, cluster::resting_condition(cluster_.network()), progress));
  for (planning::ProbedTransport& transport : links) {
    PARETO_ASSIGN(transport.links, planning::under_condition(transport.links, definition));
  }
  return links;
}

Expected<std::vector<planning::ProbedTransport>> Profiler::probe_now(
    const LinkTransports& transports, const Progress& progress) const {
  std::vector<std::int64_t> batches = options_.probed_batches;
  batches.push_back(options_.settings.batch);
  PARETO_ASSIGN(const auto sizes, sizes_to_probe(model_, splits_, batches));
  const std::vector<std::string> names = names_in(transports);
  std::size_t total = 0;
  for (const std::string& name : names) total += probes_of(transports, name);
  std::size_t done = 0;
  std::string now;
  std::vector<planning::ProbedTransport> probed;
  for (const std::string& name : names) {
    PARETO_ASSIGN(auto links, probe_links(cluster_, transports, name, sizes, stop_,
                                          [&](const std::string& link) {
                                            now = "probing " + link;
                                            progress(now, done++, total);
                                          }));
    probed.push_back({name, std::move(links)});
  }
  if (total > 0) progress(now, done, total);
  return probed;
}

Expected<planning::ProbedCodecs> Profiler::probe_codecs(const std::vector<std::string>& codecs,
                                                        double allowed_error,
                                                        cluster::Workload& workload,
                                                        const Progress& progress) const {
  profile::CodecOptions options;
  options.codecs = codecs;
  options.allowed_error = allowed_error;
  for (const std::size_t index :
       spread_by_work(model_.split_points(), splits_, options_.measured_cuts)) {
    options.positions.push_back(model_.split_points()[index].position);
  }
  options.batch = options_.settings.batch;
  options.seed = options_.seed;
  return profile::probe_codecs(
      cluster_, workload, options, stop_,
      [&](std::size_t done, std::size_t total) { progress("measuring codecs", done, total); });
}

}  // namespace pareto::profile
