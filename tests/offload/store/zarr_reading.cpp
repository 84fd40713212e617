#include "zarr_reading.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "base/rapidjson.hpp"

namespace halcyon::offload::testing {
namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::byte>;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("no " + path.string());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

rapidjson::Document metadata_of(const fs::path& node) {
    rapidjson::Document read;
    read.Parse(text_of(node / "zarr.json").c_str());
    if (read.HasParseError() || read["zarr_format"].GetInt() != 3)
        throw std::runtime_error("metadata of " + node.string());
    return read;
}

/// The polynomial of RFC 3720, a bit at a time.
uint32_t crc32c_of(const std::byte* data, size_t size) {
    uint32_t sum = ~uint32_t{0};
    for (size_t i = 0; i < size; ++i) {
        sum ^= static_cast<uint32_t>(data[i]);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78U : 0U);
    }
    return ~sum;
}

bytes gunzip(const bytes& packed, size_t size) {
    bytes out(size);
    z_stream stream{};
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::runtime_error("zlib");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream, Z_FINISH);
    const bool whole = stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    if (status != Z_STREAM_END || !whole) throw std::runtime_error("not a gzip chunk of the right size");
    return out;
}

bytes decode(bytes chunk, const rapidjson::Value& codecs, size_t size) {
    for (rapidjson::SizeType i = codecs.Size(); i-- > 0;) {
        const std::string name = codecs[i]["name"].GetString();
        if (name == "crc32c") {
            uint32_t sum = 0;
            if (chunk.size() < sizeof sum) throw std::runtime_error("no checksum");
            std::memcpy(&sum, chunk.data() + chunk.size() - sizeof sum, sizeof sum);
            chunk.resize(chunk.size() - sizeof sum);
            if (sum != crc32c_of(chunk.data(), chunk.size())) throw std::runtime_error("checksum is wrong");
        } else if (name == "gzip") {
            chunk = gunzip(chunk, size);
        } else if (name == "zstd") {
            bytes out(size);
            if (ZSTD_decompress(out.data(), out.size(), chunk.data(), chunk.size()) != size)
                throw std::runtime_error("zstd");
            chunk = std::move(out);
        } else if (name != "bytes" || std::string(codecs[i]["configuration"]["endian"].GetString()) != "little") {
            throw std::runtime_error("codec " + name);
        }
    }
    if (chunk.size() != size) throw std::runtime_error("a chunk of another size");
    return chunk;
}

template <class T>
bytes element(T value) {
    bytes out(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

bytes fill_of(const std::string& type, const rapidjson::Value& fill) {
    if (type == "float16") return element(uint16_t{0x7e00});
    if (type == "float32") return element(std::numeric_limits<float>::quiet_NaN());
    if (type == "float64") return element(std::numeric_limits<double>::quiet_NaN());
    if (type == "int8") return element(static_cast<int8_t>(fill.GetInt()));
    if (type == "int16") return element(static_cast<int16_t>(fill.GetInt()));
    if (type == "int32") return element(static_cast<int32_t>(fill.GetInt()));
    if (type == "int64") return element(fill.GetInt64());
    if (type == "uint8") return element(static_cast<uint8_t>(fill.GetUint()));
    if (type == "uint16") return element(static_cast<uint16_t>(fill.GetUint()));
    if (type == "uint32") return element(static_cast<uint32_t>(fill.GetUint()));
    if (type == "uint64") return element(fill.GetUint64());
    throw std::runtime_error("data type " + type);
}

std::vector<int64_t> integers(const rapidjson::Value& list) {
    std::vector<int64_t> out;
    for (const auto& v : list.GetArray()) out.push_back(v.GetInt64());
    return out;
}

/// The place of element `index` of an array of this shape.
std::vector<int64_t> place_of(size_t index, const std::vector<int64_t>& shape) {
    std::vector<int64_t> place(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
        place[d] = static_cast<int64_t>(index) % shape[d];
        index /= static_cast<size_t>(shape[d]);
    }
    return place;
}

size_t count_of(const std::vector<int64_t>& shape) {
    size_t n = 1;
    for (const int64_t extent : shape) n *= static_cast<size_t>(extent);
    return n;
}

std::string decoded(const std::string& name) {
    std::string out;
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') {
            out += name[i];
            continue;
        }
        out += static_cast<char>(std::stoi(name.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return out;
}

void check_node_name(const std::string& name) {
    if (name.find_first_not_of('.') == std::string::npos || name.starts_with("__"))
        throw std::runtime_error("'" + name + "' is no name of a node");
}

void take_array(const fs::path& node, const std::string& variable, const std::vector<int64_t>& iterations,
                contents& all) {
    const zarr_array array = read_zarr_array(node.string());
    const int64_t domain = std::stoll(node.filename().string().substr(1));
    const std::vector<int64_t> shape(array.shape.begin() + 1, array.shape.end());
    const auto rows = static_cast<size_t>(array.shape[0]);
    const size_t row_bytes = rows == 0 ? 0 : array.bytes.size() / rows;
    std::vector<int64_t> present;
    for (size_t row = 0; row < rows; ++row) present.push_back(static_cast<int64_t>(row));
    const rapidjson::Document metadata = metadata_of(node);
    if (metadata["attributes"].HasMember("rows")) present = integers(metadata["attributes"]["rows"]);
    for (const int64_t row : present) {
        const auto* begin = array.bytes.data() + static_cast<size_t>(row) * row_bytes;
        all[{variable, domain, iterations.at(static_cast<size_t>(row))}] = {shape, {begin, begin + row_bytes}};
    }
}

void take_group(const fs::path& folder, const std::string& name, const std::vector<int64_t>& iterations,
                contents& all) {
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (!entry.is_directory()) continue;
        const std::string node = entry.path().filename().string();
        if (name.empty() && node == ".halcyon") continue;
        check_node_name(node);
        if (std::string(metadata_of(entry.path())["node_type"].GetString()) == "array")
            take_array(entry.path(), name, iterations, all);
        else
            take_group(entry.path(), (name.empty() ? "" : name + "/") + decoded(node), iterations, all);
    }
}

}  // namespace

zarr_array read_zarr_array(const std::string& path) {
    const rapidjson::Document metadata = metadata_of(path);
    zarr_array array;
    array.data_type = metadata["data_type"].GetString();
    array.shape = integers(metadata["shape"]);
    if (std::string(metadata["chunk_grid"]["name"].GetString()) != "regular") throw std::runtime_error("chunk grid");
    array.chunk = integers(metadata["chunk_grid"]["configuration"]["chunk_shape"]);
    for (const auto& name : metadata["dimension_names"].GetArray())
        array.dimension_names.emplace_back(name.GetString());
    if (array.dimension_names.size() != array.shape.size() || array.chunk.size() != array.shape.size())
        throw std::runtime_error("ranks of " + path);
    const std::string separator = metadata["chunk_key_encoding"]["configuration"]["separator"].GetString();
    const bytes fill = fill_of(array.data_type, metadata["fill_value"]);
    const size_t size = fill.size();
    std::map<std::vector<int64_t>, bytes> chunks;
    array.bytes.resize(count_of(array.shape) * size);
    for (size_t i = 0; i < count_of(array.shape); ++i) {
        const std::vector<int64_t> place = place_of(i, array.shape);
        std::vector<int64_t> grid;
        std::string key = "c";
        size_t inside = 0;
        for (size_t d = 0; d < place.size(); ++d) {
            grid.push_back(place[d] / array.chunk[d]);
            key += separator + std::to_string(grid.back());
            inside = inside * static_cast<size_t>(array.chunk[d]) + static_cast<size_t>(place[d] % array.chunk[d]);
        }
        if (!chunks.contains(grid)) {
            bytes chunk;
            if (fs::exists(path + "/" + key)) {
                const std::string text = text_of(path + "/" + key);
                chunk.resize(text.size());
                std::memcpy(chunk.data(), text.data(), text.size());
                chunk = decode(std::move(chunk), metadata["codecs"], count_of(array.chunk) * size);
            }
            chunks[grid] = std::move(chunk);
        }
        const bytes& chunk = chunks[grid];
        std::memcpy(array.bytes.data() + i * size, chunk.empty() ? fill.data() : chunk.data() + inside * size, size);
    }
    return array;
}

std::string zarr_attribute(const std::string& node, const std::string& name) {
    const rapidjson::Document metadata = metadata_of(node);
    const auto found = metadata["attributes"].FindMember(name.c_str());
    if (found == metadata["attributes"].MemberEnd()) return "";
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> writer(out);
    found->value.Accept(writer);
    return out.GetString();
}

contents read_zarr(const std::string& path) {
    if (std::string(metadata_of(path)["node_type"].GetString()) != "group") throw std::runtime_error("no group");
    const zarr_array table = read_zarr_array(path + "/.halcyon/iterations");
    std::vector<int64_t> iterations(table.bytes.size() / sizeof(int64_t));
    if (!iterations.empty()) std::memcpy(iterations.data(), table.bytes.data(), table.bytes.size());
    contents all;
    take_group(path, "", iterations, all);
    return all;
}

}  // namespace halcyon::offload::testing
