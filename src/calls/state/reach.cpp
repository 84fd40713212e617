#include "calls/state/reach.hpp"

#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {
namespace {

/// With the rights of the real user, for whom the kernel leaves out capabilities that end with the next program. Where
/// the effective user is another, the dynamic linker does not take us along anyway (program_file::kind::privileged).
bool may(const char* path, int what) {
    return direct::call(SYS_faccessat, AT_FDCWD, direct::address(path), what) == 0;
}

}  // namespace

bool children_can_record() {
    const char* const folder = shared_folder();
    if (*folder != '\0' && !may(folder, W_OK | X_OK)) return false;
    constexpr std::string_view preload = "LD_PRELOAD=";
    for (const char* const* entry = environment_of_children(); *entry != nullptr; ++entry) {
        if (std::string_view(*entry).starts_with(preload) && !may(*entry + preload.size(), R_OK)) return false;
    }
    return true;
}

}  // namespace halcyon::calls
