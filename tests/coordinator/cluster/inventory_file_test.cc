#include "coordinator/discovery/inventory_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "coordinator/cluster/cluster.h"
#include "core/base/file.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

class InventoryFile : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_ = TemporaryFolder::create("inventory-file").value();
  const std::vector<discovery::FoundDevice> devices_{
      {"pi-1", "pi-1", "raspberrypi.local", 7070, {"192.168.1.21", "2001:db8::1"}, "0.1.0"},
      {"x: \"y\" # {küche} 'z' \\", "", "pi.local", 7000, {"2001:db8::2"}, ""}};
};

TEST_F(InventoryFile, IsReadAsItWasFound) {
  ASSERT_TRUE(discovery::write_inventory(path("inventory.yaml"), devices_));
  const auto read = read_inventory(path("inventory.yaml"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).name, "pi-1");
  EXPECT_EQ(read->at(0).address, "192.168.1.21:7070");
  EXPECT_EQ(read->at(1).name, devices_[1].name);
  EXPECT_EQ(read->at(1).address, "[2001:db8::2]:7000");
  EXPECT_THAT(discovery::inventory_text(devices_),
              HasSubstr("\n    # raspberrypi.local, version 0.1.0\n"));
}

TEST_F(InventoryFile, IsNeverWrittenOverAnother) {
  std::ofstream(path("mine.yaml")) << "mine";
  std::filesystem::create_symlink(path("nothing"), path("link.yaml"));
  for (const char* name : {"mine.yaml", "link.yaml"}) {
    EXPECT_EQ(discovery::check_new_file(path(name)).error().code, ErrorCode::kInvalidArgument);
    const auto written = discovery::write_inventory(path(name), devices_);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr(name));
  }
  EXPECT_EQ(read_file(path("mine.yaml")).value(), "mine");
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
  EXPECT_EQ(discovery::write_inventory(path("absent/inventory.yaml"), devices_).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::cluster
