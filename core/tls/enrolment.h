// How a device gets its first certificate: what it and the coordinator say to each other, as values
// and bytes (FORMAT.md). The key never leaves the device.
//
//   device                                  coordinator
//     TLS 1.3; the fingerprint proves the authority
//     EnrolmentRequest: request, proof  ──▶  checks the proof, signs
//            checks, stores             ◀──  EnrolmentReply: certificates, or an error
//     EnrolmentEnd: stored, or an error ──▶
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace pareto::tls {

inline constexpr std::size_t kLongestRequestBytes = 4096;  ///< longest certificate request
inline constexpr std::size_t kLongestCertificateBytes = 8192;
inline constexpr std::size_t kLongestListBytes = 1 << 20;  ///< longest list of those taken back
/// Sizes of the longest messages. Longer ones are refused before memory is allocated.
inline constexpr std::size_t kLongestEnrolmentRequest = kLongestRequestBytes + 256;
inline constexpr std::size_t kLongestEnrolmentReply =
    kLongestListBytes + 2 * kLongestCertificateBytes + 64;
inline constexpr std::size_t kLongestEnrolmentEnd = 512;
/// The only DNS name of the certificate that a coordinator shows while it enrols. It names no role.
inline constexpr std::string_view kEnrolmentName = "enrolment.pareto-edge";

/// The secret of one invitation: 128 random bits. It is used once.
struct Token {
  std::array<std::byte, 16> bytes{};
  bool operator==(const Token&) const = default;
};
Token make_token();
/// Returns 26 letters and digits in groups: "8wq2n-…". None looks like another.
std::string to_string(const Token& token);
/// Reads a token as people type it: of either case, with or without hyphens; o counts as 0, i and l
/// as 1. Fails: kInvalidArgument; the message does not quote the text.
Expected<Token> parse_token(std::string_view text);

/// Returns "SHA256:" and 64 hexadecimal digits: what names an authority to a device.
std::string fingerprint_text(const Digest& certificate);
/// Reads the same, and as `openssl x509 -fingerprint -sha256` writes it. Fails: kInvalidArgument.
Expected<Digest> parse_fingerprint(std::string_view text);

/// The words of a device that wants a certificate.
struct EnrolmentRequest {
  std::string name;     ///< the name that it wants; "": whatever it is invited as
  std::string request;  ///< certificate request, DER
  Digest proof;         ///< proof_of()
};
/// Proves that its maker knows the token, within this one connection: `binding` is a secret that
/// only the two ends of it know.
Digest proof_of(const Token& token, const Digest& binding, std::string_view name,
                std::string_view request);
/// Compares proofs in a time that does not depend on them.
bool is_same_proof(const Digest& one, const Digest& other);

/// The answer: certificates in DER, or why there are none.
struct EnrolmentReply {
  std::optional<Error> error;
  std::string certificate;
  std::string authority;
  std::string revoked;  ///< list of revoked certificates
};

/// The last words of a device.
struct EnrolmentEnd {
  std::optional<Error> error;  ///< why it did not store what it got
};

std::string encode(const EnrolmentRequest& request);
std::string encode(const EnrolmentReply& reply);
std::string encode(const EnrolmentEnd& end);
/// Reads a message of the enrolment. Fails: kCorrupt. Sentences in them are printable; what is in
/// DER may be anything.
Expected<EnrolmentRequest> parse_enrolment_request(std::string_view bytes);
Expected<EnrolmentReply> parse_enrolment_reply(std::string_view bytes);
Expected<EnrolmentEnd> parse_enrolment_end(std::string_view bytes);

}  // namespace pareto::tls
