#include "base/working_directory.hpp"

#include <system_error>

namespace halcyon {

result<std::filesystem::path> working_directory() {
    std::error_code why;
    auto found = std::filesystem::current_path(why);
    if (!why) return found;
    const std::string what = why == std::errc::no_such_file_or_directory ? "is gone" : "cannot be found";
    return failure{
        error_kind::system,
        "the working directory of this process " + what + ": " + why.message() + "; start it in one that exists",
        why.value()};
}

}  // namespace halcyon
