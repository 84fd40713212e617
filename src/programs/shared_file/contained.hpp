#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"

namespace halcyon {

/// What one server does alone, between two collective calls: whatever it throws becomes a failure that begins with
/// `what`, so that the server meets the others in the next call instead of leaving them there.
template <class Work>
result<void> contained(const std::string& what, const Work& work) {
    try {
        return work();
    } catch (const error& e) {
        return e.as_failure();
    } catch (const std::bad_alloc&) {
        return system_failure(what + ": no memory", ENOMEM);
    } catch (const std::exception& e) {
        return failure{error_kind::internal, what + ": " + e.what(), 0};
    }
}

}  // namespace halcyon
