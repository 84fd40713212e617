#include "predict/tables/recent_files.hpp"

#include <algorithm>

namespace halcyon::predict {

uint32_t recent_files::rank_of(uint32_t id, uint32_t name_class) const {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < count_; ++i) {
        const file& one = files_[order_[i]];
        if (one.id == id) return rank;
        if (one.name_class == name_class) ++rank;
    }
    return none;
}

const recent_files::file* recent_files::at(uint32_t rank, uint32_t name_class) const {
    for (uint32_t i = 0; i < count_; ++i) {
        const file& one = files_[order_[i]];
        if (one.name_class == name_class && rank-- == 0) return &one;
    }
    return nullptr;
}

const recent_files::file* recent_files::find(uint32_t id) const {
    for (uint32_t i = 0; i < count_; ++i) {
        if (files_[order_[i]].id == id) return &files_[order_[i]];
    }
    return nullptr;
}

recent_files::file& recent_files::use(uint32_t id, uint32_t name_class) {
    uint32_t at = 0;
    while (at < count_ && files_[order_[at]].id != id) ++at;
    if (at == count_) {
        if (count_ < most) order_[count_] = static_cast<uint8_t>(count_), ++count_;
        at = count_ - 1;
        files_[order_[at]] = {.id = id, .name_class = name_class};
    }
    const uint8_t place = order_[at];
    std::copy_backward(order_.begin(), order_.begin() + at, order_.begin() + at + 1);
    order_[0] = place;
    return files_[place];
}

recent_files::touched& recent_files::touched_of(uint32_t id) {
    for (touched& one : touched_) {
        if (one.file == id) return one;
    }
    touched& fresh = touched_[next_touched_++ % most_touched];
    fresh.file = id;
    fresh.extents.clear();
    return fresh;
}

void recent_files::open(file& opened, bool empties) {
    opened.start = -1;
    opened.end = 0;
    opened.end_before = -1;
    if (empties) opened.highest = 0;
    touched_of(opened.id).extents.clear();
}

void recent_files::access(file& accessed, int64_t begin, int64_t end) {
    accessed.end_before = accessed.start < 0 ? -1 : accessed.end;
    accessed.start = begin;
    accessed.end = end;
    accessed.highest = std::max(accessed.highest, end);
    touched_of(accessed.id).extents.add(begin, end);
}

void recent_files::add_places(offset_places& places, const file& of) const {
    const auto set = [&](offset_base base, int64_t at) { places.at[static_cast<uint32_t>(base)] = at; };
    set(offset_base::end, of.end);
    set(offset_base::start, of.start);
    set(offset_base::highest, of.highest);
    set(offset_base::end_before, of.end_before);
    for (const touched& one : touched_) {
        if (one.file == of.id) set(offset_base::hole, one.extents.next_hole(of.end));
    }
}

}  // namespace halcyon::predict
