#include "logfs/api/reported.hpp"

#include <cerrno>
#include <cstdint>

#include "halcyon/logfs.h"

namespace halcyon::logfs::api {
namespace {

thread_local std::string last_message;
thread_local int32_t last_number = 0;

}  // namespace

int report(const failure& why) {
    last_number = why.system_errno;
    last_message = why.message;
    return static_cast<int>(why.kind);
}

int report_no_memory() {
    last_number = ENOMEM;
    last_message = "out of memory";  // short enough to need none
    return HALCYON_ERROR_SYSTEM;
}

result<void> all_given(const char* call, std::initializer_list<argument> arguments) {
    for (const argument& a : arguments)
        if (a.value == nullptr)
            return failure{error_kind::usage, std::string(call) + ": " + a.name + " is a null pointer", EINVAL};
    return {};
}

}  // namespace halcyon::logfs::api

extern "C" {

const char* halcyon_logfs_error_message(void) {
    return halcyon::logfs::api::last_message.c_str();
}

int32_t halcyon_logfs_error_number(void) {
    return halcyon::logfs::api::last_number;
}
}
