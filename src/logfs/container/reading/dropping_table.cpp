#include "logfs/container/reading/dropping_table.hpp"

#include <algorithm>
#include <cstring>

namespace halcyon::logfs {

uint64_t dropping_table::hash_of(std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    return hash ^ (hash >> 32);
}

/// Where its number is, or would be.
size_t dropping_table::place_of(std::string_view name) const {
    const size_t mask = places_.size() - 1;
    size_t place = hash_of(name) & mask;
    while (places_[place] != 0 && name != name_of(places_[place] - 1)) place = (place + 1) & mask;
    return place;
}

bool dropping_table::grow_places() {
    const size_t wanted = places_.empty() ? 1024 : places_.size() * 2;
    if (!places_.resize(wanted)) return false;
    std::memset(places_.data(), 0, wanted * sizeof(uint32_t));
    for (uint32_t i = 0; i < list_.size(); ++i) places_[place_of(name_of(i))] = i + 1;
    return true;
}

uint32_t dropping_table::add(std::string_view name) {
    if ((list_.size() + 1) * 2 > places_.size() && !grow_places()) return none;
    dropping fresh;
    fresh.name_at = static_cast<uint32_t>(names_.size());
    if (!names_.append({name.data(), name.size()}) || !names_.push('\0') || !list_.push(fresh)) return none;
    const auto number = static_cast<uint32_t>(list_.size() - 1);
    places_[place_of(name)] = number + 1;
    return number;
}

uint32_t dropping_table::find(std::string_view name) const {
    if (places_.empty()) return none;
    const uint32_t found = places_[place_of(name)];
    return found == 0 ? none : found - 1;
}

bool dropping_table::note_clock(dropping& of, std::string_view host, std::string_view boot_id) {
    // Without a boot id two hosts of one name cannot be told from each other: their clocks are as good as different.
    const uint64_t other = boot_id.empty() ? static_cast<uint64_t>(of.created_ns) * 2 + 1 : hash_of(boot_id);
    const uint64_t hash = hash_of(host) * 31 + other;
    for (size_t i = 0; i < clocks_.size(); ++i) {
        if (clocks_[i] != hash) continue;
        of.clock = static_cast<uint32_t>(i);
        return true;
    }
    of.clock = static_cast<uint32_t>(clocks_.size());
    return clocks_.push(hash);
}

bool dropping_table::note_epoch(uint64_t group, int64_t time_ns) {
    if (group == 0) return true;
    const epoch raised{group, time_ns};
    const auto is_before = [](const epoch& a, const epoch& b) {
        return a.group != b.group ? a.group < b.group : a.time_ns < b.time_ns;
    };
    const auto place =
        static_cast<size_t>(std::lower_bound(epochs_.begin(), epochs_.end(), raised, is_before) - epochs_.begin());
    if (place < epochs_.size() && epochs_[place].group == group && epochs_[place].time_ns == time_ns) return true;
    if (!epochs_.push(raised)) return false;
    std::rotate(epochs_.begin() + place, epochs_.end() - 1, epochs_.end());
    return true;
}

size_t dropping_table::epochs_before(uint64_t group, int64_t time_ns) const {
    const auto is_before = [](const epoch& a, const epoch& b) {
        return a.group != b.group ? a.group < b.group : a.time_ns < b.time_ns;
    };
    return static_cast<size_t>(std::lower_bound(epochs_.begin(), epochs_.end(), epoch{group, time_ns}, is_before) -
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
    return list_[a].clock == list_[b].clock ? 0 : list_[a].clock_bound_ns + list_[b].clock_bound_ns;
}

bool dropping_table::has_epoch_between(uint32_t a, int64_t time_a, uint32_t b, int64_t time_b) const {
    const uint64_t group = list_[a].group;
    if (group == 0 || group != list_[b].group) return false;
    return epochs_before(group, time_a) != epochs_before(group, time_b);
}

}  // namespace halcyon::logfs
