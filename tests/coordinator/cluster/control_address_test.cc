#include "coordinator/cluster/control_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"

namespace pareto::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::pair<std::string, std::string>> read(const std::string& devices) {
  const auto configs = read_devices(devices);
  EXPECT_TRUE(configs) << configs.error().message;
  std::vector<std::pair<std::string, std::string>> named;
  for (const DeviceConfig& device : configs.value())
    named.emplace_back(device.name, device.address);
  return named;
}

TEST(Devices, AreListedByTheirAddresses) {
  using Named = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(read("a:7070,[::1]:7071"), (Named{{"a", "a:7070"}, {"::1", "[::1]:7071"}}));
  EXPECT_EQ(read("h:1,h:2,b:1"), (Named{{"h:1", "h:1"}, {"h:2", "h:2"}, {"b", "b:1"}}))
      << "two of one host have their whole addresses";
  EXPECT_EQ(read("unix:/run/one.socket"), (Named{{"one.socket", "unix:/run/one.socket"}}));
}

TEST(Devices, OrAreThoseOfAFileWhateverItIsCalled) {
  const auto folder = TemporaryFolder::create("devices").value();
  const std::string file = folder.path() / "lab:2.yaml";
  ASSERT_TRUE(write_file_atomically(file, "devices: [{name: a, address: \"h:1\"}]\n"));
  EXPECT_EQ(read(file).front().first, "a");
  const auto absent = read_devices("absent.yaml");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, AllOf(HasSubstr("absent.yaml"), HasSubstr("HOST:7070")));
}

TEST(Devices, AddressesAreCheckedWhereTheyAreRead) {
  for (const auto& [devices, why] : std::vector<std::pair<std::string, std::string>>{
           {"a:7070,b:99999", "\"b:99999\" is no address"},
           {"::1:7070", "brackets"},
           {"http://a:7070", "scheme"},
           {"a:7070, b:7070", "\" b:7070\" is no address"},
           {"a:0", "has port 0"},
           {"127.0.0.1", "names no port: write 127.0.0.1:7070"},
           {"pi-1, pi-2", "names no port: write pi-1:7070,pi-2:7070"},
           {"a:7070,", "\"\" is no address"},
           {"a:7070,b", "\"b\" is no address"},
           {"srv:example.org", "no service of DNS"},
           {"a:7070,a:7070", "a:7070 is named twice"}}) {
    const auto configs = read_devices(devices);
    ASSERT_FALSE(configs) << devices;
    EXPECT_EQ(configs.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(configs.error().message, HasSubstr(why)) << devices;
  }
}

}  // namespace
}  // namespace pareto::cluster
