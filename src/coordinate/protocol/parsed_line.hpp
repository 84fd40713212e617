#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/rapidjson.hpp"

namespace halcyon::coordinate {

/// A line as JSON. What a usual one takes of memory lies in the object itself, which therefore stays where it is.
class parsed_line {
  public:
    /// Of anything without a zero byte.
    explicit parsed_line(std::string_view line);
    parsed_line(const parsed_line&) = delete;
    parsed_line& operator=(const parsed_line&) = delete;

    [[nodiscard]] bool is_object() const { return is_json_ && document_.IsObject(); }
    [[nodiscard]] const rapidjson::Value& value() const { return document_; }

  private:
    using pool = rapidjson::MemoryPoolAllocator<>;
    using document = rapidjson::GenericDocument<rapidjson::UTF8<>, pool, pool>;
    struct builder;

    template <unsigned more_flags>
    bool parse(char* text);

    static constexpr size_t usual_bytes = 1024;
    std::array<char, usual_bytes + 1> usual_text_;
    std::string long_text_;
    alignas(std::max_align_t) std::array<std::byte, 4 * usual_bytes> memory_;
    pool pool_{memory_.data(), memory_.size()};
    document document_{&pool_, usual_bytes, &pool_};
    bool is_json_ = false;
};

}  // namespace halcyon::coordinate
