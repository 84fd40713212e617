#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>

#include "base/error.hpp"

namespace halcyon {

/// Runs `work`; whatever it throws becomes a failure that begins with `what`. For steps that must end in a result:
/// those behind the C interface, and those of one process between two collective calls, where the others wait for it.
template <class Work>
std::invoke_result_t<const Work&> contained(const std::string& what, const Work& work) noexcept {
    try {
        const std::string begin = what.empty() ? what : what + ": ";
        try {
            return work();
        } catch (const error& e) {
            return e.as_failure();
        } catch (const std::bad_alloc&) {
            if (what.empty()) throw;
            return system_failure(begin + "no memory", ENOMEM);
        } catch (const std::system_error& e) {
            return failure{error_kind::system, begin + e.what(), e.code().value()};
        } catch (const std::exception& e) {
            return failure{error_kind::internal, begin + e.what(), 0};
        } catch (...) {
            return failure{error_kind::internal, begin + "something was thrown that is no std::exception", 0};
        }
    } catch (...) {
        return failure{error_kind::system, "out of memory", ENOMEM};  // so short that the message itself needs none
    }
}

}  // namespace halcyon
