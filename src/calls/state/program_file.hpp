#pragma once

#include <cstddef>

namespace halcyon::calls {

/// What a program that is about to be started says of itself in its file.
struct program_file {
    enum class kind {
        absent,      ///< there is none, or it may not be run: starting it will fail
        recorded,    ///< the dynamic linker starts it, which loads us first; or it was linked with us
        static_,     ///< has no dynamic linker
        privileged,  ///< changes its user, group or capabilities: the dynamic linker does not take us along
        foreign,     ///< is of another architecture than we are: so is its dynamic linker
        unknown,     ///< cannot be read, or is of no format that we know
    };
    static constexpr size_t longest_path = 1024;  ///< of longer ones nothing is known; stacks may be small

    kind what = kind::absent;
    char path[longest_path];  ///< absolute where it was searched for

    /// Looks at `name` as execve does or, with `searches`, as execvp does: along PATH, and past scripts to their
    /// interpreter. Neither allocates nor makes calls that could be interposed; safe between vfork and exec.
    void look(const char* name, bool searches);
};

}  // namespace halcyon::calls
