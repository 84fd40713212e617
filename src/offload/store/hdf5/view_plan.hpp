#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "offload/store/hdf5/iteration_progress.hpp"
#include "offload/store/hdf5/published_file.hpp"

namespace halcyon::offload::hdf5 {

/// One row of one dataset of one file, and the time step at which the view shows it.
struct row_source {
    const published_file* file = nullptr;
    const stored_domain* domain = nullptr;
    int64_t row = 0;
    int64_t time = 0;  ///< index into the view's iterations; 0 for time-invariant variables
};

/// A variable over all files: its rows in order of (domain, time), each once; a later part replaces an earlier one.
struct gathered_variable {
    stored_variable description;  ///< of its newest file; `domains` is empty
    bool consistent = true;       ///< all files agree on type, place and time dependence
    std::vector<row_source> rows;
};

/// What the files of a run hold for the view.
struct gathered_run {
    std::vector<int64_t> iterations;  ///< shown, ascending
    std::map<std::string, gathered_variable> variables;
    std::map<std::string, stored_mesh> meshes;
    std::vector<int64_t> incomplete_iterations;
};

/// Gathers the rows of all files that belong to published iterations. Time-invariant variables come from all files.
/// `files` must be sorted by (first iteration, part, writer), and be those that `progress` was told of.
[[nodiscard]] gathered_run gather(std::span<const std::shared_ptr<const published_file>> files,
                                  const iteration_progress& progress);

/// A box of a source dataset and the box of the view that it fills; both have the same number of elements. Row and
/// time come first; the target of a time-invariant variable has no time.
struct piece {
    std::string file, dataset;
    std::vector<int64_t> source_shape, source_start, source_count;
    std::vector<int64_t> target_start, target_count;
};

/// A dimension of the view.
struct dimension {
    enum class kind : uint8_t { plain, coordinate, number };
    std::string path;  ///< of its scale
    kind what = kind::plain;
    int64_t size = 0;
    scalar_type type = scalar_type::int64;
    std::vector<std::byte> values;  ///< of kind coordinate
    std::vector<int64_t> numbers;   ///< of kind number
    std::string unit, description;
    char axis = '\0';  ///< CF's attribute: T for time, which has no unit to be known by
};

struct view_variable {
    std::string path;
    stored_variable description;
    std::vector<int64_t> shape;      ///< time first when it varies in time
    std::vector<size_t> dimensions;  ///< indices into view_plan::dimensions, one per entry of `shape`
    std::vector<piece> pieces;
    std::string coordinates;    ///< names of auxiliary coordinates, separated by blanks
    bool gaps = false;          ///< somewhere no block was found
    bool placed_whole = false;  ///< its shape is that of the whole: meshes apply
};

struct view_plan {
    std::vector<int64_t> iterations, incomplete_iterations;
    std::vector<dimension> dimensions;  ///< 0 is time
    std::vector<view_variable> variables;
    std::map<std::string, stored_mesh> meshes;
    std::vector<std::string> not_shown;     ///< variables (or domains of one) that are no array; they stay in the files
    std::vector<std::string> mesh_remarks;  ///< a sentence for each variable that cannot be drawn on its mesh
    std::map<std::string, size_t> coordinate_dimensions;  ///< name of a coordinate variable → its dimension
};

/// Reads a one-dimensional, time-invariant variable into one array of its own type.
using coordinate_reader = std::function<std::vector<std::byte>(const view_variable&)>;

/// Decides how each variable is shown, and names the dimensions.
[[nodiscard]] view_plan plan_view(const gathered_run& run, const coordinate_reader& read);

}  // namespace halcyon::offload::hdf5
