// One end of an emulated link: a network device whose packets this process reads and writes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "core/plan/condition.h"
#include "netem/network_namespace.h"

namespace pareto::netem {

/// A TUN device that is up, with an address and MTU 1500. Segmentation and checksums are left to
/// others. A packet that is read is a virtio_net_hdr and up to 64 KiB of TCP segments with one
/// header. It may be written to another TunDevice unchanged. The device ends with this object, also
/// after kill -9.
///
/// Threads: the descriptor may be read by one thread while another writes, and a third makes
/// changes.
class TunDevice {
 public:
  /// The most bytes that a read may take.
  static constexpr std::size_t kMaxPacketBytes = 68 << 10;

  /// Creates a device with the `address` of this end and the `peer` of the other, IPv4:
  /// "10.213.0.1". What leaves through the device is limited to the direction's rate and queue. If
  /// the direction varies by packet, it comes in packets as on a wire. The device does nothing
  /// else.
  /// Fails: kPermission (needs root), kUnavailable (no TUN or tbf in this kernel, or what ip and tc
  /// say), kNotFound (iproute2 is not installed).
  static Expected<TunDevice> create(const NetworkNamespace& where, const std::string& address,
                                    const std::string& peer, const plan::LinkDirection& out);

  /// Returns its descriptor, which does not block.
  int descriptor() const { return file_.get(); }

  /// Changes the direction to what create() takes, from now on; packets that wait keep waiting.
  /// Fails: kUnavailable, kNotFound.
  Expected<> change(const plan::LinkDirection& out);

  /// Has packets come one by one, as on a wire, whatever the direction; `false` ends that. Fails:
  /// kUnavailable.
  Expected<> separate(bool separate);

 private:
  TunDevice(FileDescriptor file, std::string name, NetworkNamespace where)
      : file_(std::move(file)), name_(std::move(name)), where_(std::move(where)) {}
  /// Sets the segments that TCP sends through it at a time, in the calling thread's namespace, if
  /// they are not that many already.
  Expected<> set_segments(std::uint32_t most);
  Expected<> set_offload();

  FileDescriptor file_;
  std::string name_;
  NetworkNamespace where_;
  std::uint32_t most_segments_ = 65'535;  ///< segments of every device from the start
  /// Guards two answers to whether packets come one by one: as the direction has it, and as
  /// separate() has it.
  std::unique_ptr<std::mutex> separating_ = std::make_unique<std::mutex>();
  bool varies_ = false;    ///< guarded by separating_
  bool separate_ = false;  ///< guarded by separating_
};

}  // namespace pareto::netem
