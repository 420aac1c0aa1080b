// What a device and its coordinator say to each other: values, bytes, and bytes of strangers.
#include "core/tls/enrolment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/printable.h"

namespace pareto::tls {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Token, IsReadAsPeopleTypeIt) {
  for (int i = 0; i < 100; ++i) {
    const Token token = make_token();
    const std::string text = to_string(token);
    EXPECT_EQ(text.size(), 30U) << text;
    EXPECT_EQ(parse_token(text).value(), token) << text;
    std::string typed;
    for (const char letter : text) {
      if (letter == '-') continue;
      typed += static_cast<char>(letter == '0'   ? 'O'
                                 : letter == '1' ? (i % 2 == 0 ? 'l' : 'I')
                                                 : std::toupper(letter));
    }
    EXPECT_EQ(parse_token(typed).value(), token) << typed;
  }
}

TEST(Token, IsPinned) {
  Token token;
  for (std::size_t i = 0; i < token.bytes.size(); ++i) token.bytes[i] = std::byte(i * 17);
  EXPECT_EQ(to_string(token), "008j4-ct4an-k7f24-snaxw-sqfezw");
}

TEST(Token, WhatIsNoneIsNotQuoted) {
  const std::string good = to_string(make_token());
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", good.substr(0, 29) + "1", "secret!" + good,
        std::string(1 << 20, '0')}) {
    const auto read = parse_token(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    if (text.empty()) continue;
    EXPECT_THAT(read.error().message, Not(HasSubstr(text.substr(0, 20))));
  }
}

TEST(Fingerprint, IsReadAsOpensslWritesIt) {
  const Digest digest = sha256("authority");
  EXPECT_EQ(parse_fingerprint(fingerprint_text(digest)).value(), digest);
  std::string colons;
  const std::string hex = digest.hex();
  for (std::size_t i = 0; i < hex.size(); ++i) {
    if (i > 0 && i % 2 == 0) colons += ':';
    colons += static_cast<char>(std::toupper(hex[i]));
  }
  EXPECT_EQ(parse_fingerprint(colons).value(), digest);
  EXPECT_EQ(parse_fingerprint("sha256:" + hex).value(), digest);
  for (const std::string& wrong : {std::string(), std::string("SHA256:"), hex.substr(1), hex + "0",
                                   "MD5:" + hex, std::string("SHA256:\x1b[31m")}) {
    const auto read = parse_fingerprint(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_TRUE(is_printable(read.error().message)) << read.error().message;
  }
}

TEST(Proof, IsOfAllThatItCovers) {
  const Token token = make_token();
  const Digest binding = sha256("connection");
  std::set<Digest> proofs{proof_of(token, binding, "pi", "request")};
  proofs.insert(proof_of(make_token(), binding, "pi", "request"));
  proofs.insert(proof_of(token, sha256("another"), "pi", "request"));
  proofs.insert(proof_of(token, binding, "p", "irequest"));
  proofs.insert(proof_of(token, binding, "pi", "requesu"));
  EXPECT_EQ(proofs.size(), 5U);
  EXPECT_TRUE(is_same_proof(proof_of(token, binding, "pi", "request"),
                            proof_of(token, binding, "pi", "request")));
  EXPECT_FALSE(is_same_proof(sha256("a"), sha256("b")));
}

TEST(Messages, AreReadAsTheyWereWritten) {
  const EnrolmentRequest request{"pi-1", std::string("\0\x30request", 9), sha256("proof")};
  const auto asked = parse_enrolment_request(encode(request)).value();
  EXPECT_EQ(asked.name, request.name);
  EXPECT_EQ(asked.request, request.request);
  EXPECT_EQ(asked.proof, request.proof);

  const auto given = parse_enrolment_reply(encode(EnrolmentReply{{}, "c", "a", ""})).value();
  EXPECT_FALSE(given.error);
  EXPECT_EQ(given.certificate, "c");
  EXPECT_EQ(given.authority, "a");
  EXPECT_EQ(given.revoked, "");
  const Error error{ErrorCode::kPermission, "wrong \x1b[31mtoken"};
  const auto refused = parse_enrolment_reply(encode(EnrolmentReply{error, "", "", ""})).value();
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::kPermission);
  EXPECT_EQ(refused.error->message, "wrong  [31mtoken");

  EXPECT_FALSE(parse_enrolment_end(encode(EnrolmentEnd{})).value().error);
  EXPECT_EQ(parse_enrolment_end(encode(EnrolmentEnd{error})).value().error->code,
            ErrorCode::kPermission);
}

TEST(Messages, ArePinned) {
  std::string proof(32, '\0');
  const std::string bytes = std::string("\1\1\0\0\0\2pi\0\0\0\3req\0\0\0 ", 19) + proof;
  EXPECT_EQ(encode(EnrolmentRequest{"pi", "req", {}}), bytes);
  EXPECT_EQ(encode(EnrolmentEnd{}), std::string("\1\4"));
}

TEST(Messages, LongestOnesFit) {
  const EnrolmentRequest request{std::string(63, 'n'), std::string(kLongestRequestBytes, 'r'), {}};
  EXPECT_LE(encode(request).size(), kLongestEnrolmentRequest);
  EXPECT_TRUE(parse_enrolment_request(encode(request)));
  const EnrolmentReply reply{std::nullopt, std::string(kLongestCertificateBytes, 'c'),
                             std::string(kLongestCertificateBytes, 'a'),
                             std::string(kLongestListBytes, 'l')};
  EXPECT_LE(encode(reply).size(), kLongestEnrolmentReply);
  EXPECT_TRUE(parse_enrolment_reply(encode(reply)));
  const EnrolmentEnd end{Error{ErrorCode::kInvalidArgument, std::string(5000, 'e')}};
  EXPECT_LE(encode(end).size(), kLongestEnrolmentEnd);
  EXPECT_TRUE(parse_enrolment_end(encode(end)));
}

TEST(Messages, OfStrangersAreRefused) {
  const std::string request = encode(EnrolmentRequest{"pi", "req", {}});
  const std::string reply = encode(EnrolmentReply{{}, "c", "a", "l"});
  const auto check = [](const auto& parsed) {
    if (parsed) return;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(is_printable(parsed.error().message)) << parsed.error().message;
  };
  const auto each = [&check](const std::string& bytes) {
    check(parse_enrolment_request(bytes));
    check(parse_enrolment_reply(bytes));
    check(parse_enrolment_end(bytes));
  };
  for (const std::string& good : {request, reply}) {
    for (std::size_t size = 0; size < good.size(); ++size) {
      each(good.substr(0, size));
      EXPECT_FALSE(parse_enrolment_request(good.substr(0, size)));
      EXPECT_FALSE(parse_enrolment_reply(good.substr(0, size)));
    }
    each(good + "x");
    EXPECT_FALSE(parse_enrolment_request(good + "x"));
    std::mt19937 random(39);
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = good;
      for (int changes = 0; changes < 3; ++changes) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      each(bytes);
    }
  }
  EXPECT_FALSE(parse_enrolment_reply(request));
  EXPECT_FALSE(parse_enrolment_request(reply));
  EXPECT_FALSE(parse_enrolment_request(encode(EnrolmentRequest{"a b", "req", {}})));
}

}  // namespace
}  // namespace pareto::tls
