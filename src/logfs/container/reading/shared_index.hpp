#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/index_image.hpp"
#include "logfs/container/reading/index_intake.hpp"
#include "logfs/container/reading/merged_index.hpp"
#include "logfs/container/reading/merging_turn.hpp"

namespace halcyon::logfs {

/// Where readers leave what they have merged to others of the node, and what is worth it.
struct index_sharing {
    std::string_view folder;  ///< "": nothing is shared
    /// Patterns and extents: what has fewer is merged as quickly.
    uint64_t least_entries = uint64_t{1} << 17;
    /// All that this user has in the folder.
    int64_t most_bytes = int64_t{1} << 30;
    /// For another process that merges the same.
    int64_t most_wait_ns = 5'000'000'000;
};

/// The merged index of a container that the processes of a user on a node share (directory/node_folder.hpp).
///
/// An image (index_image.hpp) says what was taken of which index dropping, and the index that this makes. A reader that
/// begins with it looks whether each of these droppings is the same file and still begins with that; what was written
/// since it takes as it would have, had it been reading all the time. An image is never changed: another one takes its
/// place, once it holds a quarter more. Where it does not fit what is there, or anything of it makes no sense, it is as
/// good as none.
///
/// Where so much is to be merged that an image will be left of it, one reader of the node does that, and the others
/// that begin meanwhile wait for the image (merging_turn.hpp).
class shared_index final : private intake_watch {
  public:
    shared_index(container& of, memory_source& memory, dropping_table& writers, merged_index& index,
                 index_intake& intake);

    /// Only for readers that take all that is sound, of `boot_id`; before the first reload.
    void set(const index_sharing& how, std::string_view boot_id);

    /// Before anything was taken: takes the image, if there is one. The first time, and the first time behind rest().
    void begin();
    /// Nobody has the file any more, and all that was taken of writers of this process is published. Who opens it again
    /// may find that others have written much, and merge that with them.
    void rest() {
        has_begun_ = false;
        has_rested_ = true;
    }
    /// Behind a reload that failed: what another reader has left meanwhile was taken instead of all that this one had,
    /// and files are open under the numbers of that. Reloading goes on from there.
    [[nodiscard]] bool begins_anew();
    /// Behind a reload: leaves what was merged to others, if that is worth it. Nothing tells of a failure.
    void leave();
    /// Behind the last attempt of a reload, whether it failed or not: nobody waits for this reader any more.
    void end();
    /// What was taken is not as it was saved: nothing was taken, and no image counts.
    void reject();

    [[nodiscard]] bool is_used() const { return is_used_; }
    /// Of the image that was taken or left last; 0: none.
    [[nodiscard]] uint64_t shared_entries() const { return shared_entries_; }

  private:
    bool comes(uint64_t bytes) override;
    [[nodiscard]] bool is_left_by_another();
    [[nodiscard]] bool has_newer(node_folder& folder, const short_name& name);
    void take_what_is_there();
    [[nodiscard]] bool take_image(int fd, int64_t bytes);
    [[nodiscard]] bool take_all(image_reader& from);
    int leave_image(uint64_t entries);
    int write_image(int fd, uint64_t entries);
    [[nodiscard]] uint64_t least_more() const;
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
    merging_turn turn_;
    struct stat seen_ {};  // the image that was looked at last, taken or not
    uint64_t shared_entries_ = 0;
    uint64_t coming_bytes_ = 0;
    bool has_begun_ = false;
    bool has_rested_ = false;
    bool may_wait_ = false;
    bool begins_anew_ = false;
    bool has_left_ = false;  // or found as much
    bool is_used_ = false;
    bool is_rejected_ = false;  // what is there
};

}  // namespace halcyon::logfs
