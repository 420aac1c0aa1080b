// The tables of a results file. People query them: `sqlite3 results.db 'SELECT id, p50_ms,
// samples_per_s FROM trials WHERE on_front'`.
#pragma once

namespace pareto::results {

/// PRAGMA application_id: "PEdg". Says that a SQLite file is a results file.
inline constexpr int kApplicationId = 0x50456467;
/// PRAGMA user_version: counts up with every change below that an older build could not read.
inline constexpr int kSchemaVersion = 3;

/// Times in ms, sizes in bytes, rates in samples/s. `p50_ms` and `samples_per_s` with their
/// intervals are the figures that are shown (record.h); the medians of what was measured are in
/// `details`. `p_front` is -1 while a sweep that measured the trial has not settled it. `details`,
/// `devices`, `passes` and `coordinator` are JSON (coordinator/results/stored_json.h), and so are
/// `options`.
inline constexpr const char* kSchema = R"sql(
CREATE TABLE runs (
  id                 TEXT PRIMARY KEY,
  model              TEXT NOT NULL,
  model_digest       TEXT NOT NULL,
  model_weight_bytes INTEGER NOT NULL,
  started            TEXT NOT NULL,
  finished           TEXT NOT NULL,
  command_line       TEXT NOT NULL,
  options            TEXT NOT NULL,
  software_version   TEXT NOT NULL,
  seed               INTEGER NOT NULL,
  devices            TEXT NOT NULL,
  passes             TEXT NOT NULL,
  note               TEXT NOT NULL,
  coordinator        TEXT NOT NULL DEFAULT '',
  tag                TEXT NOT NULL DEFAULT '',
  number             INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE trials (
  number             INTEGER PRIMARY KEY,
  run                TEXT NOT NULL REFERENCES runs (id),
  id                 TEXT NOT NULL,
  split              TEXT,
  position           INTEGER,
  boundary_bytes     INTEGER,
  transport          TEXT NOT NULL,
  codec              TEXT NOT NULL,
  batch              INTEGER NOT NULL,
  condition          TEXT NOT NULL,
  p50_ms             REAL,
  p90_ms             REAL,
  p99_ms             REAL,
  mean_ms            REAL,
  p50_low_ms         REAL,
  p50_high_ms        REAL,
  latency_window     INTEGER NOT NULL,
  latency_samples    INTEGER NOT NULL,
  samples_per_s      REAL,
  samples_per_s_low  REAL,
  samples_per_s_high REAL,
  throughput_window  INTEGER NOT NULL,
  throughput_samples INTEGER NOT NULL,
  compute_ms         REAL,
  transfer_ms        REAL,
  wait_ms            REAL,
  on_front           INTEGER NOT NULL,
  p_front            REAL,
  status             TEXT NOT NULL,
  failure            TEXT NOT NULL,
  details            TEXT NOT NULL,
  UNIQUE (run, id)
);
)sql";

/// A column of `runs` since later: files that lack it get it with their next run, and older builds
/// can still read and write them.
struct LaterColumn {
  const char* name;
  const char* statement;  ///< adds it
};
/// `tag` is the name that a user gave, empty: none. `number` grows from run to run in the order of
/// insertion, 0: not known.
inline constexpr LaterColumn kLaterColumns[] = {
    {"coordinator", "ALTER TABLE runs ADD COLUMN coordinator TEXT NOT NULL DEFAULT ''"},
    {"tag", "ALTER TABLE runs ADD COLUMN tag TEXT NOT NULL DEFAULT ''"},
    {"number", "ALTER TABLE runs ADD COLUMN number INTEGER NOT NULL DEFAULT 0"},
};

/// Next to them since later: added to files that lack it, which older builds can still read.
/// `document` is core/plan/device_profile.h's.
inline constexpr const char* kProfileSchema = R"sql(
CREATE TABLE IF NOT EXISTS profiles (
  key      TEXT PRIMARY KEY,
  device   TEXT NOT NULL,
  model    TEXT NOT NULL,
  measured TEXT NOT NULL,
  document TEXT NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace pareto::results
