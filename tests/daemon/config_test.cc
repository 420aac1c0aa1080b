// Settings: one table, three sources, and the sample that is their manual.
#include "daemon/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() : folder_(TemporaryFolder::create("config").value()) {}

  static Expected<CommandLine> parse(std::vector<const char*> flags) {
    flags.insert(flags.begin(), "paretod");
    return parse_command_line(static_cast<int>(flags.size()), flags.data());
  }
  std::string file(const std::string& text) const {
    const auto path = folder_.path() / "paretod.yaml";
    std::ofstream(path) << text;
    return path.string();
  }
  Expected<DaemonConfig> load(const std::string& text,
                              const std::vector<std::string>& environment = {},
                              std::vector<const char*> flags = {}) const {
    PARETO_ASSIGN(CommandLine line, parse(std::move(flags)));
    line.config_file = file(text);
    return load_config(line, environment);
  }
  static std::string problem(const Expected<DaemonConfig>& config) {
    EXPECT_FALSE(config);
    if (config) return "";
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    return config.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(ConfigTest, TheSampleIsTheDefaults) {
  CommandLine line;
  line.config_file = PARETO_SOURCE_DIR "/configs/paretod.yaml";
  const auto sample = load_config(line, {});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto text = read_file(*line.config_file).value();
  for (const Setting& setting : settings()) {
    EXPECT_EQ(setting.get(*sample), setting.get(DaemonConfig())) << setting.key;
    const bool limit = setting.key.starts_with("limit_");
    const std::string key = limit ? "  " + setting.key.substr(6) : setting.key;
    EXPECT_THAT(text, HasSubstr("\n" + key + ":")) << "the sample lacks a key";
  }
}

TEST_F(ConfigTest, WhatASettingWritesItReads) {
  for (const Setting& setting : settings()) {
    DaemonConfig config;
    const std::string text = setting.get(config);
    const auto set = setting.set(config, text);
    EXPECT_TRUE(set) << setting.key << ": " << set.error().message;
    EXPECT_EQ(setting.get(config), text);
  }
}

TEST_F(ConfigTest, FlagsOverVariablesOverFileOverDefaults) {
  const auto config = load("name: file\nthreads: 2\nstore_limit: 1GiB\nstate_dir: /file\n",
                           {"PARETOD_NAME=variable", "PARETOD_THREADS=3", "HOME=/root", "PARETO=1"},
                           {"--name", "flag"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->name, "flag");
  EXPECT_EQ(config->threads, 3);
  EXPECT_EQ(config->store_limit_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(config->state_dir, "/file");
  EXPECT_EQ(config->listen, "auto");
}

TEST_F(ConfigTest, TheFileMayBeNamedByAVariable) {
  const auto config = load_config({}, {"PARETOD_CONFIG=" + file("name: x\n")});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->name, "x");
  const auto absent = load_config({}, {"PARETOD_CONFIG=/nowhere.yaml"});
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
}

TEST_F(ConfigTest, DataAddressesReplaceTheDefaults) {
  const std::vector<DataAddress> two{{"grpc", "1.2.3.4:5"}, {"tcp", "127.0.0.1:0"}};
  EXPECT_EQ(load("data:\n  grpc: 1.2.3.4:5\n  tcp: 127.0.0.1:0\n")->data, two);
  EXPECT_EQ(load("", {"PARETOD_DATA=grpc=1.2.3.4:5,tcp=127.0.0.1:0"})->data, two);
  EXPECT_EQ(load("", {}, {"--data", "grpc=1.2.3.4:5", "--data", "tcp=127.0.0.1:0"})->data, two);
  EXPECT_EQ(load("", {}, {"--data", "tcp=127.0.0.1:0"})->data.size(), 1U);
  EXPECT_EQ(load("", {}, {"--data=tcp=[::1]:7071"})->data.at(0).address, "[::1]:7071");
}

TEST_F(ConfigTest, FlagsOfWhatIsOffMayStandAlone) {
  EXPECT_FALSE(load("")->insecure);
  EXPECT_TRUE(load("", {}, {"--insecure"})->insecure);
  EXPECT_TRUE(load("", {}, {"--insecure", "true"})->insecure);
  EXPECT_FALSE(load("insecure: true\n", {}, {"--insecure=false"})->insecure);
  EXPECT_TRUE(load("", {"PARETOD_INSECURE=true"})->insecure);
  EXPECT_THAT(problem(load("", {}, {"--insecure=perhaps"})), HasSubstr("neither true nor false"));
  EXPECT_THAT(problem(load("socket: here\n")), HasSubstr("\"here\" is neither /FILE"));
}

TEST_F(ConfigTest, CoresAreAList) {
  EXPECT_THAT(load("cpu: 0-2,5,1\n")->cpu, ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(load("", {}, {"--cpu", "1"})->cpu, ElementsAre(1));
  EXPECT_THAT(problem(load("cpu: 3-1\n")), HasSubstr("\"1\" is not a whole number from 3"));
}

TEST_F(ConfigTest, MistakesNameFileLineAndTheNearestKey) {
  EXPECT_THAT(problem(load("name: a\n\nstore_limt: 1GiB\n")),
              HasSubstr("paretod.yaml:3: unknown key \"store_limt\" (did you mean store_limit"));
  EXPECT_THAT(problem(load("listen: 7070\n")), HasSubstr("paretod.yaml:1: \"listen\""));
  EXPECT_THAT(problem(load("listen: a:b\n")), HasSubstr("paretod.yaml:1"));
  EXPECT_THAT(
      problem(load("name: a\nthreads: 0\n")),
      HasSubstr(
          "paretod.yaml:2: \"threads\": \"0\" is neither auto nor a whole number from 1 to 256"));
  EXPECT_EQ(load("threads: 2\n", {"PARETOD_THREADS=auto"}).value().threads, 0);
  EXPECT_THAT(problem(load("store_limit: large\n")), HasSubstr("large"));
  EXPECT_THAT(problem(load("log_level: infos\n")), HasSubstr("did you mean info"));
  EXPECT_THAT(problem(load("max_frame: 2GiB\n")), HasSubstr("1GiB"));
  EXPECT_THAT(problem(load("data:\n  tpc: 0.0.0.0:1\n")),
              HasSubstr("paretod.yaml:2: \"data\": unknown transport \"tpc\""));
  EXPECT_THAT(problem(load("data:\n  inproc: x:1\n")), HasSubstr("inproc"));
  EXPECT_THAT(problem(load("data: {}\n")), HasSubstr("at least one"));
  EXPECT_THAT(problem(load("name: a\ndevice: tpu\n")),
              HasSubstr("paretod.yaml:2: \"device\": unknown device \"tpu\"; use cpu or cuda:N"));
  // There is no such GPU, whatever LibTorch was built with.
  EXPECT_THAT(problem(load("device: cuda:99\n")), HasSubstr("cuda:99"));
  EXPECT_THAT(problem(load("metrics: 7073\n")), HasSubstr("paretod.yaml:1: \"metrics\""));
  EXPECT_THAT(problem(load("metrics_key: /k.pem\n")),
              HasSubstr("key /k.pem is named alone: TLS takes both, a certificate and its key"));
  EXPECT_THAT(problem(load("metrics_certificate: /c.pem\nmetrics_key: /k.pem\n")),
              HasSubstr("say where metrics are answered too"));
  EXPECT_THAT(problem(load("discovery: bonjour\n")),
              HasSubstr("paretod.yaml:1: \"discovery\": \"bonjour\" is neither mdns nor off"));
  EXPECT_THAT(problem(load("name: [\n")), HasSubstr("paretod.yaml:"));
}

TEST_F(ConfigTest, LimitsHaveASectionOfTheirOwn) {
  const auto config = load("limits: {cores: 1, busy: 30%, memory: 2GiB}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->limit_cores, 1);
  EXPECT_DOUBLE_EQ(config->limit_busy, 0.3);
  EXPECT_EQ(config->memory_limit_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(load("limits: {busy: 30%}\n", {}, {"--limit-busy", "12.5%"})->limit_busy, 0.125);
  EXPECT_EQ(load("", {"PARETOD_LIMIT_CORES=3"})->limit_cores, 3);
  EXPECT_THAT(problem(load("limits: {busy: 0%}\n")), HasSubstr("between 1% and 100%"));
  EXPECT_THAT(problem(load("limits:\n  busy: 130%\n")),
              HasSubstr("paretod.yaml:2: \"limits.busy\""));
  EXPECT_THAT(problem(load("limits: {cores: -1}\n")), HasSubstr("\"limits.cores\""));
  EXPECT_THAT(problem(load("limits: {core: 1}\n")), HasSubstr("did you mean cores"));
  EXPECT_THAT(problem(load("limit_cores: 1\n")), HasSubstr("unknown key \"limit_cores\""));
  EXPECT_THAT(problem(load("memory_limit: 1GiB\nlimits: {memory: 2GiB}\n")),
              HasSubstr("leave one out"));
}

TEST_F(ConfigTest, TurnsAreOfAKnownPolicy) {
  EXPECT_EQ(load("turns: deadline\n")->turns, "deadline");
  EXPECT_THAT(problem(load("turns: fifi\n")), HasSubstr("did you mean fifo"));
}

TEST_F(ConfigTest, WhatMetricsAreServedWithMayComeFromEverywhere) {
  const auto config = load("metrics: 127.0.0.1:0\nmetrics_certificate: /c.pem\n",
                           {"PARETOD_METRICS_KEY=/k.pem"}, {"--metrics-client-ca", "/ca.pem"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->metrics_tls.certificate, "/c.pem");
  EXPECT_EQ(config->metrics_tls.key, "/k.pem");
  EXPECT_EQ(config->metrics_tls.client_ca, "/ca.pem");
}

TEST_F(ConfigTest, EveryMistakeIsSaidAtOnce) {
  const std::string all = problem(load("threads: no\nlistne: x\n"));
  EXPECT_THAT(all, HasSubstr("threads"));
  EXPECT_THAT(all, HasSubstr("listne"));
}

TEST_F(ConfigTest, MistakesInVariablesAndFlags) {
  EXPECT_THAT(problem(load("", {"PARETOD_TREADS=1"})),
              HasSubstr("PARETOD_TREADS (did you mean PARETOD_THREADS"));
  EXPECT_THAT(problem(load("", {"PARETOD_THREADS=many"})), HasSubstr("PARETOD_THREADS: "));
  EXPECT_THAT(problem(load("", {}, {"--threads", "many"})), HasSubstr("--threads: "));
  EXPECT_THAT(problem(load("", {}, {"--data", "tcp=x:1", "--data", "tcp=y:1"})),
              HasSubstr("tcp stands twice"));
  const auto unknown = parse({"--treads", "1"});
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unknown.error().message, HasSubstr("--threads"));
  EXPECT_EQ(parse({"--ready-fd", "x"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse({"--threads"}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ConfigTest, TheManualAndTheCompletionsHaveEverySetting) {
  const std::string manual = parse({"--manual"})->print.value();
  EXPECT_THAT(manual, HasSubstr(".TH PARETOD 8 "));
  const std::string zsh = parse({"--completion", "zsh"})->print.value();
  for (const Setting& setting : settings()) {
    EXPECT_THAT(manual, HasSubstr(setting.help.substr(0, setting.help.find_first_of("-'"))));
    EXPECT_THAT(zsh, HasSubstr(flag_of(setting) + "=["));
  }
}

TEST_F(ConfigTest, HelpSaysWhatTheDefaultsAre) {
  constexpr std::string_view kDefault = "(default: ";
  int values = 0;
  for (const Setting& setting : settings()) {
    const std::size_t begin = setting.help.find(kDefault);
    if (begin == std::string::npos) continue;
    ASSERT_TRUE(setting.help.ends_with(')')) << setting.key;
    std::string value = setting.help.substr(begin + kDefault.size());
    value.pop_back();
    // Said in words: "the host's name".
    if (value.find(' ') != std::string::npos) continue;
    DaemonConfig config;
    ASSERT_TRUE(setting.set(config, value)) << setting.key;
    EXPECT_EQ(setting.get(config), setting.get(DaemonConfig())) << setting.key;
    ++values;
  }
  EXPECT_GT(values, 12);
}

TEST_F(ConfigTest, ThePageOfTheReferenceIsUpToDate) {
  EXPECT_EQ(parse({"--reference", "paretod"})->print.value(),
            read_file(PARETO_SOURCE_DIR "/docs/reference/paretod.md").value_or("none"))
      << "./dev reference writes docs/reference anew";
  EXPECT_EQ(parse({"--reference", "enroll"})->print.value(),
            read_file(PARETO_SOURCE_DIR "/docs/reference/enroll.md").value_or("none"));
}

TEST_F(ConfigTest, EnrollingHasItsOwnArguments) {
  const auto line = parse({"enroll", "host:1", "--token", "t", "--authority", "a"});
  ASSERT_TRUE(line) << line.error().message;
  ASSERT_TRUE(line->enrolment);
  EXPECT_EQ(line->enrolment->address, "host:1");
  EXPECT_EQ(line->enrolment->token, "t");
  EXPECT_EQ(line->enrolment->authority, "a");
  EXPECT_EQ(line->enrolment->credentials, kPackageCredentials);
  EXPECT_FALSE(parse({"--log-level", "debug"})->enrolment);
  EXPECT_THAT(parse({"enroll", "--help"})->print.value(), HasSubstr("--authority"));
  for (const std::vector<const char*>& wrong :
       {std::vector<const char*>{"enroll"},
        {"enroll", "host:1", "--token", "t"},
        {"enroll", "host:1", "--token", "t", "--authority", "a", "--nam", "x"}}) {
    const auto refused = parse(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(ConfigTest, HelpHasEverySettingAndExamples) {
  const std::string help = parse({"--help"})->print.value();
  for (const Setting& setting : settings()) EXPECT_THAT(help, HasSubstr(flag_of(setting)));
  EXPECT_THAT(help, HasSubstr("Examples:"));
  EXPECT_THAT(parse({"--version"})->print.value(), HasSubstr(PARETO_VERSION));
}

}  // namespace
}  // namespace pareto::daemon
