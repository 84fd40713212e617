#include "offload/store/hdf5/file_driver.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <new>

namespace halcyon::offload::hdf5 {
namespace {

/// What HDF5 carries around for us: which file an access list means.
struct driver_info {
    output_file* out = nullptr;
};

/// HDF5 wants its own struct first.
struct open_file {
    H5FD_t base{};
    output_file* out = nullptr;
    haddr_t allocated_end = 0;
};

open_file& of(H5FD_t* file) {
    return *reinterpret_cast<open_file*>(file);
}
const open_file& of(const H5FD_t* file) {
    return *reinterpret_cast<const open_file*>(file);
}

H5FD_t* open_driver(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*maxaddr*/) {
    const auto* info = static_cast<const driver_info*>(H5Pget_driver_info(access));
    if (info == nullptr || info->out == nullptr) return nullptr;
    auto* file = new (std::nothrow) open_file;
    if (file == nullptr) return nullptr;
    file->out = info->out;
    return &file->base;
}

herr_t close_driver(H5FD_t* file) {
    of(file).out->end_at(of(file).allocated_end);
    delete &of(file);
    return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
    const auto* left = of(a).out;
    const auto* right = of(b).out;
    return left == right ? 0 : (left < right ? -1 : 1);
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
#ifdef H5FD_FEAT_DEFAULT_VFD_COMPATIBLE
    *flags |= H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
#endif
    return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t /*kind*/) {
    return of(file).allocated_end;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t /*kind*/, haddr_t end) {
    of(file).allocated_end = end;
    return 0;
}

haddr_t written_end(const H5FD_t* file, H5FD_mem_t /*kind*/) {
    return of(file).out->written_end();
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*kind*/, hid_t /*transfer*/, haddr_t address, size_t size, void* buffer) {
    of(file).out->read(address, {static_cast<std::byte*>(buffer), size});
    return 0;
}

/// Never fails: see output_file.
herr_t write_bytes(H5FD_t* file, H5FD_mem_t kind, hid_t /*transfer*/, haddr_t address, size_t size,
                   const void* buffer) {
    const std::span<const std::byte> bytes{static_cast<const std::byte*>(buffer), size};
    if (kind == H5FD_MEM_DRAW) {
        of(file).out->write_data(address, bytes);
    } else {
        of(file).out->write_metadata(address, bytes);
    }
    return 0;
}

hid_t driver() {
    static const H5FD_class_t functions = [] {
        H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 0)
        c.version = H5FD_CLASS_VERSION;
        c.value = static_cast<H5FD_class_value_t>(600);
#endif
        c.name = "halcyon";
        c.maxaddr = static_cast<haddr_t>(INT64_MAX);
        c.fc_degree = H5F_CLOSE_STRONG;
        c.fapl_size = sizeof(driver_info);
        c.open = open_driver;
        c.close = close_driver;
        c.cmp = compare;
        c.query = query;
        c.get_eoa = allocated_end;
        c.set_eoa = set_allocated_end;
        c.get_eof = written_end;
        c.read = read_bytes;
        c.write = write_bytes;
        const H5FD_mem_t one_map[] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(one_map), std::end(one_map), c.fl_map);
        return c;
    }();
    static const hid_t id = check(H5FDregister(&functions), "register the file driver");
    return id;
}

}  // namespace

file_handle create_file(output_file& out, const std::string& name, size_t metadata_bytes) {
    const list_handle access{check(H5Pcreate(H5P_FILE_ACCESS), "file access list")};
    const driver_info info{&out};
    check(H5Pset_driver(access.get(), driver(), &info), "set the file driver");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "set the format version");
    check(H5Pset_meta_block_size(access.get(), std::max<size_t>(metadata_bytes, 4096)), "set the metadata block");
    // Large chunks begin at a page, so that the kernel copies whole pages.
    check(H5Pset_alignment(access.get(), 16384, 4096), "set the alignment");
    const list_handle creation{check(H5Pcreate(H5P_FILE_CREATE), "file creation list")};
    check(H5Pset_obj_track_times(creation.get(), false), "switch off time stamps");
    return file_handle{check(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), name + ": create")};
}

}  // namespace halcyon::offload::hdf5
