#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "coordinate/coordinator/job.hpp"
#include "coordinate/coordinator/settings.hpp"

namespace halcyon::coordinate {

/// What each user has, sends and did wrong. Holds only users of whom there is something to remember.
class users {
  public:
    explicit users(const user_limits& limits) : limits_(limits) {}

    /// False: the user has as many as it may.
    bool connect(uint32_t user, double now_s);
    void disconnect(uint32_t user);
    bool register_application(uint32_t user);
    void remove_application(uint32_t user);
    /// False: too many lately. A message may weigh as much as several.
    bool message(uint32_t user, double weight, double now_s);

    /// An application of the user lost its turn by its own fault: those of its applications that have proven nothing
    /// yet wait `base_s` if anybody else wants the storage, twice as long the next time, and so on.
    void penalize(uint32_t user, double base_s, double now_s);
    [[nodiscard]] double barred_until_s(uint32_t user) const;
    [[nodiscard]] double barred_until_s(const job& one) const {
        return one.proven ? one.barred_until_s : std::max(one.barred_until_s, barred_until_s(one.user));
    }
    /// It waits if anybody else wants the storage.
    [[nodiscard]] bool barred(const job& one, double now_s) const { return barred_until_s(one) > now_s; }
    /// Lost a turn by its own fault lately, or has proven nothing yet and is of a user of whom that is true: nobody is
    /// patient with it.
    [[nodiscard]] bool is_on_probation(const job& one, double now_s) const;
    void forget_idle(double now_s);

  private:
    struct user {
        uint32_t connections = 0;
        uint32_t applications = 0;
        double messages = 0;  ///< that may be sent now
        double at_s = 0;      ///< when that was so
        uint32_t penalties = 0;
        double penalized_s = 0;
        double barred_until_s = 0;
    };
    user_limits limits_;
    std::map<uint32_t, user> users_;
};

/// Those that are not forgotten; they are one by one.
uint32_t penalties_left(uint32_t penalties, double penalized_s, double now_s);
/// One penalty more, and how long it bars: twice as long as the one before. Of users and of applications.
double bar_s(uint32_t& penalties, double& penalized_s, double base_s, double now_s);

}  // namespace halcyon::coordinate
