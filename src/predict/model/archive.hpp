#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "predict/grammar/grammar_file.hpp"
#include "predict/grammar/predictor.hpp"

namespace halcyon::predict {

/// Numbers in a file, little endian wherever they are written: as many bytes as their type has.
template <class Number>
using stored_number = std::conditional_t<
    sizeof(Number) == 1, uint8_t,
    std::conditional_t<sizeof(Number) == 2, uint16_t, std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>>>;

/// Writes the fields of a model one after the other; without a place to write to it only counts them. What a type
/// consists of is said once, for this and for archive_reader, by its each_field().
class archive_writer {
  public:
    static constexpr bool reads = false;

    archive_writer() = default;
    explicit archive_writer(std::span<unsigned char> out) : out_(out) {}

    template <class Number>
    void number(const Number& value) {
        static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
        const auto stored = std::bit_cast<stored_number<Number>>(value);
        for (size_t i = 0; i < sizeof stored; ++i) byte(static_cast<unsigned char>(stored >> 8 * i));
    }
    void text(std::string_view value) {
        number(static_cast<uint32_t>(value.size()));
        for (const char c : value) byte(static_cast<unsigned char>(c));
    }
    void grammar(const predictor& of) {
        const uint64_t bytes = saved_bytes(of.model());
        number(bytes);
        if (out_.empty()) {
            at_ += bytes;
            return;
        }
        good_ = good_ && bytes <= out_.size() - at_ && save(of.model(), out_.subspan(at_, bytes));
        at_ += good_ ? bytes : 0;
    }

    [[nodiscard]] size_t written() const { return at_; }
    [[nodiscard]] bool good() const { return good_; }

  private:
    void byte(unsigned char value) {
        if (!out_.empty()) {
            good_ = good_ && at_ < out_.size();
            if (!good_) return;
            out_[at_] = value;
        }
        ++at_;
    }

    std::span<unsigned char> out_;
    size_t at_ = 0;
    bool good_ = true;
};

/// Reads the fields back, taking every byte for possibly wrong. After the first failure it reads zeros.
class archive_reader {
  public:
    static constexpr bool reads = true;

    explicit archive_reader(std::span<const unsigned char> bytes) : bytes_(bytes) {}

    template <class Number>
    void number(Number& value) {
        static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
        stored_number<Number> stored = 0;
        if (has(sizeof stored)) {
            for (size_t i = 0; i < sizeof stored; ++i)
                stored = static_cast<stored_number<Number>>(stored | static_cast<stored_number<Number>>(bytes_[at_ + i])
                                                                         << 8 * i);
            at_ += sizeof stored;
        }
        if constexpr (std::is_same_v<Number, bool>) {
            if (stored > 1) fail("a truth value that is neither 0 nor 1");
            value = stored == 1;
        } else {
            value = std::bit_cast<Number>(stored);
            if constexpr (std::is_floating_point_v<Number>) {
                if (!(std::abs(value) <= largest)) fail("a number beyond all sizes and times");
            } else if constexpr (std::is_same_v<Number, int64_t>) {
                if (value > farthest || value < -farthest) fail("a number beyond all sizes and times");
            }
        }
    }
    /// A view into the bytes.
    [[nodiscard]] std::string_view text(size_t longest) {
        uint32_t length = 0;
        number(length);
        if (length > longest) fail("a text that is too long");
        if (!has(length)) return {};
        at_ += length;
        return {reinterpret_cast<const char*>(bytes_.data()) + at_ - length, length};
    }
    /// Into a predictor that has learnt nothing; its terminals must be below `most`.
    void grammar(predictor& into, uint32_t most) {
        if (!grammar_that_fits(into, most)) fail(too_large);
    }
    /// False, and the predictor is of no use, when its bound is too small: reading goes on behind the grammar.
    [[nodiscard]] bool grammar_that_fits(predictor& into, uint32_t most) {
        uint64_t bytes = 0;
        number(bytes);
        if (!has(bytes)) return true;
        const auto wrong = load(into.model(), bytes_.subspan(at_, bytes), "");
        if (wrong && wrong->kind == error_kind::usage) return at_ += bytes, false;
        if (wrong) return fail("a damaged grammar"), true;
        for (symbol_index s = 0; s < into.model().symbols_end(); ++s) {
            const symbol_entry& entry = into.model().symbol(s);
            if (entry.kind == symbol_kind::terminal && entry.value >= most) fail("a grammar of unknown symbols");
        }
        at_ += bytes;
        into.begin_again();
        return true;
    }

    void skip_grammar() {
        uint64_t bytes = 0;
        number(bytes);
        if (has(bytes)) at_ += bytes;
    }

    /// Bytes and nanoseconds: sums of them do not overflow. Squares of differences are the largest numbers.
    static constexpr int64_t farthest = int64_t{1} << 55;
    static constexpr double largest = 1e36;
    /// As many as one thread makes in a thousand years.
    static constexpr uint64_t most_calls = uint64_t{1} << 55;

    /// What tables take their memory from.
    void use(calls::memory_bound& memory) { memory_ = &memory; }
    [[nodiscard]] calls::memory_bound& memory() const { return *memory_; }

    /// The first failure stays.
    void fail(const char* what) {
        if (what_ == nullptr) what_ = what, where_ = at_;
    }
    [[nodiscard]] bool good() const { return what_ == nullptr; }
    [[nodiscard]] const char* what() const { return what_; }
    [[nodiscard]] size_t where() const { return where_; }
    [[nodiscard]] size_t at() const { return at_; }

    static constexpr const char* too_large = "more than the bound of memory allows; raise it";

  private:
    [[nodiscard]] bool has(uint64_t bytes) {
        if (good() && bytes > bytes_.size() - at_) fail("the end of the file");
        return good();
    }

    std::span<const unsigned char> bytes_;
    size_t at_ = 0;
    calls::memory_bound* memory_ = nullptr;
    const char* what_ = nullptr;
    size_t where_ = 0;
};

}  // namespace halcyon::predict
