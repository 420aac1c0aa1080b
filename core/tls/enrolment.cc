#include "core/tls/enrolment.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <new>
#include <span>

#include "core/base/printable.h"
#include "core/tls/identity.h"

namespace pareto::tls {
namespace {

constexpr char kEnrolmentVersion = 1;
constexpr std::string_view kProofLabel = "pareto-edge enrolment 1";
constexpr std::string_view kFingerprintKind = "SHA256:";
constexpr std::size_t kLongestSentence = 300;
// Crockford's base 32: no letter looks like a digit.
constexpr std::string_view kTokenDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kTokenLength = 26;  // 130 bits, of which the last two are 0
constexpr std::size_t kTokenGroup = 5;
constexpr unsigned kBitsPerDigit = 5;
constexpr std::size_t kNoDigit = std::string_view::npos;

enum Kind : char { kRequest = 1, kCertificates = 2, kRefused = 3, kStored = 4, kNotStored = 5 };

std::size_t token_digit(char letter) {
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (lower == 'o') return 0;
  if (lower == 'i' || lower == 'l') return 1;
  return kTokenDigits.find(lower);
}

void put_part(std::string& bytes, std::string_view part) {
  constexpr int kSizeBytes = 4;
  for (int i = kSizeBytes - 1; i >= 0; --i) {
    bytes += static_cast<char>(part.size() >> (8 * i) & 0xff);
  }
  bytes += part;
}

std::string begin_message(Kind kind) { return {kEnrolmentVersion, kind}; }

std::string error_message(Kind kind, const Error& error) {
  std::string bytes = begin_message(kind);
  put_part(bytes, to_string(error.code));
  put_part(bytes, printable(error.message, kLongestSentence));
  return bytes;
}

/// Reads a message part by part; each has its largest size.
class PartReader {
 public:
  explicit PartReader(std::string_view bytes) : rest_(bytes) {}

  Expected<Kind> kind() {
    if (rest_.size() < 2) return fail(ErrorCode::kCorrupt, "a message of {} bytes", rest_.size());
    if (rest_[0] != kEnrolmentVersion) {
      return fail(ErrorCode::kCorrupt, "a message of version {}, not {}",
                  static_cast<unsigned char>(rest_[0]), static_cast<int>(kEnrolmentVersion));
    }
    const auto kind = static_cast<Kind>(rest_[1]);
    rest_.remove_prefix(2);
    return kind;
  }

  Expected<std::string> part(std::string_view what, std::size_t limit_bytes) {
    constexpr std::size_t kSizeBytes = 4;
    if (rest_.size() < kSizeBytes) return fail(ErrorCode::kCorrupt, "a message without {}", what);
    std::size_t size = 0;
    for (const unsigned char byte : rest_.substr(0, kSizeBytes)) size = size << 8 | byte;
    rest_.remove_prefix(kSizeBytes);
    if (size > limit_bytes || size > rest_.size()) {
      return fail(ErrorCode::kCorrupt, "{} of {} bytes, {} are left and at most {} are read", what,
                  size, rest_.size(), limit_bytes);
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }

  Expected<Error> error() {
    PARETO_ASSIGN(const std::string code, part("the code of an error", kLongestSentence));
    PARETO_ASSIGN(const std::string text, part("the sentence of an error", kLongestSentence));
    PARETO_TRY(end());
    return Error{error_code_from_string(code), printable(text, kLongestSentence)};
  }

  Expected<> end() const {
    if (rest_.empty()) return {};
    return fail(ErrorCode::kCorrupt, "a message with {} bytes too many", rest_.size());
  }

 private:
  std::string_view rest_;
};

tl::unexpected<Error> other_kind(Kind kind) {
  return fail(ErrorCode::kCorrupt, "a message of kind {}, which is not expected here",
              static_cast<unsigned char>(kind));
}

}  // namespace

Token make_token() {
  Token token;
  auto* const raw = reinterpret_cast<unsigned char*>(token.bytes.data());
  if (RAND_bytes(raw, static_cast<int>(token.bytes.size())) != 1) throw std::bad_alloc();
  return token;
}

std::string to_string(const Token& token) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t at = 0;
  for (std::size_t digit = 0; digit < kTokenLength; ++digit) {
    if (count < kBitsPerDigit) {
      const auto next = at < token.bytes.size() ? token.bytes[at++] : std::byte{0};
      bits = bits << 8 | std::to_integer<std::uint32_t>(next);
      count += 8;
    }
    count -= kBitsPerDigit;
    const bool new_group = digit % kTokenGroup == 0 && digit > 0 && digit + 1 < kTokenLength;
    if (new_group) text += '-';
    text += kTokenDigits[bits >> count & 31];
  }
  return text;
}

Expected<Token> parse_token(std::string_view text) {
  Token token;
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t digits = 0;
  std::size_t at = 0;
  for (const char letter : text) {
    if (letter == '-' || letter == ' ') continue;
    const std::size_t digit = token_digit(letter);
    if (digit == kNoDigit || ++digits > kTokenLength) {
      digits = 0;
      break;
    }
    bits = bits << kBitsPerDigit | static_cast<std::uint32_t>(digit);
    count += kBitsPerDigit;
    if (count < 8 || at == token.bytes.size()) continue;
    count -= 8;
    token.bytes[at++] = static_cast<std::byte>(bits >> count & 0xff);
  }
  const bool rest_is_zero = (bits & 3U) == 0;
  if (digits == kTokenLength && rest_is_zero) return token;
  return fail(ErrorCode::kInvalidArgument,
              "no token: it has {} letters and digits, as paretoctl pki issue prints them; one is "
              "missing or mistyped",
              kTokenLength);
}

std::string fingerprint_text(const Digest& certificate) {
  return std::string(kFingerprintKind) + certificate.hex();
}

Expected<Digest> parse_fingerprint(std::string_view text) {
  std::string hex;
  std::string_view rest = text;
  const auto is_alike = [](unsigned char a, unsigned char b) {
    return std::toupper(a) == std::toupper(b);
  };
  if (std::ranges::equal(rest.substr(0, kFingerprintKind.size()), kFingerprintKind, is_alike)) {
    rest.remove_prefix(kFingerprintKind.size());
  }
  for (const unsigned char letter : rest) {
    if (letter != ':') hex += static_cast<char>(std::tolower(letter));
  }
  if (auto digest = parse_digest(hex)) return digest;
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" is no fingerprint: it is SHA256: and 64 hexadecimal digits, as paretoctl pki "
              "issue prints it",
              printable(text));
}

Digest proof_of(const Token& token, const Digest& binding, std::string_view name,
                std::string_view request) {
  std::string said(kProofLabel);
  put_part(said, {reinterpret_cast<const char*>(binding.bytes.data()), binding.bytes.size()});
  put_part(said, name);
  put_part(said, request);
  Digest proof;
  unsigned size = 0;
  const auto* const made =
      HMAC(EVP_sha256(), token.bytes.data(), static_cast<int>(token.bytes.size()),
           reinterpret_cast<const unsigned char*>(said.data()), said.size(),
           reinterpret_cast<unsigned char*>(proof.bytes.data()), &size);
  if (made == nullptr) throw std::bad_alloc();
  return proof;
}

bool is_same_proof(const Digest& one, const Digest& other) {
  return CRYPTO_memcmp(one.bytes.data(), other.bytes.data(), one.bytes.size()) == 0;
}

std::string encode(const EnrolmentRequest& request) {
  std::string bytes = begin_message(kRequest);
  put_part(bytes, request.name);
  put_part(bytes, request.request);
  const auto& proof = request.proof.bytes;
  put_part(bytes, {reinterpret_cast<const char*>(proof.data()), proof.size()});
  return bytes;
}

std::string encode(const EnrolmentReply& reply) {
  if (reply.error) return error_message(kRefused, *reply.error);
  std::string bytes = begin_message(kCertificates);
  for (const std::string* part : {&reply.certificate, &reply.authority, &reply.revoked}) {
    put_part(bytes, *part);
  }
  return bytes;
}

std::string encode(const EnrolmentEnd& end) {
  return end.error ? error_message(kNotStored, *end.error) : begin_message(kStored);
}

Expected<EnrolmentRequest> parse_enrolment_request(std::string_view bytes) {
  PartReader reader(bytes);
  PARETO_ASSIGN(const Kind kind, reader.kind());
  if (kind != kRequest) return other_kind(kind);
  EnrolmentRequest request;
  PARETO_ASSIGN(request.name, reader.part("a name", kLongestName));
  if (!request.name.empty() && !valid_name(request.name)) {
    return fail(ErrorCode::kCorrupt, "a name that is none: \"{}\"", printable(request.name));
  }
  PARETO_ASSIGN(request.request, reader.part("a certificate request", kLongestRequestBytes));
  PARETO_ASSIGN(const std::string proof, reader.part("a proof", request.proof.bytes.size()));
  if (proof.size() != request.proof.bytes.size()) {
    return fail(ErrorCode::kCorrupt, "a proof of {} bytes", proof.size());
  }
  std::ranges::copy(std::as_bytes(std::span(proof)), request.proof.bytes.begin());
  PARETO_TRY(reader.end());
  return request;
}

Expected<EnrolmentReply> parse_enrolment_reply(std::string_view bytes) {
  PartReader reader(bytes);
  PARETO_ASSIGN(const Kind kind, reader.kind());
  EnrolmentReply reply;
  if (kind == kRefused) {
    PARETO_ASSIGN(reply.error, reader.error());
    return reply;
  }
  if (kind != kCertificates) return other_kind(kind);
  PARETO_ASSIGN(reply.certificate, reader.part("a certificate", kLongestCertificateBytes));
  PARETO_ASSIGN(reply.authority, reader.part("an authority", kLongestCertificateBytes));
  PARETO_ASSIGN(reply.revoked, reader.part("a list of revoked certificates", kLongestListBytes));
  PARETO_TRY(reader.end());
  return reply;
}

Expected<EnrolmentEnd> parse_enrolment_end(std::string_view bytes) {
  PartReader reader(bytes);
  PARETO_ASSIGN(const Kind kind, reader.kind());
  EnrolmentEnd end;
  if (kind == kNotStored) {
    PARETO_ASSIGN(end.error, reader.error());
    return end;
  }
  if (kind != kStored) return other_kind(kind);
  PARETO_TRY(reader.end());
  return end;
}

}  // namespace pareto::tls
