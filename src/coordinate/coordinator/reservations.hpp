#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// Whether `name` is that of a batch system's job, or of an application in it: "slurm-12" and "slurm-12.0" are of
/// "slurm-12"; "slurm-123" is not.
bool is_of_job(std::string_view name, std::string_view job);

/// Jobs that a batch system has announced, each until it says that the job has ended, or has said nothing of it for
/// very long. Administrators alone make them, and they are no more than jobs that run: nothing else bounds them.
class reservations {
  public:
    void add(const reserve& what, double now_s);
    /// One of at(), of a coordinator before.
    void restore(reservation one, double now_s);
    /// Whether it was reserved.
    bool end(std::string_view job);
    /// Of which the batch system should have told the end: made `after_s` ago, and `is_used(reservation)` says no.
    /// Where it says yes, the time begins anew. Returns how many there were.
    template <class IsUsed>
    uint64_t expire(double now_s, double after_s, IsUsed is_used) {
        uint64_t expired = 0;
        for (auto at = by_job_.begin(); at != by_job_.end();) {
            kept& one = at->second;
            const bool is_due = now_s - one.used_s > after_s;
            const bool is_over = is_due && !is_used(one.made);
            if (is_due) one.used_s = now_s;
            at = is_over ? by_job_.erase(at) : std::next(at);
            expired += is_over ? 1 : 0;
        }
        return expired;
    }
    /// Of this job, or the one that it is in; nullptr: nobody has reserved it.
    [[nodiscard]] const reservation* covering(std::string_view name) const;
    /// All, by name.
    /// `since_s`: how long ago each was made.
    [[nodiscard]] std::vector<reservation> at(double now_s) const;

    /// What an agent says of its job's size, as far as the batch system has given it so much.
    static registration believed(registration said, const reservation* held);
    static std::string refusal(std::string_view name, const reservation& held, uint32_t claimed_by);

  private:
    struct kept {
        reservation made;  ///< `since_s`: when it was made
        double used_s = 0;
    };
    std::map<std::string, kept, std::less<>> by_job_;
};

}  // namespace halcyon::coordinate
