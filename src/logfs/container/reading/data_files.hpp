#pragma once

#include <bitset>
#include <cstdint>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/reading/dropping_table.hpp"

namespace halcyon::logfs {

/// Opens data droppings, wherever they lie (directory/staged_data.hpp).
class data_files {
  public:
    /// Droppings, of the first ones that a reader knows.
    using some_droppings = std::bitset<1024>;

    data_files(container& from, open_files& files, const dropping_table& writers)
        : container_(from), files_(files), writers_(writers) {}

    /// The descriptor of a dropping, until the next call; -errno; -ENODATA: it lies on another node, and nothing of it
    /// was brought here yet. `end`: how far it may be read.
    int get(uint32_t dropping, int64_t& end);
    /// Of a dropping that lies elsewhere: who has what is needed up to `needed`, which was not brought here. System,
    /// ENODATA.
    [[nodiscard]] failure elsewhere(uint32_t dropping, int64_t needed);
    /// Those that were opened in the container: where they lay on the node's disk before, they were brought.
    [[nodiscard]] const some_droppings& in_container() const { return in_container_; }
    /// The numbers of droppings are others' from now on.
    void begin_anew() { in_container_.reset(); }

  private:
    int get_whole(uint32_t dropping, const char* name);

    container& container_;
    open_files& files_;
    const dropping_table& writers_;
    some_droppings in_container_;
};

}  // namespace halcyon::logfs
