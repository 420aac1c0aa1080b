// Pauses of work that goes on for long, so that others can compute meanwhile.
//
//   who shares out cores ──a pause is wanted──▶ Pauser ◀──pause_if_wanted()── the work
#pragma once

namespace pareto {

/// The pauses of one piece of work, which asks often: between two operators.
///
/// Threads: the one that works.
class Pauser {
 public:
  Pauser() = default;
  virtual ~Pauser() = default;
  Pauser(const Pauser&) = delete;
  Pauser& operator=(const Pauser&) = delete;

  /// Returns whether pause() is to be called soon.
  virtual bool is_wanted() const = 0;
  /// Waits until the work may go on. Returns false if it shall end instead.
  virtual bool pause() = 0;
};

/// Lets the calling thread's work be paused, for as long as it exists; null: it is not.
/// Threads: one.
class PauseScope {
 public:
  explicit PauseScope(Pauser* pauser);
  ~PauseScope();
  PauseScope(const PauseScope&) = delete;
  PauseScope& operator=(const PauseScope&) = delete;

 private:
  Pauser* const before_;
};

/// Pauses the calling thread's work if somebody wants that. Returns false if it shall end.
bool pause_if_wanted();

}  // namespace pareto
