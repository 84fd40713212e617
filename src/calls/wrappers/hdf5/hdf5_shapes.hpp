#pragma once

#include <cerrno>
#include <cstdio>

#include "calls/state/given_memory.hpp"
#include "calls/state/known_files.hpp"
#include "calls/wrappers/hdf5/hdf5_library.hpp"

/// How the arguments and results of HDF5 functions fill in a record; table_hdf5.def says which function has which
/// shape.
namespace halcyon::calls::hdf5::shapes {

constexpr int64_t use_defaults = 0;  // H5P_DEFAULT
constexpr int64_t all_of_it = 0;     // H5S_ALL

inline bool set_file(call_record& record, library& in, int64_t id) {
    record.file = file_of(in, id);
    return record.file != known_files::ignored;
}

struct on_object {
    template <class... Rest>
    static bool before(call_record& record, library& in, int64_t id, const Rest&...) {
        return set_file(record, in, id);
    }
    template <class... Rest>
    static void after(const call_record&, library&, int64_t, const Rest&...) {}
};

/// Returns a new identifier, of something in the same file.
struct opens : on_object {
    template <class... Rest>
    static void after(const call_record& record, library& in, int64_t result, const Rest&...) {
        remember(in, result, record.file);
    }
};

struct closes : on_object {
    static bool before(call_record& record, library& in, int64_t id) {
        const bool wanted = set_file(record, in, id);
        forget(in, id);
        return wanted;
    }
};

inline void after_open(call_record& record, library& in, int64_t result, const char* path, int64_t access) {
    if (result < 0) {
        record.file = known_files::of_path(AT_FDCWD, path);
        return;
    }
    record.file = known_files::of_opened_path(path);
    remember(in, result, record.file);
    uint64_t threshold = 0;
    uint64_t alignment = 1;
    if (access == use_defaults || in.H5Pget_alignment == nullptr) return;
    const own_work ours;
    if (in.H5Pget_alignment(access, &threshold, &alignment) < 0 || alignment <= 1) return;
    char text[64];
    snprintf(text, sizeof text, "%llu from %llu bytes on", static_cast<unsigned long long>(alignment),
             static_cast<unsigned long long>(threshold));
    this_process().layers.each([&](layer& l) { l.on_fact(record.file, "hdf5.alignment", text); });
}

struct open_file {
    static bool before(call_record& record, library&, const char*, unsigned flags, int64_t) {
        record.argument = flags;
        return true;
    }
    static void after(call_record& record, library& in, int64_t result, const char* path, unsigned, int64_t access) {
        after_open(record, in, result, path, access);
    }
};

struct create_file {
    static bool before(call_record& record, library&, const char*, unsigned flags, int64_t, int64_t) {
        record.argument = flags;
        return true;
    }
    static void after(call_record& record, library& in, int64_t result, const char* path, unsigned, int64_t,
                      int64_t access) {
        after_open(record, in, result, path, access);
    }
};

/// Tells the shape of a dataset's chunks: hdf5.chunk.<name>, "64 64 32".
inline void tell_of_chunks(const call_record& record, library& in, const char* name, int64_t creation) {
    constexpr int chunked = 2;  // H5D_CHUNKED
    constexpr int most = 32;    // H5S_MAX_RANK
    if (creation == use_defaults || in.H5Pget_layout == nullptr || in.H5Pget_chunk == nullptr) return;
    const own_work ours;
    uint64_t dimensions[most];
    if (in.H5Pget_layout(creation) != chunked) return;
    const int rank = in.H5Pget_chunk(creation, most, dimensions);
    char key[280];
    char text[most * 21 + 1] = "";
    char* end = text;
    for (int i = 0; i < rank && i < most; ++i) {
        end += snprintf(end, 22, i == 0 ? "%llu" : " %llu", static_cast<unsigned long long>(dimensions[i]));
    }
    snprintf(key, sizeof key, "hdf5.chunk.%s", name == nullptr ? "" : name);
    this_process().layers.each([&](layer& l) { l.on_fact(record.file, key, text); });
}

struct create_dataset : opens {
    static void after(const call_record& record, library& in, int64_t result, int64_t, const char* name, int64_t,
                      int64_t, int64_t, int64_t creation, int64_t) {
        opens::after(record, in, result);
        if (result >= 0) tell_of_chunks(record, in, name, creation);
    }
};

struct create_dataset_1 : opens {
    static void after(const call_record& record, library& in, int64_t result, int64_t, const char* name, int64_t,
                      int64_t, int64_t creation) {
        opens::after(record, in, result);
        if (result >= 0) tell_of_chunks(record, in, name, creation);
    }
};

// --- data. Questions with a wrong identifier make HDF5 complain, so an object's type is looked at first. ---

inline bool is_a(library& in, int64_t id, int type) {
    return in.H5Iget_type != nullptr && in.H5Iget_type(id) == type;
}
constexpr int type_identifier = 3;  // H5I_DATATYPE
constexpr int space_identifier = 4;
constexpr int dataset_identifier = 5;

/// Elements of everything that a dataset or an attribute holds; none where that is not known.
inline int64_t elements_of(library& in, int64_t (*space_of)(int64_t), int64_t id) {
    const int64_t space = space_of == nullptr ? -1 : space_of(id);
    if (space < 0) return none;
    const int64_t count = in.H5Sget_simple_extent_npoints(space);
    in.H5Sclose(space);
    return count < 0 ? none : count;
}

inline int64_t bytes_of(library& in, int64_t dataset, int64_t type, int64_t memory, int64_t selection) {
    const own_work ours;
    if (!is_a(in, type, type_identifier)) return none;
    int64_t count = none;
    if (is_a(in, memory, space_identifier))
        count = in.H5Sget_select_npoints(memory);
    else if (is_a(in, selection, space_identifier))
        count = in.H5Sget_select_npoints(selection);
    else if (memory == all_of_it && selection == all_of_it && is_a(in, dataset, dataset_identifier)) {
        count = elements_of(in, in.H5Dget_space, dataset);
    }
    return count < 0 ? none : count * static_cast<int64_t>(in.H5Tget_size(type));
}

inline int64_t is_collective(library& in, int64_t properties) {
    int mode = 0;
    if (properties == use_defaults || in.H5Pget_dxpl_mpio == nullptr) return 0;
    const own_work ours;
    return in.H5Pget_dxpl_mpio(properties, &mode) >= 0 && mode == 1 ? 1 : 0;
}

/// HDF5 moves all or fails.
struct transfer {
    template <class Data>
    static bool before(call_record& record, library& in, int64_t dataset, int64_t type, int64_t memory,
                       int64_t selection, int64_t properties, Data) {
        record.bytes = bytes_of(in, dataset, type, memory, selection);
        record.argument = is_collective(in, properties);
        return set_file(record, in, dataset);
    }
    template <class... Rest>
    static void after(call_record& record, library&, int64_t result, const Rest&...) {
        if (result >= 0) record.moved = record.bytes;
    }
};

struct transfers : transfer {
    template <class Data>
    static bool before(call_record& record, library& in, size_t count, const int64_t* datasets, const int64_t* types,
                       const int64_t* memories, const int64_t* selections, int64_t properties, Data) {
        for (const int64_t* list : {datasets, types, memories, selections}) {
            if (!given::is_readable(list, count * sizeof *list)) return false;  // HDF5 refuses null
        }
        record.bytes = 0;
        for (size_t i = 0; i < count; ++i) {
            const int64_t bytes = bytes_of(in, datasets[i], types[i], memories[i], selections[i]);
            record.bytes = bytes == none || record.bytes == none ? none : record.bytes + bytes;
        }
        record.argument = is_collective(in, properties);
        return count == 0 || set_file(record, in, datasets[0]);
    }
};

struct write_chunk : transfer {
    static bool before(call_record& record, library& in, int64_t dataset, int64_t, uint32_t, const uint64_t*,
                       size_t bytes, const void*) {
        record.bytes = static_cast<int64_t>(bytes);
        return set_file(record, in, dataset);
    }
};

struct attribute_transfer : transfer {
    template <class Data>
    static bool before(call_record& record, library& in, int64_t attribute, int64_t type, Data) {
        {
            const own_work ours;
            const bool are_valid = is_a(in, type, type_identifier) && in.H5Iget_type(attribute) > 0;
            const int64_t count = are_valid ? elements_of(in, in.H5Aget_space, attribute) : none;
            if (count != none) record.bytes = count * static_cast<int64_t>(in.H5Tget_size(type));
        }
        return set_file(record, in, attribute);
    }
};

}  // namespace halcyon::calls::hdf5::shapes
