#pragma once

#include <string>

namespace halcyon::offload::hdf5 {

/// The names under which views are written before they are published: one for each process, as several may make the
/// same view, and none may rename the half of another. Such a name says whose it is, so that what a killed process left
/// can be removed.
class view_temporaries {
  public:
    view_temporaries(std::string directory, const std::string& simulation);

    /// Path of this process's own.
    [[nodiscard]] std::string path_of(const std::string& suffix) const;
    /// Removes the file `name` of the directory when it is such a temporary and its process is no more: one of this
    /// host that ended (if only its parent has not noticed yet), or any that has not been touched for an hour.
    void remove_if_left_over(const std::string& name) const;

  private:
    std::string directory_, begin_, own_;
};

}  // namespace halcyon::offload::hdf5
