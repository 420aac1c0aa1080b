// Credentials of one authority, and of another, for all tests of links in this program.
#pragma once

#include <memory>

#include "core/base/file.h"
#include "core/tls/credentials.h"
#include "tests/core/transport/fixture.h"
#include "tests/support/tls.h"

namespace pareto::transport {

/// An authority and those it vouches for.
struct TestCredentials {
  /// `name`: the authority's.
  explicit TestCredentials(std::string name = "authority") : called(std::move(name)) {}

  std::string called;
  TemporaryFolder folder = must(TemporaryFolder::create("pareto-links"));
  test::TestAuthority authority{folder.path(), called};
  std::shared_ptr<const tls::Credentials> coordinator = of({"lab", tls::Role::kCoordinator});
  std::shared_ptr<const tls::Credentials> device = of({"pi-1", tls::Role::kDevice});

  std::shared_ptr<tls::Credentials> of(const tls::Identity& identity,
                                       const test::Validity& validity = {}) const {
    return must(tls::Credentials::open(authority.credentials(identity, validity)));
  }
};

inline const TestCredentials& test_credentials() {
  static const TestCredentials kShared;
  return kShared;
}

}  // namespace pareto::transport
