// The ciphers of TLS links, in the order that suits this processor. Internal to core/transport/tcp.
#pragma once

namespace pareto::transport::tcp {

/// Returns the suites of TLS 1.3 as OpenSSL lists them: AES-GCM first if the processor has
/// instructions for AES, else ChaCha20-Poly1305.
const char* preferred_ciphers();

}  // namespace pareto::transport::tcp
