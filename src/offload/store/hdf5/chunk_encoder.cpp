#include "offload/store/hdf5/chunk_encoder.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "offload/store/hdf5/fletcher32.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/transform/bitround.hpp"
#include "offload/transform/half.hpp"
#include "offload/transform/shuffle.hpp"

namespace halcyon::offload::hdf5 {
namespace {

constexpr std::align_val_t alignment{64};

template <class T>
std::span<const T> as(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::span<T> as(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

void scratch::free_bytes::operator()(std::byte* p) const {
    ::operator delete(p, alignment);
}

std::span<std::byte> scratch::take(size_t bytes) {
    if (bytes > capacity_) {
        memory_.reset();
        capacity_ = 0;
        memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
        capacity_ = bytes;
    }
    return {memory_.get(), bytes};
}

encoding encoding::of(const variable& v, scalar_type type, bool idle, bool checksum) {
    encoding how;
    how.type = type;
    if (is_floating(type)) {
        how.precision = v.precision;
        how.significant_bits = v.significant_bits;
    }
    how.method = v.compression;
    if (v.compression == compression::when_idle) how.method = idle ? compression::gzip : compression::none;
    how.level = how.method == compression::gzip ? std::clamp(v.compression_level, 1, 9)
                                                : std::clamp(v.compression_level, 1, ZSTD_maxCLevel());
    how.checksum = checksum;
    return how;
}

encoding encoding::uncompressed(const variable& v, scalar_type type) {
    encoding how = of(v, type, false, false);
    how.method = compression::none;
    return how;
}

size_t encoding::stored_element_bytes() const {
    return precision == precision::half ? 2 : static_cast<size_t>(size_of(type));
}

bool encoding::shuffles() const {
    return method != compression::none && stored_element_bytes() > 1;
}

chunk_encoder::chunk_encoder() = default;

chunk_encoder::~chunk_encoder() {
    if (deflater_) deflateEnd(deflater_.get());
    ZSTD_freeCCtx(zstd_);
}

encoded_chunk chunk_encoder::encode(std::span<const std::byte> values, const encoding& how) {
    if (how.as_is()) return {values, 0};
    const auto begin = std::chrono::steady_clock::now();
    encoded_chunk chunk{reduce(values, how), 0};
    const unsigned compressor = how.shuffles() ? 1 : 0;
    if (how.method != compression::none) {
        std::span<const std::byte> input = chunk.bytes;
        if (how.shuffles()) {
            const std::span<std::byte> planes = shuffled_.take(input.size());
            shuffle(input, planes, how.stored_element_bytes());
            input = planes;
        }
        const std::span<const std::byte> packed =
            how.method == compression::gzip ? deflate(input, how.level) : zstd(input, how.level);
        if (packed.size() < chunk.bytes.size()) {
            chunk.bytes = packed;
        } else {
            // Stored as it is: neither the compressor nor the shuffle in front of it is undone by readers.
            chunk.filter_mask = (1U << compressor) | (how.shuffles() ? 1U : 0U);
        }
    }
    if (how.checksum) {
        const uint32_t sum = fletcher32(chunk.bytes);
        // The checksum follows the bytes; they move into the buffer that is not theirs.
        scratch& target = chunk.bytes.data() == compressed_.take(0).data() ? shuffled_ : compressed_;
        const std::span<std::byte> sealed = target.take(chunk.bytes.size() + 4);
        std::memcpy(sealed.data(), chunk.bytes.data(), chunk.bytes.size());
        for (size_t i = 0; i < 4; ++i) sealed[chunk.bytes.size() + i] = static_cast<std::byte>(sum >> (8 * i));
        chunk.bytes = sealed;
    }
    busy_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
    return chunk;
}

std::span<const std::byte> chunk_encoder::reduce(std::span<const std::byte> values, const encoding& how) {
    const bool narrow = how.type == scalar_type::float32;
    if (how.precision == precision::half) {
        const std::span<std::byte> out = reduced_.take(values.size() / static_cast<size_t>(size_of(how.type)) * 2);
        overflows_ +=
            narrow ? to_half(as<float>(values), as<uint16_t>(out)) : to_half(as<double>(values), as<uint16_t>(out));
        return out;
    }
    if (how.precision == precision::bitround) {
        const std::span<std::byte> out = reduced_.take(values.size());
        if (narrow) {
            bitround(as<float>(values), as<float>(out), how.significant_bits);
        } else {
            bitround(as<double>(values), as<double>(out), how.significant_bits);
        }
        return out;
    }
    return values;
}

std::span<const std::byte> chunk_encoder::deflate(std::span<const std::byte> bytes, int level) {
    if (deflater_ && deflater_level_ != level) {
        deflateEnd(deflater_.get());
        deflater_.reset();
    }
    if (!deflater_) {
        auto stream = std::make_unique<z_stream_s>();
        if (deflateInit(stream.get(), level) != Z_OK) throw error(error_kind::internal, "zlib: no memory");
        deflater_ = std::move(stream);
        deflater_level_ = level;
    } else {
        deflateReset(deflater_.get());
    }
    // A result that is no smaller than the input is not wanted, so there is no need for room for it; chunks are at
    // most 1 GiB, which zlib's 32-bit counters hold.
    const std::span<std::byte> out = compressed_.take(bytes.size());
    deflater_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    deflater_->avail_in = static_cast<uInt>(bytes.size());
    deflater_->next_out = reinterpret_cast<Bytef*>(out.data());
    deflater_->avail_out = static_cast<uInt>(out.size());
    const int status = ::deflate(deflater_.get(), Z_FINISH);
    if (status == Z_STREAM_END) return out.first(out.size() - deflater_->avail_out);
    if (status == Z_OK || status == Z_BUF_ERROR) return out;
    throw error(error_kind::internal, "zlib: deflate failed with status " + std::to_string(status));
}

std::span<const std::byte> chunk_encoder::zstd(std::span<const std::byte> bytes, int level) {
    if (zstd_ == nullptr) zstd_ = ZSTD_createCCtx();
    if (zstd_ == nullptr) throw error(error_kind::internal, "zstd: no memory");
    const std::span<std::byte> out = compressed_.take(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compressCCtx(zstd_, out.data(), out.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0) throw error(error_kind::internal, std::string("zstd: ") + ZSTD_getErrorName(size));
    return out.first(size);
}

}  // namespace halcyon::offload::hdf5
