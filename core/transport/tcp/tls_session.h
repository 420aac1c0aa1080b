// One TLS connection without a wait and without a lock: OpenSSL's part of a TlsStream. Internal to
// core/transport/tcp.
//
//   parts --encrypt--> records in the outbox --flush--> socket --OpenSSL--> decrypt --> memory
//
// OpenSSL never writes to the socket itself. So no record is half written while another thread
// reads, and an answer that reading calls for (a new key, an alert) finds its place behind what is
// being sent.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "core/tls/credentials.h"

namespace pareto::transport::tcp {

/// The two sides of a handshake.
enum class TlsSide { kConnecting, kAccepting };

/// OpenSSL's state of one connection, with the records that wait to be sent.
///
/// Threads: one at a time.
class TlsSession {
 public:
  /// The most bytes of a record, by RFC 8446.
  static constexpr std::size_t kRecordBytes = 16 << 10;
  /// Records that are encrypted by one key: far fewer than the 2^24.5 that AES-GCM allows.
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 22;

  /// Begins a connection on a connected, non-blocking socket, which outlives it. Fails:
  /// kExhausted (no memory).
  static Expected<std::unique_ptr<TlsSession>> open(const FileDescriptor& socket,
                                                    const tls::Credentials& credentials,
                                                    TlsSide side,
                                                    std::uint64_t records_per_key = kRecordsPerKey);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Goes on with the handshake. False: it waits for bytes of the peer. What it has to say is in
  /// the outbox, also after an error. Fails: as ByteStream does.
  Expected<bool> handshake();
  /// Returns who is at the other end, after the handshake. Fails: kPermission.
  Expected<tls::Identity> peer() const;
  /// Returns the certificates that it showed, as PEM.
  std::string peer_chain() const;

  /// Encrypts the first bytes of `parts` into the outbox, as many as make a good packet. Returns
  /// how many; small parts share a record. Fails: kUnavailable.
  Expected<std::size_t> encrypt(std::span<const iovec> parts);
  /// Decrypts what has come. Returns how many bytes; 0: the peer has sent its last one; no value:
  /// none has come. Fails: kUnavailable (the connection broke, or was cut), kCorrupt, kPermission
  /// (the peer refuses this side).
  Expected<std::optional<std::size_t>> decrypt(std::span<std::byte> into);
  /// Tells the peer that nothing follows. The words are in the outbox.
  void end();

  /// Sends what is in the outbox, as much as the socket takes. Returns whether it is empty now.
  /// Fails: kClosed (the peer reads no more), kUnavailable.
  Expected<bool> flush();
  /// Returns how often it has begun to encrypt by another key.
  std::uint64_t key_changes() const { return key_changes_; }
  bool has_unsent() const { return unsent_from_ < outbox_.size(); }
  /// Looks at what decrypt() would find, and leaves it there. Fails: as decrypt(), which does not
  /// repeat the error.
  Expected<> look_ahead();

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };

  TlsSession(const FileDescriptor& socket, std::uint64_t records_per_key);
  /// Encrypts one record.
  Expected<> seal(std::span<const std::byte> bytes);
  /// Returns what OpenSSL says of a call that returned `result`.
  Error failure(int result);

  const int socket_;
  const std::uint64_t records_per_key_;
  std::uint64_t records_ = 0;  ///< those that the key in use has encrypted
  std::uint64_t key_changes_ = 0;
  bool established_ = false;
  std::vector<std::byte> outbox_;
  std::size_t unsent_from_ = 0;
  std::array<std::byte, kRecordBytes> gathered_;  ///< small parts that share a record
  std::unique_ptr<ssl_st, FreeSsl> ssl_;          // last: it writes into the outbox
};

}  // namespace pareto::transport::tcp
