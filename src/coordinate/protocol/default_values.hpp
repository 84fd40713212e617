#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {

/// Visitor of fields that lists their numbers. Of texts and lists, which are empty where nothing is told, none.
class field_numbers {
  public:
    template <class Integer, class Least, class Most>
    void whole(const char*, Integer value, Least, Most, need) {
        listed_.push_back(static_cast<double>(value));
    }
    void number(const char*, double value, double, double, need) { listed_.push_back(value); }
    void text(const char*, std::string_view, size_t, size_t, need) {}
    template <class Enumerator>
    void choice(const char*, Enumerator value, std::span<const std::string_view>, need) {
        listed_.push_back(static_cast<double>(value));
    }
    void wholes(const char*, const std::vector<uint32_t>&, size_t) {}
    void numbers(const char*, const std::vector<double>&, size_t) {}
    void texts(const char*, const std::vector<std::string>&, size_t) {}

    [[nodiscard]] const std::vector<double>& listed() const { return listed_; }

  private:
    std::vector<double> listed_;
};

/// The numbers of a message of which nothing is told, in the order of its fields.
template <class Message>
std::span<const double> default_numbers() {
    static const field_numbers numbers = [] {
        field_numbers all;
        const Message untold;
        each_field(all, untold);
        return all;
    }();
    return numbers.listed();
}

}  // namespace halcyon::coordinate
