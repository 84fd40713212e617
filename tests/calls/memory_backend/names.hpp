#pragma once

#include "calls/memory_backend/space.hpp"

namespace halcyon::calls::in_memory {

/// The tree of names. All with head.lock.
class names {
  public:
    constexpr names() = default;
    void start(space& of) { space_ = &of; }

    /// What a path leads to.
    struct place {
        uint32_t directory;  ///< 0: it is the root, or ends in ".."
        uint32_t entry;      ///< 0: there is none of this name
        uint32_t inode;      ///< 0: as `entry`
        uint32_t length;
        char text[most_name + 1];
    };
    /// -ENOENT where a directory on the way is missing, -EXDEV where a link leads out of the backend.
    int resolve(const char* path, bool follow, place& out) const;

    /// `at` says the entry from then on; -ENOSPC. The target's links are the caller's.
    int add(place& at, uint32_t target) const;
    void remove(uint32_t entry) const;
    /// `entry` is where `to` says from now on, where nothing is.
    int rename(const place& from, const place& to, unsigned flags) const;

    /// Next behind a place in the directory (0: the first).
    [[nodiscard]] uint32_t next(uint32_t directory, uint64_t after) const;
    /// What stands for an entry's place.
    [[nodiscard]] uint64_t place_of(uint32_t entry) const;
    [[nodiscard]] bool is_empty(uint32_t directory) const { return inode_of(directory).first_name == 0; }
    /// Length; -ENAMETOOLONG.
    int64_t path_of(uint32_t entry, char* out, uint64_t room) const;

    /// A new inode without links; 0: no more of them.
    [[nodiscard]] uint32_t make_inode(unsigned mode) const;

  private:
    [[nodiscard]] inode& inode_of(uint32_t number) const { return space_->inodes[number]; }
    [[nodiscard]] name_entry& name_of(uint32_t number) const { return space_->names[number]; }
    [[nodiscard]] uint32_t find(uint32_t directory, const char* text, uint32_t length) const;
    [[nodiscard]] uint32_t parent_of(uint32_t directory) const;
    /// The directory right below `above` that leads down to `below`; 0: none does.
    [[nodiscard]] uint32_t step_down(uint32_t above, uint32_t below) const;
    void enter(uint32_t entry, uint32_t directory, const char* text, uint32_t length) const;
    void leave(uint32_t entry) const;
    void count_directory(uint32_t target, uint32_t from, uint32_t to) const;
    [[nodiscard]] int may_replace(const place& from, const place& to) const;

    space* space_ = nullptr;
};

}  // namespace halcyon::calls::in_memory
