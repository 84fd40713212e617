// A plugin in C++: a class that is made from the host, and whose run() is called for each event.
//
//     struct largest {
//         explicit largest(const halcyon_action_host&) {}
//         void run(const halcyon_action_context& now) {
//             for (const auto& b : halcyon::blocks_of(now)) … halcyon::values<float>(b) …
//         }
//     };
//     HALCYON_PLUGIN_CLASS(largest_value, largest);
//
// The object lives until the last event has run. What its functions throw fails the run (or the start), with its text.
#pragma once

#include <cstdint>
#include <exception>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "halcyon/action.h"

namespace halcyon {

/// The blocks of the event's iteration, as references.
[[nodiscard]] inline auto blocks_of(const halcyon_action_context& now) {
    return std::span(now.blocks, now.block_count) |
           std::views::transform([](const halcyon_action_block* b) -> const halcyon_action_block& { return *b; });
}

/// The word of halcyon.yaml for an arithmetic type of C++.
template <class T>
[[nodiscard]] constexpr std::string_view type_word() {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "blocks hold numbers of up to 64 bits");
    constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    if constexpr (std::is_floating_point_v<T>) return size == 2 ? "float32" : "float64";
    constexpr std::string_view with_sign[] = {"int8", "int16", "int32", "int64"};
    constexpr std::string_view without[] = {"uint8", "uint16", "uint32", "uint64"};
    return std::is_signed_v<T> ? with_sign[size] : without[size];
}

/// The elements of a block, ghosts included. Throws where it holds another type.
template <class T>
[[nodiscard]] std::span<const T> values(const halcyon_action_block& b) {
    if (type_word<T>() != b.type)
        throw std::invalid_argument(std::string("'") + b.variable + "' holds " + b.type + ", not " +
                                    std::string(type_word<T>()));
    return {static_cast<const T*>(b.data), static_cast<size_t>(b.bytes) / sizeof(T)};
}

/// The three functions of a plugin whose state is a `Class`.
template <class Class>
struct plugin_class {
    static int init(const halcyon_action_host* host, void** state) {
        return contained(*host, [&] { *state = new Class(*host); });
    }
    static int run(void* state, const halcyon_action_context* now) {
        return contained(*now, [&] { static_cast<Class*>(state)->run(*now); });
    }
    static void finalize(void* state) { delete static_cast<Class*>(state); }

  private:
    template <class Told, class Work>
    static int contained(const Told& told, Work work) {
        try {
            work();
            return 0;
        } catch (const std::exception& thrown) {
            return told.fail(&told, thrown.what());
        } catch (...) {
            return told.fail(&told, "something was thrown that is no std::exception");
        }
    }
};

}  // namespace halcyon

#define HALCYON_PLUGIN_CLASS(name, type)                                                      \
    HALCYON_PLUGIN(name, halcyon::plugin_class<type>::init, halcyon::plugin_class<type>::run, \
                   halcyon::plugin_class<type>::finalize)
