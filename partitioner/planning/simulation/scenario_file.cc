#include "partitioner/planning/simulation/scenario_file.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/config_reader.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/plan/builtin_conditions.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::simulation {
namespace {

/// A cgroup's, unless it is told otherwise.
constexpr Nanoseconds kSharePeriod = std::chrono::milliseconds(100);
constexpr std::uint64_t kMostTraceBytes = 256 << 20;

/// Reads one file. Problems are noted in it; what the store says of a run ends the reading.
class ScenarioReader {
 public:
  ScenarioReader(const std::optional<std::filesystem::path>& folder, MeasuredPipelines& measured)
      : folder_(folder), measured_(measured) {}

  Expected<Scenario> read(ConfigReader& file) {
    ConfigSection root = file.root();
    read_whole(root);
    for (ConfigSection& section : root.sections("devices")) read_device(section);
    for (ConfigSection& section : root.sections("media")) read_medium(section);
    for (ConfigSection& section : root.sections("pipelines")) {
      PARETO_TRY(read_pipeline(section));
    }
    PARETO_TRY(file.finish());
    PARETO_TRY(with_context(check(scenario_), "{}", root.where()));
    return std::move(scenario_);
  }

 private:
  void read_whole(ConfigSection& root) {
    int seed = 1;
    int requests = 0;
    root.optional("seed", seed);
    root.optional("requests", requests);
    root.optional_duration("duration", scenario_.duration);
    scenario_.seed = static_cast<std::uint64_t>(seed);
    scenario_.requests = requests;
    if (requests < 0) root.problem("requests", "is below 0");
    if (root.has("warm_up")) root.optional_duration("warm_up", scenario_.warm_up.emplace());
    if (!root.has("duration") && !root.has("requests")) {
      root.problem("duration", "is needed, or requests: when the simulation ends");
    }
  }

  static void read_count(ConfigSection& section, int& count) {
    section.optional("count", count);
    if (count < 1 || count > kMostInstances) {
      section.problem("count", fmt::format("is not 1 to {}", kMostInstances));
    }
  }

  static void read_name(ConfigSection& section, std::string& name,
                        std::map<std::string, int>& names) {
    section.required("name", name);
    if (!names.emplace(name, static_cast<int>(names.size())).second) {
      section.problem("name", fmt::format("\"{}\" stands twice", name));
    }
  }

  void read_device(ConfigSection& section) {
    DeviceClass& device = scenario_.devices.emplace_back();
    read_name(section, device.name, devices_);
    read_count(section, device.count);
    section.optional("cores", device.cores);
    section.optional("speed", device.speed);
    double share = 0;
    section.optional_share("share", share);
    if (!section.has("share")) return;
    device.period = kSharePeriod;
    section.optional_duration("share_period", device.period);
    device.quota = from_nanoseconds(share * to_nanoseconds(device.period));
    if (device.quota.count() == 0) section.problem("share", "leaves it no time at all");
  }

  void read_medium(ConfigSection& section) {
    MediumClass& medium = scenario_.media.emplace_back();
    read_name(section, medium.name, media_);
    read_count(section, medium.count);
    // What takes its turn on one medium has one rate: forward's.
    if (const auto condition = read_network(section)) medium.condition = condition->forward;
    section.optional("stagger", medium.stagger);
  }

  /// `network`: a name or a file, or `condition`: a mapping.
  std::optional<plan::Condition> read_network(ConfigSection& section) {
    std::string file;
    section.optional("network", file);
    if (auto own = section.section("condition")) {
      if (!file.empty()) section.problem("condition", "stands next to network: leave one out");
      return plan::read_condition(*own, folder_);
    }
    if (file.empty() || file == "none") return std::nullopt;
    if (!folder_ && !plan::is_builtin_condition(file)) {
      section.problem("network", "names a file, and there are none here");
      return std::nullopt;
    }
    auto condition = plan::open_condition(file, folder_.value_or(""));
    if (!condition) {
      section.problem("network", condition.error().message);
      return std::nullopt;
    }
    return *condition;
  }

  /// Finds what a name refers to; 0 with a problem if it refers to nothing.
  static int find(ConfigSection& section, const char* key, const std::string& name,
                  const std::map<std::string, int>& known) {
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [one, index] : known) names.push_back(one);
    section.problem(key, fmt::format("there is no \"{}\"{}", name, did_you_mean(name, names)));
    return 0;
  }

  /// `medium`: the name of one, or `media`: several.
  void read_passes(ConfigSection& section, Crossing& link) {
    link.media.clear();
    std::string name;
    section.optional("medium", name);
    if (!name.empty()) link.media.push_back({find(section, "medium", name, media_)});
    if (!name.empty() && section.has("media")) {
      section.problem("media", "stands next to medium: leave one out");
    }
    std::vector<ConfigSection> media = section.sections("media");
    if (section.has("media") && (media.empty() || media.size() > 2)) {
      section.problem("media",
                      fmt::format("{} of them: a message passes one or two", media.size()));
    }
    std::set<std::string> names;
    for (ConfigSection& one : media) {
      MediumPass pass;
      one.required("name", name);
      if (one.has("name")) {
        pass.medium = find(one, "name", name, media_);
        if (!names.insert(name).second) {
          one.problem("name", fmt::format("\"{}\" stands twice", name));
        }
      }
      one.optional_share("share", pass.share);
      if (pass.share == 0) one.problem("share", "has to be above 0");
      link.media.push_back(pass);
    }
  }

  /// `backward`: which half of a condition holds unless the file says.
  void read_link(ConfigSection& section, Crossing& link, bool backward) {
    std::uint64_t bytes = 0;
    std::uint64_t buffer = kConnectionBytes;
    std::string direction = backward ? "backward" : "forward";
    section.optional_bytes("bytes", bytes);
    section.optional_bytes("buffer", buffer);
    section.optional("direction", direction);
    section.optional("stagger", link.stagger);
    const auto condition = read_network(section);
    if (direction != "forward" && direction != "backward") {
      section.problem("direction", "is forward or backward");
    }
    if (section.has("bytes")) link.bytes = bytes_with_packet_headers(bytes + kFrameBytes);
    link.places = connection_places(link.bytes, buffer);
    read_passes(section, link);
    if (!link.media.empty()) {
      if (condition) {
        section.problem(section.has("condition") ? "condition" : "network",
                        "belongs to a link of its own: a medium has one already");
      }
      if (section.has("direction")) {
        section.problem("direction",
                        "belongs to a condition of its own: a medium's is the same both ways");
      }
      if (section.has("stagger")) section.problem("stagger", "belongs to the medium");
    } else if (condition) {
      link.condition = direction == "backward" ? condition->backward : condition->forward;
    }
    // What was measured of a trial was another network.
    link.occupancy = {};
    link.delay = {};
    section.optional_duration("occupancy", link.occupancy.mean);
    section.optional_duration("delay", link.delay.mean);
    section.optional_duration("early", link.early);
  }

  static void read_shape(ConfigSection& section, Duration& duration) {
    std::string name;
    section.optional_percentage("cv", duration.cv);
    section.optional("distribution", name);
    if (name.empty()) return;
    std::vector<std::string> names;
    for (const Shape shape : {Shape::kLognormal, Shape::kNormal, Shape::kExponential}) {
      if (name == to_string(shape)) {
        duration.shape = shape;
        if (shape == Shape::kExponential && section.has("cv") && duration.cv != 1) {
          section.problem("cv", "is 100% of an exponential distribution: leave it out");
        }
        return;
      }
      names.emplace_back(to_string(shape));
    }
    section.problem("distribution",
                    fmt::format("is one of {}{}", join(names), did_you_mean(name, names)));
  }

  void read_stage(ConfigSection& section, Stage& stage, bool measured) {
    std::string device;
    section.required("device", device);
    if (!device.empty()) stage.device = find(section, "device", device, devices_);
    section.optional("queue", stage.queue);
    if (auto link = section.section("link")) read_link(*link, stage.link, false);
    if (measured) return;  // its times are those of the trial: keys of them are unknown
    section.optional_duration("receive", stage.receive.mean);
    section.optional_duration("compute", stage.compute.mean);
    section.optional_duration("send", stage.send.mean);
    read_shape(section, stage.compute);
    if (section.has("busy")) {
      stage.busy = stage.compute;
      section.optional_duration("busy", stage.busy->mean);
    }
    if (stage.compute.mean.count() <= 0) section.problem("compute", "is needed, above 0");
  }

  void read_arrivals(ConfigSection& section, PipelineClass& pipeline) {
    auto own = section.section("arrivals");
    if (!own) return;
    Arrivals& arrivals = pipeline.arrivals;
    std::string rate;
    std::string file;
    own->optional("poisson", rate);
    own->optional("trace", file);
    own->optional_duration("every", arrivals.period);
    if (own->has("poisson") + own->has("trace") + own->has("every") != 1) {
      return section.problem("arrivals", "is one of poisson, every and trace");
    }
    if (own->has("every")) {
      arrivals.kind = ArrivalKind::kPeriodic;
      if (arrivals.period.count() < 1) own->problem("every", "has to take time");
    } else if (!rate.empty()) {
      arrivals.kind = ArrivalKind::kPoisson;
      const auto parsed = parse_request_rate(rate);
      if (!parsed) return own->problem("poisson", parsed.error().message);
      arrivals.rate_per_s = *parsed;
    } else {
      arrivals.kind = ArrivalKind::kTrace;
      read_arrival_trace(*own, file, arrivals);
    }
  }

  void read_arrival_trace(ConfigSection& section, const std::string& file, Arrivals& arrivals) {
    if (!folder_) return section.problem("trace", "names a file, and there are none here");
    const std::filesystem::path path = *folder_ / file;
    const auto text = read_file(path, kMostTraceBytes);
    if (!text) return section.problem("trace", text.error().message);
    auto gaps = parse_arrival_trace(*text, path.string());
    if (!gaps) return section.problem("trace", gaps.error().message);
    arrivals.gaps = *std::move(gaps);
  }

  Expected<> read_pipeline(ConfigSection& section) {
    std::string run;
    std::string trial;
    section.optional("run", run);
    section.optional("trial", trial);
    PipelineClass pipeline;
    const bool measured = !run.empty() || !trial.empty();
    if (measured && (run.empty() || trial.empty())) {
      section.problem(run.empty() ? "trial" : "run", "run and trial belong together");
    } else if (measured) {
      PARETO_ASSIGN(pipeline, with_context(measured_.find(run, trial), "{}: run {}, trial {}",
                                           section.where("run"), run, trial));
    }
    read_name(section, pipeline.name, pipelines_);
    read_count(section, pipeline.count);
    section.optional("window", pipeline.window);
    read_arrivals(section, pipeline);
    if (!section.has("arrivals") && pipeline.window < 1) {
      section.problem("window", "of at least 1 is needed where there are no arrivals");
    }
    if (!measured) {
      int batch = 1;
      section.optional("batch", batch);
      pipeline.batch = batch;
      section.optional_duration("source", pipeline.source.mean);
      section.optional_duration("sink", pipeline.sink.mean);
    }
    read_stages(section, pipeline, measured);
    if (auto result = section.section("result")) read_link(*result, pipeline.result, true);
    scenario_.pipelines.push_back(std::move(pipeline));
    return {};
  }

  void read_stages(ConfigSection& section, PipelineClass& pipeline, bool measured) {
    std::vector<ConfigSection> stages = section.sections("stages");
    if (!measured) {
      pipeline.stages.resize(stages.size());
    } else if (!pipeline.stages.empty() && stages.size() != pipeline.stages.size()) {
      section.problem("stages", fmt::format("{} of them, and the trial has {}", stages.size(),
                                            pipeline.stages.size()));
    }
    if (stages.empty()) section.problem("stages", "is needed: a list of at least one");
    for (std::size_t i = 0; i < std::min(stages.size(), pipeline.stages.size()); ++i) {
      read_stage(stages[i], pipeline.stages[i], measured);
    }
  }

  const std::optional<std::filesystem::path>& folder_;
  MeasuredPipelines& measured_;
  Scenario scenario_;
  std::map<std::string, int> devices_;
  std::map<std::string, int> media_;
  std::map<std::string, int> pipelines_;
};

Expected<Scenario> read(Expected<ConfigReader> file,
                        const std::optional<std::filesystem::path>& folder,
                        MeasuredPipelines& measured) {
  PARETO_TRY(file);
  return ScenarioReader(folder, measured).read(*file);
}

}  // namespace

Expected<Scenario> read_scenario(const std::filesystem::path& path, MeasuredPipelines& measured) {
  return read(ConfigReader::from_file(path), path.parent_path(), measured);
}

Expected<Scenario> parse_scenario(const std::string& text, const std::string& name,
                                  const std::optional<std::filesystem::path>& folder,
                                  MeasuredPipelines& measured) {
  return read(ConfigReader::from_text(text, name), folder, measured);
}

}  // namespace pareto::simulation
