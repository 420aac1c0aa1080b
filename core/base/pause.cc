#include "core/base/pause.h"

#include <utility>

namespace pareto {
namespace {

thread_local Pauser* pauser_of_thread = nullptr;

}  // namespace

PauseScope::PauseScope(Pauser* pauser) : before_(std::exchange(pauser_of_thread, pauser)) {}
PauseScope::~PauseScope() { pauser_of_thread = before_; }

bool pause_if_wanted() {
  Pauser* const pauser = pauser_of_thread;
  return pauser == nullptr || !pauser->is_wanted() || pauser->pause();
}

}  // namespace pareto
