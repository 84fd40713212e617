#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"
#include "logfs/container/reading/head_reader.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {

/// What all but one of the writers of this node wrote to a container, durable or not: those of other processes, whether
/// they go on, have ended or were killed, and those that this process has closed. A sync of the file is one of theirs,
/// too, as fsync() of a plain file is one of what the page cache has of it, whoever wrote that.
///
/// Whoever syncs for a writer says so in the head of its index (synced_state, synced_claim), so that the next one need
/// not. A writer that has ended with all of it durable is not looked at again.
class other_writers {
  public:
    explicit other_writers(container& of);

    /// All that they have written by now is on the device; but for `own`, an index dropping. All are tried before a
    /// failure of one of them is returned.
    result<void> sync(const writer_identity& here, std::string_view own);
    /// Nothing is known any more.
    void forget();

  private:
    /// A directory with droppings, or the container itself: listed again when its time has changed.
    struct folder {
        int64_t changed_ns;
        uint32_t number;
        bool is_settled;  ///< another change would have given it another time
    };
    static constexpr uint32_t container_itself = UINT32_MAX;
    struct known_writer {
        int64_t pid;
        int64_t created_ns;
        uint32_t host_directory;
        bool is_done;
    };
    struct durability;

    int look_for_new(const writer_identity& here);
    int list(folder& of, const writer_identity& here);
    int watch(uint32_t host_directory);
    int note(uint32_t host_directory, std::string_view name, const writer_identity& here);
    result<void> sync_one(known_writer& of, const short_name& index, const writer_identity& here);
    int look(int fd, known_writer& of, const writer_identity& here, durability& out);
    int sync_data(const short_name& index, const writer_identity& here, const durability& how);
    int sync_staged(const short_name& index, const writer_identity& here, const durability& how);

    container& container_;
    memory_source memory_;
    page_array<folder> folders_{memory_};
    page_array<known_writer> writers_{memory_};
    hashed_numbers numbers_{memory_};  // of writers_, by name
    head_reader head_;
};

}  // namespace halcyon::logfs
