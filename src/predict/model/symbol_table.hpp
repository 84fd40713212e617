#pragma once

#include <cstdint>

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/index_table.hpp"
#include "predict/model/observed_call.hpp"
#include "predict/tables/size_table.hpp"
#include "predict/tables/time_alone.hpp"

namespace halcyon::predict {

/// What makes calls the same: where in the program, which function, what kind of file.
struct call_site {
    uint32_t context = 0;
    uint32_t name_class = 0;  ///< of file_names
    uint32_t function = 0;
    policy::operation what = policy::operation::open;

    friend bool operator==(const call_site&, const call_site&) = default;
};

/// What is known of the calls of one site.
struct symbol_state {
    call_site site;
    uint32_t instead = 0;     ///< the symbol that stands for all classes of files of its context; 0: itself does
    uint32_t transition = 0;  ///< the one that was taken last from here; 0: none
    int64_t own_start = policy::not_known;  ///< of the last access
    int64_t own_end = policy::not_known;
    size_table sizes;
    time_alone durations;
};

/// The symbols of the main grammar: small numbers for call sites. Symbol 0 stands for all that there was no room for.
class symbol_table {
  public:
    static constexpr uint32_t overflow = 0;
    /// Class of file of the symbols that stand for all classes.
    static constexpr uint32_t any_class = UINT32_MAX;

    symbol_table(const limits& cut_off, calls::memory_bound& memory);

    /// The symbol of a site; a new one the first time. A context (with its function) that has used too many classes of
    /// files has one symbol from then on, whatever the file.
    uint32_t of(const call_site& site);
    /// The one made for just this site; `overflow`: none was.
    [[nodiscard]] uint32_t find(const call_site& site) const;
    [[nodiscard]] uint32_t size() const { return symbols_.size(); }
    /// Symbols of call sites, those that were replaced included.
    [[nodiscard]] uint32_t named() const { return size() == 0 ? 0 : size() - 1; }
    symbol_state& operator[](uint32_t symbol) { return symbols_[symbol]; }
    const symbol_state& operator[](uint32_t symbol) const { return symbols_[symbol]; }
    /// Before restore(): there will be so many symbols, with number 0. False: there is no room for them.
    [[nodiscard]] bool reserve(uint32_t most) { return symbols_.reserve(most) && sites_.reserve(most); }
    /// From a file: the next symbol is of this site; what stands for all classes has any_class. 0: no room,
    /// or it is known.
    uint32_t restore(const call_site& site);
    /// False when there was not even memory for symbol 0.
    [[nodiscard]] bool usable() const { return symbols_.size() > 0; }

  private:
    struct origin {
        uint32_t context;
        uint32_t function;
        uint32_t classes;
        uint32_t any;  // the symbol that stands for all classes; 0: none yet
    };
    static uint64_t hash_of(const call_site& site);
    static uint64_t hash_of(const origin& from);
    uint32_t add(const call_site& site);
    void replace_all(const origin& from);
    origin* origin_of(const call_site& site);

    const limits& limits_;
    calls::growing_array<symbol_state> symbols_;
    index_table sites_;
    calls::growing_array<origin> origins_;
    index_table found_origins_;
};

}  // namespace halcyon::predict
