#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// Whether `name` is that of a batch system's job, or of an application in it: "slurm-12" and "slurm-12.0" are of
/// "slurm-12"; "slurm-123" is not.
bool is_of_job(std::string_view name, std::string_view job);

/// Jobs that a batch system has announced, each until it says that the job has ended. Administrators alone make them,
/// and they are no more than jobs that run: nothing else bounds them.
class reservations {
  public:
    void add(const reserve& what, double now_s);
    /// Whether it was reserved.
    bool end(std::string_view job);
    /// Of this job, or the one that it is in; nullptr: nobody has reserved it.
    [[nodiscard]] const reservation* covering(std::string_view name) const;
    /// All, by name.
    [[nodiscard]] std::vector<reservation> at(double now_s) const;

    /// What an agent says of its job's size, as far as the batch system has given it so much.
    static registration believed(registration said, const reservation* held);
    static std::string refusal(std::string_view name, const reservation& held, uint32_t claimed_by);

  private:
    std::map<std::string, reservation, std::less<>> by_job_;  ///< `since_s`: when it was made
};

}  // namespace halcyon::coordinate
