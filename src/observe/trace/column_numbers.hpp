#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "calls/record/call_record.hpp"
#include "observe/trace/adaptive_bits.hpp"
#include "observe/trace/columns.hpp"

/// Columns as numbers of as many bits as they are surprising (adaptive_bits.hpp), given the call's function and file,
/// the function before, and the column's last numbers. Slow and small: for the chunk that a process ends with.
namespace halcyon::observe::trace {

/// What is known of a number before it is: contexts in which the same numbers are likely again. Large for a stack.
class number_contexts {
  public:
    /// `side` as in number_columns::pass.
    void begin(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side);
    [[nodiscard]] std::array<uint32_t, bit_model::inputs> of(size_t i) const;
    void learn(size_t i, uint64_t value);

  private:
    struct history {
        uint32_t last;
        uint32_t before;
        uint32_t earlier;
    };
    static constexpr size_t functions = 256;

    [[nodiscard]] bool known(column other) const { return other < which_; }
    [[nodiscard]] uint32_t function(size_t i) const { return known(column::function) ? records_[i].function : 0; }

    column which_{};
    std::span<const calls::call_record> records_;
    std::span<const uint64_t> side_;
    history all_{};
    std::array<history, functions> of_function_{};
};

/// `Coder`: bit_encoder or bit_decoder.
template <class Coder>
class number_columns {
  public:
    number_columns(Coder& coder, number_contexts& contexts) : coder_(coder), contexts_(contexts) {}

    /// Writes the column, or reads it into `values`. `side`: for mantissas their exponents, else nothing. Of `records`
    /// only members are looked at whose columns came before.
    bool pass(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side,
              std::span<uint64_t> values);

  private:
    Coder& coder_;
    number_contexts& contexts_;
};

}  // namespace halcyon::observe::trace
