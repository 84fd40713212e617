#pragma once

#include <cstdint>

#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// How often dead extents of a container were given back (tools/punch.hpp): the number in the file `punched`, 0 where
/// there is none; -errno.
int64_t read_generation(container& of);

/// Where views of a generation are locked in the marker. Byte 0 is for those who give back.
inline int64_t place_of_generation(int64_t generation) {
    return generation + 1;
}

/// Keeps the bytes that a reader's view names from being given back while it may read them.
///
/// Who gives dead extents back takes the index first, then raises the generation, then needs the exclusive lock of all
/// older ones for a moment (space/giving_back.hpp). A reader looks at the generation first, then takes the index, and
/// before it reads data it takes the shared lock of that generation, and looks whether it still is the latest. So what
/// is given back is dead in all views of younger generations, and there is no view of an older one, then or later.
/// Where a file system has no locks, or may let them hold on one node only, nothing is given back.
class held_view {
  public:
    explicit held_view(container& of) : container_(of) {}
    held_view(const held_view&) = delete;
    held_view& operator=(const held_view&) = delete;
    /// The lock goes with the last process that has the descriptor: a forked child gives nothing away.
    ~held_view();

    /// Of the process that holds it: nothing is held any more, whatever a child that was forked off has of it.
    void let_go();

    /// Before the index is taken; -errno.
    int look();
    /// All of the index was taken since: of what was read before, nothing is needed any more.
    void has_taken();

    /// Before data are read. 0: they stay; 1: the index has to be taken anew before; -errno.
    int hold();

  private:
    container& container_;
    int fd_ = -1;
    // A reader begins with a view of nothing, of generation 0.
    int64_t looked_ = 0;
    int64_t taken_ = 0;
    int64_t held_ = -1;
    bool has_no_locks_ = false;
};

}  // namespace halcyon::logfs
