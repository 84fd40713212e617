#include "logfs/container/tools/data_parts.hpp"

#include <algorithm>
#include <numeric>

#include "logfs/container/tools/stats.hpp"

namespace halcyon::logfs {

size_t data_parts::add(uint32_t dropping, int64_t begin, int64_t end) {
    parts_.push_back({dropping, begin, end, 0, {}});
    return parts_.size() - 1;
}

result<void> data_parts::find(reader& in) {
    order_.resize(parts_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
        const part& one = parts_[a];
        const part& other = parts_[b];
        return one.dropping != other.dropping ? one.dropping < other.dropping : one.begin < other.begin;
    });
    return map(in, 0, in.size(), [&](const segment& read) {
        if (!read.is_hole()) note(read);
        return true;
    });
}

void data_parts::note(const segment& read) {
    constexpr uint64_t most_told = 8;
    const int64_t read_end = read.physical + read.length;
    auto each = std::partition_point(order_.begin(), order_.end(), [&](size_t number) {
        const part& of = parts_[number];
        return of.dropping != read.dropping ? of.dropping < read.dropping : of.end <= read.physical;
    });
    for (; each != order_.end(); ++each) {
        part& of = parts_[*each];
        if (of.dropping != read.dropping || of.begin >= read_end) return;
        if (++of.ranges > most_told) continue;
        const int64_t begin = std::max(of.begin, read.physical);
        const int64_t end = std::min(of.end, read_end);
        const int64_t start = read.start + (begin - read.physical);
        if (!of.first.empty()) of.first += ", ";
        of.first += std::to_string(start) + " to " + std::to_string(start + (end - begin));
    }
}

std::string data_parts::describe(size_t number) const {
    const part& of = parts_[number];
    if (of.ranges == 0) return "nothing of the file reads them";
    const auto told = static_cast<uint64_t>(std::count(of.first.begin(), of.first.end(), ',')) + 1;
    std::string text = "bytes " + of.first;
    if (of.ranges > told) text += " and " + std::to_string(of.ranges - told) + " more ranges";
    return text + " of the file";
}

}  // namespace halcyon::logfs
