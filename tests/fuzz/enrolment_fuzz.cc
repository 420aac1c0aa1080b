// Any bytes as a message of an enrolment: refused, or read as it is written again. What is to be
// shown to people is fit to be shown.
//
//   input = 0: a request, 1: a reply, 2: an end, 3: a token, 4: a fingerprint; then its bytes
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/printable.h"
#include "core/tls/enrolment.h"

namespace pareto {
namespace {

template <typename Message>
void check_message(const Expected<Message>& read, std::string_view bytes) {
  if (!read && !is_printable(read.error().message)) std::abort();
  if (read && tls::encode(*read) != bytes) std::abort();
}

/// Sentences are cleaned when they are read: what was cleaned is read as it is.
template <typename Message, typename Parse>
void check_cleaned(const Message& message, const Parse& parse) {
  if (!message.error) return;
  const auto again = parse(tls::encode(message));
  if (!again || !again->error || again->error->message != message.error->message ||
      !is_printable(message.error->message)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 0:
      check_message(tls::parse_enrolment_request(bytes), bytes);
      break;
    case 1: {
      const auto reply = tls::parse_enrolment_reply(bytes);
      if (reply && reply->error) {
        check_cleaned(*reply, tls::parse_enrolment_reply);
      } else {
        check_message(reply, bytes);
      }
      break;
    }
    case 2: {
      const auto end = tls::parse_enrolment_end(bytes);
      if (end && end->error) {
        check_cleaned(*end, tls::parse_enrolment_end);
      } else {
        check_message(end, bytes);
      }
      break;
    }
    case 3:
      if (const auto token = tls::parse_token(bytes)) {
        const auto again = tls::parse_token(tls::to_string(*token));
        if (!again || !(*again == *token)) std::abort();
      }
      break;
    default:
      if (const auto digest = tls::parse_fingerprint(bytes)) {
        const auto again = tls::parse_fingerprint(tls::fingerprint_text(*digest));
        if (!again || !(*again == *digest)) std::abort();
      } else if (!is_printable(digest.error().message)) {
        std::abort();
      }
  }
  return 0;
}

}  // namespace pareto
