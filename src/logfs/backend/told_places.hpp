#pragma once

#include <cstdint>
#include <string_view>

#include "calls/record/data_places.hpp"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs {

/// To which file systems the bytes of an open container go and come from, as layers were told it: its path says where
/// its names are, no more. Data go to the node's disk (staged), to a backend of the container, or into it; from where
/// they come, depends on who has written.
class told_places {
  public:
    struct settings {
        std::string_view stage;     ///< writer_options::stage
        std::string_view backends;  ///< container::place_on()
        bool syncs_writes;          ///< what is written is on the device when the call returns
    };
    /// Of an open container.
    void say(log_file& of, const settings& how, calls::data_places& out);
    /// Of one that has to be opened anew, at this path: as far as the names in it tell. `host_directory`: that of this
    /// process, if it writes.
    void say_of_path(const char* path, uint32_t host_directory, const settings& how, calls::data_places& out);
    /// Since then somebody has begun to write, or goes on writing elsewhere, or what lay on the node's disk was found
    /// in the container.
    [[nodiscard]] bool may_have_changed(log_file& of) const {
        return is_told_ && (!(known_of(of) == known_) || (has_staged_ && was_brought(of)));
    }

  private:
    struct known {
        uint32_t writers = 0;
        bool has_writer = false;
        bool is_staged = false;

        friend bool operator==(const known&, const known&) = default;
    };
    static known known_of(log_file& of) {
        return {of.reading()->writers().size(), of.writing() && of.writing()->is_open(), of.is_staged()};
    }

    [[nodiscard]] bool was_brought(log_file& of) const { return (staged_ & of.reading()->read_in_container()).any(); }

    bool is_told_ = false;
    bool has_staged_ = false;
    known known_;
    data_files::some_droppings staged_;  // of others and of this process, as it was told
};

}  // namespace halcyon::logfs
