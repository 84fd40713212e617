#include "logfs/container/reading/size_history.hpp"

#include <algorithm>
#include <span>

namespace halcyon::logfs {

bool size_history::add(const change& what) {
    const bool is_latest = changes_.empty() || is_after(what.time_ns, what.dropping, latest_);
    const bool was_settled = settled_ == changes_.size();
    if (!changes_.push(what)) return false;
    if (is_latest) latest_ = what;
    if (!was_settled || !is_latest) return true;
    size_t kept = settled_;
    while (kept > 0 && replaces(what, changes_[kept - 1])) --kept;
    changes_[kept] = what;
    changes_.cut(kept + 1);
    settled_ = kept + 1;
    return true;
}

void size_history::settle() {
    if (settled_ == changes_.size()) return;
    const auto is_before = [this](const change& a, const change& b) { return is_after(b.time_ns, b.dropping, a); };
    // What is older than all that came out of order stays where it is.
    change* const fresh = changes_.begin() + settled_;
    change* const oldest = std::min_element(fresh, changes_.end(), is_before);
    change* const from = std::lower_bound(changes_.begin(), fresh, *oldest, is_before);
    auto kept = static_cast<size_t>(from - changes_.begin());
    std::sort(from, changes_.end(), is_before);
    for (const change* each = from; each != changes_.end(); ++each) {
        while (kept > 0 && replaces(*each, changes_[kept - 1])) --kept;
        changes_[kept++] = *each;
    }
    changes_.cut(kept);
    settled_ = kept;
}

void size_history::save(image_writer& to) {
    settle();
    to.put(uint64_t{changes_.size()});
    to.put_all(std::span<const change>(changes_.all()));
}

bool size_history::load(image_reader& from, uint32_t droppings) {
    uint64_t count = 0;
    if (!from.take(count)) return false;
    for (uint64_t i = 0; i < count; ++i) {
        change each{};
        if (!from.take(each) || each.size < 0 || each.time_ns < 0 || each.dropping >= droppings || !add(each))
            return false;
    }
    return true;
}

void size_history::release() {
    changes_.release();
    settled_ = 0;
    latest_ = {};
}

}  // namespace halcyon::logfs
