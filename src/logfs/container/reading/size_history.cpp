#include "logfs/container/reading/size_history.hpp"

#include <algorithm>

namespace halcyon::logfs {

bool size_history::add(const change& what) {
    size_t place = changes_.size();
    while (place > 0 && !is_after(what.time_ns, what.dropping, changes_[place - 1])) --place;
    if (place < changes_.size() && replaces(changes_[place], what)) return true;
    size_t kept = place;
    while (kept > 0 && replaces(what, changes_[kept - 1])) --kept;
    if (kept < place) {
        changes_[kept] = what;
        std::copy(changes_.begin() + place, changes_.end(), changes_.begin() + kept + 1);
        changes_.cut(changes_.size() - (place - kept - 1));
        return true;
    }
    if (!changes_.push(what)) return false;
    std::rotate(changes_.begin() + place, changes_.end() - 1, changes_.end());
    return true;
}

}  // namespace halcyon::logfs
