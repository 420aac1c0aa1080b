// The real program in a test: its flags, its ready line, and a question to it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/plan/protocol.h"
#include "proto/control.grpc.pb.h"
#include "tests/daemon/support/pipeline.h"
#include "tests/support/paretod.h"
#include "tests/support/process.h"

namespace pareto::daemon::test {

class ParetodTest : public testing::Test {
 protected:
  ParetodTest() : folder_(TemporaryFolder::create("paretod-test").value()) {}

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    return pareto::test::paretod_arguments("test-device", path("state"), more);
  }
  static nlohmann::json ready(pareto::test::Process& process) {
    EXPECT_TRUE(process.wait_for_output("}\n")) << process.errors();
    return nlohmann::json::parse(process.output(), nullptr, false);
  }
  static grpc::Status describe(const std::string& address, control::v1::DescribeReply& reply) {
    const auto stub = control::v1::Control::NewStub(
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    control::v1::DescribeRequest request;
    request.set_protocol(plan::kProtocolVersion);
    return stub->Describe(&context, request, &reply);
  }

  TemporaryFolder folder_;
};

}  // namespace pareto::daemon::test
