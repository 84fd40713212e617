#pragma once

#include <cstdint>
#include <string_view>

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/index_table.hpp"

namespace halcyon::predict {

/// What the numbers of a model mean to people: names of functions, and call stacks. Kept in a model's file.
class label_table {
  public:
    enum class subject : uint8_t { function, context };
    static constexpr size_t longest = 4096;

    explicit label_table(calls::memory_bound& memory) : labels_(memory), found_(memory), text_(memory) {}

    /// The first text that a number gets stays; longer ones are cut. False when there is no room.
    bool name(subject of, uint32_t number, std::string_view text);
    /// "" when it has none. Valid until the next name().
    [[nodiscard]] std::string_view of(subject of, uint32_t number) const;

    struct label {
        subject of;
        uint32_t number;
        uint32_t begin;
        uint32_t length;
    };
    [[nodiscard]] uint32_t size() const { return labels_.size(); }
    [[nodiscard]] const label& operator[](uint32_t i) const { return labels_[i]; }
    [[nodiscard]] std::string_view text_of(const label& one) const {
        return one.length == 0 ? std::string_view() : std::string_view(&text_[one.begin], one.length);
    }

  private:
    static uint64_t hash_of(subject of, uint32_t number) {
        return mixed(uint64_t{number} << 1 | static_cast<uint64_t>(of));
    }
    [[nodiscard]] uint32_t find(subject of, uint32_t number) const {
        return found_.find(hash_of(of, number),
                           [&](uint32_t i) { return labels_[i].of == of && labels_[i].number == number; });
    }

    calls::growing_array<label> labels_;
    index_table found_;
    calls::growing_array<char> text_;
};

}  // namespace halcyon::predict
