// Plans that people hand over as files (core/plan/FORMAT.md): read whole, and checked against the
// model and the devices at hand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::cluster {

/// A plan and what people call it.
struct NamedPlan {
  std::string
      name;  ///< name of its file without ending; with its folder if several files have that name
  plan::Plan plan;
  std::optional<plan::ModelSource> source{};  ///< no value means the file does not say
};

/// Reads one plan's file. Fails: kNotFound, kPermission, kInvalidArgument naming the file.
Expected<NamedPlan> read_plan_file(const std::filesystem::path& path);

/// Reads the plans of files, and of every *.json of folders, in the order of their names. Fails: as
/// read_plan_file() does; kInvalidArgument (a folder without any, or two files of one name in
/// folders of one name).
Expected<std::vector<NamedPlan>> read_plan_files(const std::vector<std::string>& paths);

/// Makes a folder for the plans of one front, if it is not there. Fails: kInvalidArgument (it holds
/// plans already, which would be taken for some of these), and as the file system does, naming the
/// folder.
Expected<> make_plan_folder(const std::filesystem::path& folder);
/// Writes the plans as 1-after:features.7.json and so on in that folder, in an order that
/// read_plan_files keeps.
Expected<> write_plan_files(const std::filesystem::path& folder,
                            const std::vector<plan::PlanFile>& plans);

/// Returns the model's source; if the file does not say, its model, as that is by itself.
plan::ModelSource source_of(const NamedPlan& named);

/// Returns the devices that the stages name, each once.
std::vector<std::string> device_names(const std::vector<NamedPlan>& plans);
/// Returns how many devices plans name, each counted once.
std::size_t devices_named(const std::vector<NamedPlan>& plans);

/// Checks that the plan can be deployed on the cluster. It must cut that model at points where it
/// may be cut, on devices that are there, with names that are known. Fails: kInvalidArgument,
/// kNotFound with the remedy, beginning with the plan's name.
Expected<> check_plan(const NamedPlan& named, const model::Model& model, const Cluster& cluster);

}  // namespace pareto::cluster
