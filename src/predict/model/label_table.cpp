#include "predict/model/label_table.hpp"

namespace halcyon::predict {

bool label_table::name(subject of, uint32_t number, std::string_view text) {
    if (find(of, number) != nothing) return true;
    text = text.substr(0, longest);
    const label added{of, number, text_.size(), static_cast<uint32_t>(text.size())};
    for (const char c : text) {
        if (!text_.push(c)) return false;
    }
    const uint32_t index = labels_.size();
    if (index >= nothing || !labels_.push(added)) return false;
    if (found_.insert(hash_of(of, number), index,
                      [&](uint32_t i) { return hash_of(labels_[i].of, labels_[i].number); }))
        return true;
    static_cast<void>(labels_.pop());
    return false;
}

std::string_view label_table::of(subject of, uint32_t number) const {
    const uint32_t found = find(of, number);
    return found == nothing ? std::string_view() : text_of(labels_[found]);
}

}  // namespace halcyon::predict
