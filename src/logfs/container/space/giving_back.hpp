#pragma once

#include <cstdint>
#include <span>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/space/dead_blocks.hpp"

namespace halcyon::logfs {

/// -errno: why dead extents of the container were not given back when that was tried last; 0.
int read_why_not_given_back(container& of);

/// Gives back what was found to be dead, so that nobody sees zeros for it. In this order:
///
/// 1. It was found in a view of the indexes, and is on the device as far as that makes it dead (see below).
/// 2. announce(): the *generation* of the container (held_view.hpp) is higher than it was then, and on the device.
///    Readers look at the generation before they take the indexes: those that see this one take all that was found.
/// 3. wait(): nobody holds a view of an older generation any more. Nobody can from now on: who begins to hold one sees
///    that it is old, and takes the indexes anew.
/// 4. punch().
///
/// A kill between any two of these leaves dead blocks where they are, or gives some of them back: the next one finds
/// them again. A crash of the node: readers then see at least what was synced, so what committed records name may only
/// be dead by committed ones. What no commit names may be lost in a crash, and may be dead by anything that other nodes
/// can see by then: an index that was synced, though its data were not.
///
/// A view may begin with indexes that others merged long ago (an index that the processes of a node share): all that
/// counts is that the generation was looked at before *all* indexes were looked at for what is new in them.
///
/// Any number of processes may do so at a time. Who finds that another has raised the generation since need not do it
/// again. Where a file system has no locks, or may let them hold on one node only (shared_locks.hpp), nothing is given
/// back.
class giving_back {
  public:
    explicit giving_back(container& of) : container_(of) {}
    giving_back(const giving_back&) = delete;
    giving_back& operator=(const giving_back&) = delete;
    ~giving_back() { end(); }

    /// 0; -EAGAIN: another process is about it at this moment; -ENOLCK: no lock would keep readers of other nodes from
    /// it; -errno. To be called again until it returns 0.
    int announce();
    /// 0: what was found before the first announce() may go; -EAGAIN, unless it `waits`: somebody may still read it.
    int wait(bool waits);
    /// Of a data dropping; -errno. How many bytes went is added to `punched_bytes`.
    int punch(const char* data_name, std::span<const byte_range> dead, int64_t& punched_bytes);
    /// For those who look at the container (read_why_not_given_back): why it did not work; 0: it did.
    void note(int why);
    /// All else concerns what is found from now on.
    void end();

  private:
    int open_marker();
    int sync_generation();
    int write_number(int64_t offset, int64_t number);

    container& container_;
    int marker_ = -1;
    int64_t found_at_ = -1;  // the generation behind which it is dead
    bool is_announced_ = false;
};

}  // namespace halcyon::logfs
