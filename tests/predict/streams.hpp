#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace halcyon::tests {

using stream = std::vector<uint32_t>;
using randomness = std::mt19937_64;

inline uint32_t below(randomness& random, size_t limit) {
    return static_cast<uint32_t>(random() % limit);
}

inline stream letters(const std::string& text) {
    return {text.begin(), text.end()};
}

inline void add(stream& to, const stream& what, size_t times = 1) {
    for (; times > 0; --times) to.insert(to.end(), what.begin(), what.end());
}

inline stream uniform(size_t length, uint32_t symbols, randomness& random) {
    stream all(length);
    for (uint32_t& s : all) s = below(random, symbols);
    return all;
}

/// Loops in loops with bodies and counts drawn at random, the same again and again with other counts.
inline stream nested_loops(size_t length, uint32_t symbols, unsigned depth, randomness& random) {
    stream all;
    const auto block = [&](const auto& self, unsigned level) -> stream {
        stream body;
        for (uint32_t parts = 1 + below(random, 3); parts > 0; --parts) {
            if (level == 0 || random() % 3 == 0) {
                body.push_back(below(random, symbols));
            } else {
                add(body, self(self, level - 1), 1 + below(random, 5));
            }
        }
        return body;
    };
    while (all.size() < length) {
        const stream one = block(block, depth);
        for (uint32_t repeats = 1 + below(random, 4); repeats > 0; --repeats) add(all, one, 1 + below(random, 9));
    }
    all.resize(length);
    return all;
}

/// a^n b a^m b … with a count that is different each time.
inline stream drifting_counts(size_t length) {
    stream all;
    for (uint32_t n = 1; all.size() < length; ++n) {
        all.insert(all.end(), n, 0);
        all.push_back(1);
    }
    all.resize(length);
    return all;
}

/// The same with a loop of two symbols as body.
inline stream drifting_loops(size_t length) {
    stream all;
    for (uint32_t n = 1; all.size() < length; ++n) {
        add(all, {0, 1}, n);
        all.push_back(2);
    }
    all.resize(length);
    return all;
}

inline stream fibonacci_word(size_t length) {
    stream shorter{1};
    stream longer{0};
    while (longer.size() < length) {
        stream next = longer;
        add(next, shorter);
        shorter = std::exchange(longer, std::move(next));
    }
    longer.resize(length);
    return longer;
}

inline stream thue_morse(size_t length) {
    stream all(length);
    for (size_t i = 0; i < length; ++i) all[i] = static_cast<uint32_t>(__builtin_parityll(i));
    return all;
}

/// Each word of `order` bits stands in it once (prefer-one construction).
inline stream de_bruijn(unsigned order) {
    const size_t words = size_t{1} << order;
    std::vector<bool> seen(words);
    stream all(order, 0);
    seen[0] = true;
    for (size_t word = 0;;) {
        const size_t one = (word << 1 | 1) & (words - 1);
        const size_t zero = word << 1 & (words - 1);
        if (seen[one] && seen[zero]) return all;
        word = seen[one] ? zero : one;
        seen[word] = true;
        all.push_back(static_cast<uint32_t>(word & 1));
    }
}

inline stream periodic_with_noise(size_t length, size_t period, uint32_t symbols, randomness& random) {
    const stream one = uniform(period, symbols, random);
    stream all(length);
    for (size_t i = 0; i < length; ++i) all[i] = random() % 50 == 0 ? below(random, symbols) : one[i % period];
    return all;
}

/// Two loops that take turns, as two files written in turn do, each a random number of steps at a time.
inline stream interleaved(size_t length, randomness& random) {
    stream all;
    for (size_t a = 0, b = 0; all.size() < length;) {
        for (uint32_t n = 1 + below(random, 3); n > 0; --n) all.push_back(static_cast<uint32_t>(a++ % 4));
        for (uint32_t n = 1 + below(random, 3); n > 0; --n) all.push_back(static_cast<uint32_t>(10 + b++ % 7));
    }
    all.resize(length);
    return all;
}

/// Pieces of what was there before, and now and then something else: rules of all depths are made and given up.
inline stream quotations(size_t length, uint32_t symbols, randomness& random) {
    stream all{0};
    while (all.size() < length) {
        const size_t from = below(random, all.size());
        const size_t count = std::min<size_t>(1 + below(random, 40), all.size() - from);
        for (size_t i = 0; i < count; ++i) all.push_back(all[from + i]);
        if (random() % 4 == 0) all.push_back(below(random, symbols));
    }
    all.resize(length);
    return all;
}

/// One of all these kinds, by its number below `kinds`.
constexpr unsigned kinds = 11;
inline stream of_kind(unsigned kind, size_t length, randomness& random) {
    switch (kind) {
        case 0:
            return uniform(length, 2, random);
        case 1:
            return uniform(length, 50, random);
        case 2:
            return nested_loops(length, 8, 3, random);
        case 3:
            return drifting_counts(length);
        case 4:
            return drifting_loops(length);
        case 5:
            return fibonacci_word(length);
        case 6:
            return thue_morse(length);
        case 7: {
            unsigned order = 1;
            while (size_t{1} << order < length) ++order;
            return de_bruijn(order);
        }
        case 8:
            return periodic_with_noise(length, 37, 9, random);
        case 9:
            return interleaved(length, random);
        default:
            return quotations(length, 6, random);
    }
}

}  // namespace halcyon::tests
