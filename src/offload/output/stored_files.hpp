#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// One data file of a run, without the names of simulation and writer.
struct stored_file {
    int64_t iteration = 0;  ///< the first
    int32_t part = 0;
    bool of_all = false;  ///< written by all servers together
    bool hidden = false;  ///< an early part that is not published yet
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy sees a comparison with 0 in what the compiler makes of it
    auto operator<=>(const stored_file&) const = default;
};

/// What a writer has stored in one directory, 16 bytes for each file: it is kept to the end of the run.
class stored_files {
  public:
    stored_files() = default;
    /// `ending`: of the store module's data files.
    stored_files(std::string simulation, std::string writer, std::string ending)
        : simulation_(std::move(simulation)), writer_(std::move(writer)), ending_(std::move(ending)) {}

    /// The writer's file of this name; nullopt: it is somebody else's, or half a file. What all servers write together
    /// is the first node's: they die together, and each file counts once.
    [[nodiscard]] std::optional<stored_file> owned(const std::string& name) const;
    void add(const std::string& name);
    /// The hidden file `name` got its name without the dot.
    void publish(const std::string& name);
    void clear() { files_.clear(); }
    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(files_.size()); }
    /// How many are not in `directory`. Failure (system): it cannot be listed, so nobody knows.
    [[nodiscard]] result<int64_t> missing_from(const std::string& directory) const;

  private:
    std::string simulation_, writer_, ending_;
    std::vector<stored_file> files_;  ///< ascending, each once
};

}  // namespace halcyon::offload
