#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/fnv.hpp"

namespace halcyon::calls {

/// The directories of the kernel's to whose file systems calls on one file lead, where a backend keeps its bytes
/// elsewhere than its path says. Lies on the stack of who asks.
class data_places {
  public:
    /// What a call does there; several of them, added up.
    enum use : uint8_t { reads = 1, writes = 2, syncs = 4 };
    static constexpr size_t most = 8;

    /// `directory`: absolute, without links. What there is no room for is left out: it is as if no call led there.
    void add(std::string_view directory, unsigned uses) {
        for (size_t i = 0; i < count_; ++i) {
            if (text_of(list_[i]) != directory) continue;
            list_[i].uses |= static_cast<uint8_t>(uses);
            return;
        }
        if (count_ == most || directory.size() > sizeof text_ - used_) return;
        std::memcpy(text_ + used_, directory.data(), directory.size());
        list_[count_++] = {static_cast<uint16_t>(used_), static_cast<uint16_t>(directory.size()),
                           static_cast<uint8_t>(uses)};
        used_ += directory.size();
    }
    /// The file lies where its path says.
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// `visit(directory, uses)` for each.
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < count_; ++i) visit(text_of(list_[i]), unsigned{list_[i].uses});
    }
    /// A number for all of it, by which a change is noticed; 0: empty.
    [[nodiscard]] uint64_t sum() const {
        if (empty()) return 0;
        fnv1a all;
        each([&](std::string_view directory, unsigned uses) {
            all.add(directory);
            all.add(static_cast<unsigned char>(uses));
        });
        return all.value() | 1;
    }

  private:
    struct place {
        uint16_t at;
        uint16_t length;
        uint8_t uses;
    };
    [[nodiscard]] std::string_view text_of(const place& of) const { return {text_ + of.at, of.length}; }

    std::array<place, most> list_{};
    size_t count_ = 0;
    size_t used_ = 0;
    char text_[PATH_MAX];
};

}  // namespace halcyon::calls
