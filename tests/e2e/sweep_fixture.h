// What documents of sweeps have to say, for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/fixture.h"

namespace pareto::test {

class Sweep : public EndToEnd {};

/// Returns whether any other trial of the same batch and condition is at least as good in both
/// figures and better in one.
inline bool beaten(const nlohmann::json& trial, const nlohmann::json& trials) {
  for (const nlohmann::json& other : trials) {
    if (other["status"] != "ok" || other["batch"] != trial["batch"]) continue;
    if (other["condition"] != trial["condition"]) continue;
    const double latency = trial["latency_ms"]["p50"];
    const double other_latency = other["latency_ms"]["p50"];
    const double rate = trial["throughput"]["samples_per_s"];
    const double other_rate = other["throughput"]["samples_per_s"];
    if (other_latency <= latency && other_rate >= rate &&
        (other_latency < latency || other_rate > rate)) {
      return true;
    }
  }
  return false;
}

/// Expects that the front of a document follows from the figures that it shows, and that few rounds
/// make nothing certain.
inline void expect_honest(const nlohmann::json& run) {
  for (const nlohmann::json& trial : run["trials"]) {
    if (trial["status"] != "ok") continue;
    EXPECT_EQ(trial["on_front"].get<bool>(), !beaten(trial, run["trials"])) << trial["id"];
    if (trial["rounds"] >= 6) continue;
    EXPECT_GE(trial["p_front"], 0.05) << trial["id"];
    EXPECT_LE(trial["p_front"], 0.95) << trial["id"];
  }
}

/// Expects that both documents show the same of every trial.
inline void expect_same_figures(const nlohmann::json& a, const nlohmann::json& b) {
  std::map<std::string, nlohmann::json> by_id;
  for (const nlohmann::json& trial : b["trials"]) by_id[trial["id"]] = trial;
  for (const nlohmann::json& trial : a["trials"]) {
    for (const char* key : {"status", "latency_ms", "throughput", "on_front", "p_front"}) {
      EXPECT_EQ(by_id[trial["id"]].value(key, nlohmann::json()), trial.value(key, nlohmann::json()))
          << trial["id"] << " " << key;
    }
  }
}

}  // namespace pareto::test
