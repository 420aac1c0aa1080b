#include "client/flags/waiting_note.h"

#include <chrono>
#include <ostream>

namespace pareto::client {
namespace {

constexpr std::chrono::minutes kBetweenNotes{1};

}  // namespace

WaitingNote::~WaitingNote() {
  if (drawn_) context_.err << "\r\x1b[K" << std::flush;
}

void WaitingNote::show(const std::string& text) {
  if (context_.err_is_terminal && context_.columns > 1) {
    context_.err << "\r\x1b[K" << text.substr(0, static_cast<std::size_t>(context_.columns - 1))
                 << std::flush;
    drawn_ = true;
    return;
  }
  const TimePoint now = std::chrono::steady_clock::now();
  if (said_ && now - *said_ < kBetweenNotes) return;
  said_ = now;
  context_.err << text << '\n' << std::flush;
}

}  // namespace pareto::client
