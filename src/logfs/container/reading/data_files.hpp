#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/reading/dropping_table.hpp"

namespace halcyon::logfs {

/// Opens data droppings, wherever they lie (directory/staged_data.hpp).
class data_files {
  public:
    data_files(container& from, open_files& files, const dropping_table& writers)
        : container_(from), files_(files), writers_(writers) {}

    /// The descriptor of a dropping, until the next call; -errno; -ENODATA: it lies on another node, and nothing of it
    /// was brought here yet. `end`: how far it may be read.
    int get(uint32_t dropping, int64_t& end);
    /// Of a dropping that lies elsewhere: who has what is needed up to `needed`, which was not brought here. System,
    /// ENODATA.
    [[nodiscard]] failure elsewhere(uint32_t dropping, int64_t needed);

  private:
    container& container_;
    open_files& files_;
    const dropping_table& writers_;
};

}  // namespace halcyon::logfs
