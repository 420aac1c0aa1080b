#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/base/file.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

class InventoryTest : public testing::Test {
 protected:
  Expected<std::vector<DeviceConfig>> read(const std::string& text) {
    const auto path = folder_.path() / "inventory.yaml";
    EXPECT_TRUE(write_file_atomically(path, text));
    return read_inventory(path);
  }
  std::string problem(const std::string& text) {
    const auto devices = read(text);
    return devices ? "" : devices.error().message;
  }
  TemporaryFolder folder_ = TemporaryFolder::create("inventory-test").value();
};

TEST_F(InventoryTest, TheSampleIsTheManual) {
  const auto devices =
      read_inventory(std::filesystem::path(PARETO_SOURCE_DIR) / "configs" / "inventory.yaml")
          .value();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].name, "pi-1");
  EXPECT_EQ(devices[0].address, "192.168.1.21:7070");
}

TEST_F(InventoryTest, DevicesSayTheirPowerWithItsUnitAndTheirMedium) {
  const auto devices = read(
      "devices:\n  - {name: a, address: \"h:1\", power: 2.5W}\n  - {name: b, address: \"h:2\", "
      "medium: attic}\n");
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->at(0).figures.at("power"), 2500);
  EXPECT_TRUE(devices->at(1).figures.empty());
  EXPECT_EQ(devices->at(0).medium, "");
  EXPECT_EQ(devices->at(1).medium, "attic");
  for (const char* power : {"5", "0W", "-1W", "2kW", "much"}) {
    EXPECT_THAT(
        problem(fmt::format("devices:\n  - {{name: a, address: \"h:1\", power: {}}}\n", power)),
        testing::AllOf(HasSubstr("inventory.yaml:2"), HasSubstr("power")))
        << power;
  }
}

TEST_F(InventoryTest, ADeviceIsTheOneWhoseCertificateHasItsName) {
  const auto devices = read(
      "devices:\n  - {name: pi-1, address: \"h:1\"}\n"
      "  - {name: pi-2, address: \"h:2\", identity: pi-9, insecure: true}\n"
      "  - {name: my pi, address: \"h:3\"}\n");
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->at(0).identity, "pi-1");
  EXPECT_FALSE(devices->at(0).insecure);
  EXPECT_EQ(devices->at(1).identity, "pi-9");
  EXPECT_TRUE(devices->at(1).insecure);
  EXPECT_EQ(devices->at(2).identity, "") << "no certificate can hold such a name";
  EXPECT_THAT(problem("devices:\n  - {name: a, address: \"h:1\", identity: \"a b\"}\n"),
              testing::AllOf(HasSubstr("inventory.yaml:2"), HasSubstr("identity")));
}

TEST_F(InventoryTest, AnAddressMayBeAServiceOfDns) {
  const auto devices =
      read("devices:\n  - {name: a, address: \"srv:_pareto-edge._tcp.example.org\"}\n");
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->at(0).address, "srv:_pareto-edge._tcp.example.org");
  EXPECT_THAT(problem("devices:\n  - {name: a, address: \"srv:example.org\"}\n"),
              testing::AllOf(HasSubstr("inventory.yaml:2"), HasSubstr("no service of DNS")));
}

TEST_F(InventoryTest, EveryProblemHasItsPlace) {
  EXPECT_THAT(problem("devices:\n  - name: a\n    adress: b:1\n"),
              testing::AllOf(HasSubstr("inventory.yaml:3"), HasSubstr("address")));
  EXPECT_THAT(problem("devices:\n  - name: a\n    address: nowhere\n"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(problem("devices:\n  - name: a\n    address: h:7x\n"), HasSubstr("HOST:PORT"));
  for (const char* address : {"::1:7070", "h:99999", "h:0", "http://h:7070", " h:7070"}) {
    EXPECT_THAT(problem(fmt::format("devices:\n  - name: a\n    address: \"{}\"\n", address)),
                testing::AllOf(HasSubstr("inventory.yaml:3"), HasSubstr(address)))
        << address;
  }
  EXPECT_THAT(
      problem("devices:\n  - {name: a, address: \"h:1\"}\n  - {name: a, address: \"h:2\"}\n"),
      HasSubstr("another device"));
  EXPECT_THAT(problem("devices: []\n"), HasSubstr("no device"));
  EXPECT_THAT(problem("devices:\n  - address: h:1\n"), HasSubstr("name"));
  EXPECT_EQ(read_inventory(folder_.path() / "absent.yaml").error().code, ErrorCode::kNotFound);
}

TEST(DataAddress, AnUnspecifiedHostIsTheOneThatWasReached) {
  EXPECT_EQ(resolve_data_address("0.0.0.0:7071", "10.0.0.2:7070"), "10.0.0.2:7071");
  EXPECT_EQ(resolve_data_address("[::]:7071", "pi.local:7070"), "pi.local:7071");
  EXPECT_EQ(resolve_data_address("10.1.1.1:7071", "10.0.0.2:7070"), "10.1.1.1:7071");
}

}  // namespace
}  // namespace pareto::cluster
