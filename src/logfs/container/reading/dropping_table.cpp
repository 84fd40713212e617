#include "logfs/container/reading/dropping_table.hpp"

#include <algorithm>

#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {

uint32_t dropping_table::add(std::string_view name) {
    dropping fresh;
    fresh.name_at = static_cast<uint32_t>(names_.size());
    // Until its header is read.
    if (dropping_name parsed; parse_dropping_name(name.substr(name.rfind('/') + 1), parsed)) {
        fresh.pid = parsed.pid;
        fresh.created_ns = parsed.created_ns;
        fresh.salt = salt_of(parsed.created_ns, parsed.pid);
    }
    if (!names_.reserve(names_.size() + name.size() + 1) || !list_.reserve(list_.size() + 1)) return none;
    if (!by_name_.add(hash_of(name))) return none;
    const bool is_kept = names_.append({name.data(), name.size()}) && names_.push('\0') && list_.push(fresh);
    return is_kept ? static_cast<uint32_t>(list_.size() - 1) : none;
}

uint32_t dropping_table::find(std::string_view name) const {
    return by_name_.find(hash_of(name), [&](uint32_t number) { return name == name_of(number); });
}

short_name dropping_table::data_name_of(uint32_t number) const {
    const std::string_view name = name_of(number);
    return is_plfs_data_path(name) ? short_name(name) : with_kind(name, dropping_kind::data);
}

bool dropping_table::note_clock(dropping& of, std::string_view host, std::string_view boot_id) {
    // Without a boot id two hosts of one name cannot be told from each other: their clocks are as good as different.
    const uint64_t other = boot_id.empty() ? static_cast<uint64_t>(of.created_ns) * 2 + 1 : hash_of(boot_id);
    const uint64_t hash = hash_of(host) * 31 + other;
    of.clock = by_clock_.find(hash, [&](uint32_t number) { return clocks_[number] == hash; });
    if (of.clock != hashed_numbers::none) return true;
    if (!clocks_.reserve(clocks_.size() + 1) || !by_clock_.add(hash)) return false;
    of.clock = static_cast<uint32_t>(clocks_.size());
    return clocks_.push(hash);
}

/// Each writer of a group says the same again.
bool dropping_table::note_epoch(uint64_t group, int64_t time_ns) {
    constexpr size_t few = 1024;
    if (group == 0) return true;
    if (epochs_.size() >= 2 * settled_epochs_ + few) settle_epochs();
    return epochs_.push({group, time_ns});
}

void dropping_table::settle_epochs() {
    if (settled_epochs_ == epochs_.size()) return;
    std::sort(epochs_.begin(), epochs_.end());
    epochs_.cut(static_cast<size_t>(std::unique(epochs_.begin(), epochs_.end()) - epochs_.begin()));
    settled_epochs_ = epochs_.size();
}

size_t dropping_table::epochs_before(uint64_t group, int64_t time_ns) const {
    return static_cast<size_t>(std::lower_bound(epochs_.begin(), epochs_.end(), epoch{group, time_ns}) -
                               epochs_.begin());
}

/// The higher rank, the younger writer; by name where all else is the same, so that every reader sees the same.
bool dropping_table::is_later_of_same_time(uint32_t a, uint32_t b) const {
    const dropping& one = list_[a];
    const dropping& other = list_[b];
    if (one.rank != other.rank) return one.rank > other.rank;
    if (one.created_ns != other.created_ns) return one.created_ns > other.created_ns;
    return std::string_view(name_of(a)) > std::string_view(name_of(b));
}

int64_t dropping_table::clock_doubt_ns(uint32_t a, uint32_t b) const {
    if (list_[a].clock == list_[b].clock) return 0;
    return std::min(list_[a].clock_bound_ns, longest_doubt_ns) + std::min(list_[b].clock_bound_ns, longest_doubt_ns);
}

bool dropping_table::has_epoch_between(uint32_t a, int64_t time_a, uint32_t b, int64_t time_b) const {
    const uint64_t group = list_[a].group;
    if (group == 0 || group != list_[b].group) return false;
    return epochs_before(group, time_a) != epochs_before(group, time_b);
}

}  // namespace halcyon::logfs
