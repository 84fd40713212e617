#pragma once

#include <cstdint>
#include <string_view>

#include "base/shared_layout.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/run.hpp"

/// The files of a container that PLFS 2.x wrote (Bent et al., PLFS: a checkpoint filesystem for parallel applications,
/// SC 2009), with byte-range indexes. Nothing there has a check sum.
namespace halcyon::logfs {

/// Marks the directory; its mode and owner are the logical file's.
inline constexpr std::string_view plfs_access_name = ".plfsaccess113918400";
/// Of a file whose name says the version: `version-tag.2.5.0-dat.…`. We write the second name, of the last release.
inline constexpr std::string_view plfs_version_prefix = "version-tag.";
inline constexpr std::string_view plfs_version_name = "version-tag.2.5.0-dat.20091019-chk.0";
/// A directory of empty files, one for each writer that has closed: `<last offset>.<bytes>.<s>.<us>.<host>`.
inline constexpr std::string_view plfs_meta_name = "meta";
/// There: of each writer that has not closed.
inline constexpr std::string_view plfs_open_prefix = "open.";

/// As it lies in an index dropping, little-endian.
struct plfs_record {
    int64_t logical;
    int64_t physical;
    uint64_t length;  ///< 0: the file reaches to `logical`
    double begin_s;   ///< since 1970
    double end_s;     ///< where extents overlap, the later one counts
    int32_t id;       ///< of the process whose data dropping holds the bytes
    uint32_t padding;
};
static_assert(has_copied_layout<plfs_record, 48, 8>());

/// `dropping.index.<created>.<host>.<pid>`, where `created` is seconds with six digits behind a point.
struct plfs_name {
    std::string_view created;
    std::string_view host;
    int64_t pid = 0;
    int64_t created_ns = 0;
    dropping_kind kind = dropping_kind::index;
};

/// False for any other file.
bool parse_plfs_name(std::string_view name, plfs_name& out);

/// The name of a dropping of a process in a host directory, which may be of any path; the rest of it is as that of the
/// one beside it. False: it is too long.
bool plfs_path(std::string_view directory, dropping_kind kind, const plfs_name& beside, int32_t pid, short_name& out);

/// Whether the name is that of a data dropping of PLFS, in whatever directory.
bool is_plfs_data_path(std::string_view path);

/// What a record says: an extent, or, where its length is 0, how far the file reaches. False: it makes no sense.
bool decode_plfs_record(const plfs_record& from, run& out);

/// The last offset that the name of a file in `meta` says. False: it says none.
bool parse_plfs_meta(std::string_view name, int64_t& last_offset);

/// The first number of the version that a name says. False: it is no such name.
bool parse_plfs_version(std::string_view name, uint32_t& major);

}  // namespace halcyon::logfs
