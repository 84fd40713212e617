#pragma once

#include <cerrno>
#include <cstdint>
#include <type_traits>

namespace halcyon::calls::backends {

/// What a function returns for what a backend did: -errno becomes errno and the function's own mark of failure.
template <class Result, class Answer>
Result as_result(Answer answer) {
    if constexpr (std::is_void_v<Result>) {
        answer();
    } else {
        const auto told = answer();
        if constexpr (!std::is_same_v<decltype(told), const int64_t>) {
            return told;
        } else {
            if (told >= 0 || told < -4095) return static_cast<Result>(told);
            errno = static_cast<int>(-told);
            return static_cast<Result>(-1);
        }
    }
}

}  // namespace halcyon::calls::backends
