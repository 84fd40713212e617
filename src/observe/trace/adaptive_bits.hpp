#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// Arithmetic coding of single bits, with probabilities that are learnt on the way: what zstd's tables cannot pay for
/// in a few hundred records or names, this earns. Several contexts each say how likely a one is, by what followed them
/// before; what they say is mixed in the logistic domain, with weights that are learnt, too (Mattern 2012, "Mixing
/// strategies in data compression"). Everything is in integers, so that all machines read what one has written.
///
/// Some 40 ns for each bit, 3 µs for each call: only for what a process ends with.
namespace halcyon::observe::trace {

/// A hash of two.
inline uint32_t hashed(uint32_t a, uint32_t b) {
    uint32_t hash = a * 0x2545F491u ^ (b + 0x9E3779B9u) * 0x85EBCA6Bu;
    hash ^= hash >> 15;
    return hash * 0xC2B2AE35u;
}

/// What followed which context. Half a MiB, in memory of its owner, which may hold anything: begin() comes first.
class bit_model {
  public:
    static constexpr size_t inputs = 6;
    static constexpr size_t weight_sets = 64;

    /// Contexts of one bit (hashes), and which weights mix them.
    struct question {
        std::array<uint32_t, inputs> contexts;
        uint32_t weights;
    };

    void begin();

    /// How likely a one is, in 1/65536: neither 0 nor 65536.
    uint32_t expect(const question& asked);
    /// What it was: after each expect.
    void learn(bool one);

  private:
    static constexpr uint32_t slot_bits = 17;
    struct slot {
        uint16_t one;   ///< probability of a one, in 1/65536
        uint16_t seen;  ///< how often, as far as that counts
    };
    std::array<slot, size_t{1} << slot_bits> slots_;
    std::array<std::array<int32_t, inputs>, weight_sets> weights_;
    std::array<slot*, inputs> asked_;
    std::array<int32_t, inputs> says_;
    uint32_t set_;
    uint32_t mixed_;
};

/// Writes bits into memory of its owner. What does not fit is left out: full() then.
class bit_encoder {
  public:
    bit_encoder(bit_model& model, std::span<unsigned char> out) : model_(model), out_(out) {}

    bool bit(bool one, const bit_model::question& asked) {
        narrow(one, model_.expect(asked));
        model_.learn(one);
        return one;
    }
    /// One of which nothing is known.
    bool noise(bool one) {
        narrow(one, 32768);
        return one;
    }
    /// Ends the writing; returns how many bytes.
    size_t end() {
        // The fewest bytes that lie between the limits, whatever zeros follow.
        put(static_cast<unsigned char>((low_ >> 24) + 1));
        return used_;
    }
    [[nodiscard]] bool full() const { return used_ > out_.size(); }

  private:
    void narrow(bool one, uint32_t probability) {
        const auto middle = low_ + static_cast<uint32_t>((uint64_t{high_ - low_} * probability) >> 16);
        (one ? high_ : low_) = one ? middle : middle + 1;
        while (((low_ ^ high_) >> 24) == 0) {
            put(static_cast<unsigned char>(high_ >> 24));
            low_ <<= 8;
            high_ = high_ << 8 | 0xFF;
        }
    }
    void put(unsigned char byte) {
        if (used_ < out_.size()) out_[used_] = byte;
        ++used_;
    }

    bit_model& model_;
    std::span<unsigned char> out_;
    size_t used_ = 0;
    uint32_t low_ = 0;
    uint32_t high_ = 0xFFFFFFFF;
};

/// Reads them again. Behind the end there are zeros: whoever reads them knows how many bits there are.
class bit_decoder {
  public:
    bit_decoder(bit_model& model, std::span<const unsigned char> in) : model_(model), in_(in) {
        for (size_t i = 0; i < ahead; ++i) code_ = code_ << 8 | next();
    }

    bool bit(bool, const bit_model::question& asked) {
        const bool one = narrow(model_.expect(asked));
        model_.learn(one);
        return one;
    }
    bool noise(bool) { return narrow(32768); }
    /// Whether what was read is just what an encoder wrote.
    [[nodiscard]] bool at_end() const { return at_ == in_.size() + ahead - 1; }

  private:
    bool narrow(uint32_t probability) {
        const auto middle = low_ + static_cast<uint32_t>((uint64_t{high_ - low_} * probability) >> 16);
        const bool one = code_ <= middle;
        (one ? high_ : low_) = one ? middle : middle + 1;
        while (((low_ ^ high_) >> 24) == 0) {
            low_ <<= 8;
            high_ = high_ << 8 | 0xFF;
            code_ = code_ << 8 | next();
        }
        return one;
    }
    uint32_t next() {
        const uint32_t byte = at_ < in_.size() ? in_[at_] : 0;
        ++at_;
        return byte;
    }

    static constexpr size_t ahead = 4;

    bit_model& model_;
    std::span<const unsigned char> in_;
    size_t at_ = 0;
    uint32_t low_ = 0;
    uint32_t high_ = 0xFFFFFFFF;
    uint32_t code_ = 0;
};

}  // namespace halcyon::observe::trace
