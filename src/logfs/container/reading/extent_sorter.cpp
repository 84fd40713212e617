#include "logfs/container/reading/extent_sorter.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace halcyon::logfs {
namespace {

bool is_in_front(const extent& a, const extent& b) {
    if (a.start != b.start) return a.start < b.start;
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.physical < b.physical;
}

}  // namespace

void extent_sorter::sort(std::span<extent> all) {
    constexpr size_t few = 128;
    constexpr size_t many = size_t{1} << 20;
    if (std::is_sorted(all.begin(), all.end(), is_in_front)) return;
    if (all.size() < few || all.size() > many || !make_keys(all) || !sorted_.resize(all.size()))
        return std::sort(all.begin(), all.end(), is_in_front);
    const uint64_t numbers = (uint64_t{1} << number_bits_) - 1;
    for (size_t i = 0; i < all.size(); ++i) sorted_[i] = all[keys_[i] & numbers];
    std::memcpy(static_cast<void*>(all.data()), sorted_.data(), all.size_bytes());
    // Numbers say nothing of those that begin at the same place.
    for (size_t begin = 0; begin < all.size();) {
        size_t end = begin + 1;
        while (end < all.size() && all[end].start == all[begin].start) ++end;
        if (end - begin > 1) std::sort(all.begin() + begin, all.begin() + end, is_in_front);
        begin = end;
    }
}

/// In order. Into about as many groups as there are extents first, so that few are left in each. False: no memory, or
/// they are too far from each other.
bool extent_sorter::make_keys(std::span<const extent> all) {
    int64_t low = INT64_MAX;
    int64_t high = 0;
    for (const extent& each : all) {
        low = std::min(low, each.start);
        high = std::max(high, each.start);
    }
    const auto width = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(high - low)));
    number_bits_ = static_cast<unsigned>(std::bit_width(all.size() - 1));
    if (width + number_bits_ > 64) return false;
    const unsigned fine = width > number_bits_ ? width - number_bits_ : 0;
    const auto group_of = [&](const extent& each) { return static_cast<size_t>(each.start - low) >> fine; };
    const size_t groups = (static_cast<size_t>(high - low) >> fine) + 1;
    if (!keys_.resize(all.size()) || !groups_.resize(groups)) return false;
    std::fill(groups_.begin(), groups_.end(), 0U);
    for (const extent& each : all) ++groups_[group_of(each)];
    uint32_t begin = 0;
    for (uint32_t& each : groups_) {
        const uint32_t count = each;
        each = begin;
        begin += count;
    }
    for (size_t i = 0; i < all.size(); ++i)
        keys_[groups_[group_of(all[i])]++] = (static_cast<uint64_t>(all[i].start - low) << number_bits_) | i;
    begin = 0;
    for (const uint32_t end : groups_) {
        if (end - begin > 1) std::sort(keys_.begin() + begin, keys_.begin() + end);
        begin = end;
    }
    return true;
}

void extent_sorter::release() {
    keys_.release();
    groups_.release();
    sorted_.release();
}

}  // namespace halcyon::logfs
