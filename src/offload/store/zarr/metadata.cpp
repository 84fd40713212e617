#include "offload/store/zarr/metadata.hpp"

#include <bit>

#include "base/rapidjson.hpp"
#include "offload/store/contents/fill_value.hpp"

namespace halcyon::offload::zarr {
namespace {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

// Of all word orders the machine's own is the one that needs no copy.
constexpr const char* endian = std::endian::native == std::endian::little ? "little" : "big";

void text(json_writer& w, const std::string& value) {
    w.String(value.c_str(), static_cast<rapidjson::SizeType>(value.size()));
}

void put(json_writer& w, int64_t value) {
    w.Int64(value);
}
void put(json_writer& w, uint64_t value) {
    w.Uint64(value);
}
void put(json_writer& w, const std::string& value) {
    text(w, value);
}
template <class T>
void put(json_writer& w, const std::vector<T>& values) {
    w.StartArray();
    for (const T& value : values) put(w, value);
    w.EndArray();
}

void put(json_writer& w, const attribute_list& attributes) {
    w.StartObject();
    for (const attribute& a : attributes) {
        w.Key(a.name);
        std::visit([&w](const auto& value) { put(w, value); }, a.value);
    }
    w.EndObject();
}

void begin_node(json_writer& w, const char* type) {
    w.StartObject();
    w.Key("zarr_format");
    w.Int(3);
    w.Key("node_type");
    w.String(type);
}

/// `{"name": …, "configuration": {key: value}}`
template <class Value>
void put_extension(json_writer& w, const char* name, const char* key, const Value& value) {
    w.StartObject();
    w.Key("name");
    w.String(name);
    w.Key("configuration");
    w.StartObject();
    w.Key(key);
    put(w, value);
    w.EndObject();
    w.EndObject();
}

void put_codecs(json_writer& w, const encoding& how) {
    w.StartArray();
    put_extension(w, "bytes", "endian", std::string(endian));
    if (how.method == compression::gzip) put_extension(w, "gzip", "level", int64_t{how.level});
    if (how.method == compression::zstd) {
        w.StartObject();
        w.Key("name");
        w.String("zstd");
        w.Key("configuration");
        w.StartObject();
        w.Key("level");
        w.Int(how.level);
        w.Key("checksum");
        w.Bool(false);
        w.EndObject();
        w.EndObject();
    }
    if (how.checksum) {
        w.StartObject();
        w.Key("name");
        w.String("crc32c");
        w.EndObject();
    }
    w.EndArray();
}

template <class T>
T value_of(const std::vector<std::byte>& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

void put_fill_value(json_writer& w, scalar_type type) {
    const std::vector<std::byte> fill = fill_value(type);
    switch (type) {
        case scalar_type::int8:
            return put(w, int64_t{value_of<int8_t>(fill)});
        case scalar_type::int16:
            return put(w, int64_t{value_of<int16_t>(fill)});
        case scalar_type::int32:
            return put(w, int64_t{value_of<int32_t>(fill)});
        case scalar_type::int64:
            return put(w, value_of<int64_t>(fill));
        case scalar_type::uint8:
            return put(w, uint64_t{value_of<uint8_t>(fill)});
        case scalar_type::uint16:
            return put(w, uint64_t{value_of<uint16_t>(fill)});
        case scalar_type::uint32:
            return put(w, uint64_t{value_of<uint32_t>(fill)});
        case scalar_type::uint64:
            return put(w, value_of<uint64_t>(fill));
        case scalar_type::float32:
        case scalar_type::float64:
            return text(w, "NaN");
    }
}

std::string text_of(const rapidjson::StringBuffer& out) {
    return {out.GetString(), out.GetSize()};
}

}  // namespace

std::string group_metadata(const attribute_list& attributes) {
    rapidjson::StringBuffer out;
    json_writer w(out);
    begin_node(w, "group");
    w.Key("attributes");
    put(w, attributes);
    w.EndObject();
    return text_of(out);
}

std::string group_metadata(const std::vector<mesh>& meshes) {
    rapidjson::StringBuffer out;
    json_writer w(out);
    begin_node(w, "group");
    w.Key("attributes");
    w.StartObject();
    w.Key("meshes");
    w.StartArray();
    for (const mesh& m : meshes) put(w, attributes_of(m));
    w.EndArray();
    w.EndObject();
    w.EndObject();
    return text_of(out);
}

std::string array_metadata(const array_description& array) {
    rapidjson::StringBuffer out;
    json_writer w(out);
    begin_node(w, "array");
    w.Key("shape");
    put(w, array.shape);
    w.Key("data_type");
    text(w, array.how.precision == precision::half ? "float16" : std::string(name_of(array.how.type)));
    w.Key("chunk_grid");
    put_extension(w, "regular", "chunk_shape", array.chunk);
    w.Key("chunk_key_encoding");
    put_extension(w, "default", "separator", std::string("."));
    w.Key("fill_value");
    put_fill_value(w, array.how.type);
    w.Key("codecs");
    put_codecs(w, array.how);
    w.Key("attributes");
    put(w, array.attributes);
    w.Key("dimension_names");
    put(w, array.dimension_names);
    w.EndObject();
    return text_of(out);
}

std::string chunk_name(const std::vector<uint64_t>& origin, const std::vector<uint64_t>& chunk) {
    std::string name = "c";
    for (size_t d = 0; d < origin.size(); ++d) name += "." + std::to_string(origin[d] / chunk[d]);
    return name;
}

}  // namespace halcyon::offload::zarr
