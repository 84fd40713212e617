#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "offload/store/store.hpp"

/// What a data file says beside its values, in any format, whether one server writes it or all fill it together.
namespace halcyon::offload {

/// Attributes as values.
struct attribute {
    using any_value = std::variant<int64_t, std::vector<int64_t>, std::string, std::vector<std::string>>;

    attribute(const char* called, any_value is) noexcept : name(called), value(std::move(is)) {}
    attribute(attribute&&) noexcept = default;
    attribute& operator=(attribute&&) noexcept = default;
    /// Not as the variant copies itself: that of libstdc++ 12 is destroyed as if it were whole when there is no memory.
    attribute(const attribute& other) : name(other.name), value(int64_t{0}) {
        std::visit(
            [this](const auto& known) {
                auto copy = known;
                value = std::move(copy);
            },
            other.value);
    }
    attribute& operator=(const attribute& other) { return *this = attribute(other); }
    ~attribute() = default;

    const char* name;
    any_value value;
};
using attribute_list = std::vector<attribute>;

[[nodiscard]] attribute_list attributes_of(const file_job& job);
/// Of a variable's group.
[[nodiscard]] attribute_list attributes_of(const model& m, const variable& v);
[[nodiscard]] attribute_list attributes_of(const mesh& m);
/// Of a dataset: who wrote its blocks (-1: several), where they lie, which of its rows hold one.
[[nodiscard]] attribute_list attributes_of_dataset(int32_t rank, int32_t block, const block_shape& shape,
                                                   const std::vector<int64_t>& present, int64_t rows);

/// The missing blocks of a file.
struct missing_table {
    std::vector<int64_t> rows;           ///< (n, 4): iteration, rank, block, reason
    std::vector<std::string> variables;  ///< their names
};
[[nodiscard]] missing_table missing_of(const file_job& job);
/// `columns` of the table's rows, and the `reasons` that the last of them counts.
[[nodiscard]] attribute_list attributes_of_missing();

}  // namespace halcyon::offload
