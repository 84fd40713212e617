#include "offload/store/contents/compressor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/error.hpp"

namespace halcyon::offload {

compressor::compressor() = default;

compressor::~compressor() {
    if (deflater_) deflateEnd(deflater_.get());
    ZSTD_freeCCtx(zstd_);
}

size_t compressor::deflated_bound(size_t bytes) {
    // Of the stored blocks that deflate falls back to, for any level, and the gzip header and trailer.
    return bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 64;
}

std::span<const std::byte> compressor::deflate(std::span<const std::byte> bytes, int level, wrapper around,
                                               size_t most) {
    if (deflater_ && (deflater_level_ != level || deflater_wrapper_ != around)) {
        deflateEnd(deflater_.get());
        deflater_.reset();
    }
    if (!deflater_) {
        auto stream = std::make_unique<z_stream_s>();
        constexpr int window_bits = 15, gzip_instead = 16, memory_level = 8;
        const int bits = around == wrapper::gzip ? window_bits + gzip_instead : window_bits;
        if (deflateInit2(stream.get(), level, Z_DEFLATED, bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
            throw error(error_kind::internal, "zlib: no memory");
        deflater_ = std::move(stream);
        deflater_level_ = level;
        deflater_wrapper_ = around;
    } else {
        deflateReset(deflater_.get());
    }
    // Chunks are at most 1 GiB, which zlib's 32-bit counters hold.
    const std::span<std::byte> out = compressed_.take(most);
    deflater_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    deflater_->avail_in = static_cast<uInt>(bytes.size());
    deflater_->next_out = reinterpret_cast<Bytef*>(out.data());
    deflater_->avail_out = static_cast<uInt>(out.size());
    const int status = ::deflate(deflater_.get(), Z_FINISH);
    if (status == Z_STREAM_END) return out.first(out.size() - deflater_->avail_out);
    if (status == Z_OK || status == Z_BUF_ERROR) return out;
    throw error(error_kind::internal, "zlib: deflate failed with status " + std::to_string(status));
}

std::span<const std::byte> compressor::zstd(std::span<const std::byte> bytes, int level) {
    if (zstd_ == nullptr) zstd_ = ZSTD_createCCtx();
    if (zstd_ == nullptr) throw error(error_kind::internal, "zstd: no memory");
    const std::span<std::byte> out = compressed_.take(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compressCCtx(zstd_, out.data(), out.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0) throw error(error_kind::internal, std::string("zstd: ") + ZSTD_getErrorName(size));
    return out.first(size);
}

}  // namespace halcyon::offload
