#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/index_image.hpp"
#include "logfs/container/reading/index_intake.hpp"
#include "logfs/container/reading/merged_index.hpp"

namespace halcyon::logfs {

/// Where readers leave what they have merged to others of the node, and what is worth it.
struct index_sharing {
    std::string_view folder;  ///< "": nothing is shared
    /// Patterns and extents: what has fewer is merged as quickly.
    uint64_t least_entries = uint64_t{1} << 17;
    /// All that this user has in the folder.
    int64_t most_bytes = int64_t{1} << 30;
};

/// The merged index of a container that the processes of a user on a node share (directory/node_folder.hpp).
///
/// An image (index_image.hpp) says what was taken of which index dropping, and the index that this makes. A reader that
/// begins with it looks whether each of these droppings is the same file and still begins with that; what was written
/// since it takes as it would have, had it been reading all the time. An image is never changed: another one takes its
/// place, once it holds a quarter more. Where it does not fit what is there, or anything of it makes no sense, it is as
/// good as none.
class shared_index {
  public:
    shared_index(container& of, memory_source& memory, dropping_table& writers, merged_index& index,
                 index_intake& intake);

    /// Only for readers that take all that is sound, of `boot_id`; before the first reload.
    void set(const index_sharing& how, std::string_view boot_id);

    /// Before anything was taken: takes the image, if there is one. The first time.
    void begin();
    /// Behind a reload: leaves what was merged to others, if that is worth it. Nothing tells of a failure.
    void leave();
    /// What was taken is not as it was saved: nothing was taken, and no image counts.
    void reject();

    [[nodiscard]] bool is_used() const { return is_used_; }
    /// Of the image that was taken or left last; 0: none.
    [[nodiscard]] uint64_t shared_entries() const { return shared_entries_; }

  private:
    [[nodiscard]] bool take_image(int fd, int64_t bytes);
    [[nodiscard]] bool take_all(image_reader& from);
    int leave_image(uint64_t entries);
    int write_image(int fd, uint64_t entries);
    [[nodiscard]] bool is_worth_it(uint64_t entries) const;
    [[nodiscard]] bool has_been_left(node_folder& folder, const short_name& name, uint64_t entries);
    [[nodiscard]] bool identify(image_owner& out) const;
    void forget();

    container& container_;
    memory_source& memory_;
    dropping_table& writers_;
    merged_index& index_;
    index_intake& intake_;
    index_sharing how_;
    short_name boot_id_;
    uint64_t shared_entries_ = 0;
    bool has_begun_ = false;
    bool is_used_ = false;
    bool is_rejected_ = false;  // what is there
};

}  // namespace halcyon::logfs
