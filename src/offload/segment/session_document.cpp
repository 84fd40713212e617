#include "offload/segment/session_document.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/rapidjson.hpp"

namespace halcyon::offload {

std::string session_document::to_text() const {
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> w(out);
    const auto text = [&](const char* key, const std::string& value) {
        w.Key(key);
        w.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    };
    const auto number = [&](const char* key, uint64_t value) {
        w.Key(key);
        w.Uint64(value);
    };
    w.StartObject();
    text("session", session);
    text("run", run);
    text("configuration", configuration);
    text("configuration_name", configuration_name);
    text("directory", directory);
    text("writer", writer);
    number("node", node);
    number("nodes", nodes);
    number("ranks", ranks);
    number("server_of_machine", server_of_machine);
    w.Key("client_ranks");
    w.StartArray();
    for (int rank : client_ranks) w.Int(rank);
    w.EndArray();
    w.Key("client_cpus");
    w.StartArray();
    for (const std::string& cpus : client_cpus) w.String(cpus.data(), static_cast<rapidjson::SizeType>(cpus.size()));
    w.EndArray();
    w.Key("parameters");
    w.StartObject();
    for (const auto& [name, value] : parameters) {
        w.Key(name.c_str());
        w.Double(value);
    }
    w.EndObject();
    number("clients", geometry.clients);
    number("blocks_per_client", geometry.blocks_per_client);
    number("client_blocks", geometry.client_blocks);
    number("event_slots", geometry.event_slots);
    number("return_slots", geometry.return_slots);
    number("absence_slots", geometry.absence_slots);
    number("actions", geometry.actions);
    number("events", geometry.events);
    number("steerable", geometry.steerable);
    number("arena_bytes", geometry.arena_bytes);
    number("arena_alignment", geometry.arena_alignment);
    number("bytes", geometry.bytes);
    w.EndObject();
    return {out.GetString(), out.GetSize()};
}

result<session_document> session_document::from_text(std::string_view text) {
    rapidjson::Document d;
    d.Parse(text.data(), text.size());
    const failure malformed{error_kind::usage, "session document received is malformed", 0};
    if (d.HasParseError() || !d.IsObject()) return malformed;
    bool whole = true;
    const auto string_of = [&](const char* key) -> std::string {
        const auto at = d.FindMember(key);
        whole = whole && at != d.MemberEnd() && at->value.IsString();
        return whole ? std::string(at->value.GetString(), at->value.GetStringLength()) : std::string();
    };
    const auto number_of = [&](const char* key) -> uint64_t {
        const auto at = d.FindMember(key);
        whole = whole && at != d.MemberEnd() && at->value.IsUint64();
        return whole ? at->value.GetUint64() : 0;
    };
    session_document s;
    s.session = string_of("session");
    s.run = string_of("run");
    s.configuration = string_of("configuration");
    s.configuration_name = string_of("configuration_name");
    s.directory = string_of("directory");
    s.writer = string_of("writer");
    s.node = static_cast<int>(number_of("node"));
    s.nodes = static_cast<int>(number_of("nodes"));
    s.ranks = static_cast<int>(number_of("ranks"));
    s.server_of_machine = static_cast<int>(number_of("server_of_machine"));
    s.geometry.clients = static_cast<uint32_t>(number_of("clients"));
    s.geometry.blocks_per_client = static_cast<uint32_t>(number_of("blocks_per_client"));
    s.geometry.client_blocks = static_cast<uint32_t>(number_of("client_blocks"));
    s.geometry.event_slots = number_of("event_slots");
    s.geometry.return_slots = number_of("return_slots");
    s.geometry.absence_slots = number_of("absence_slots");
    s.geometry.actions = static_cast<uint32_t>(number_of("actions"));
    s.geometry.events = static_cast<uint32_t>(number_of("events"));
    s.geometry.steerable = static_cast<uint32_t>(number_of("steerable"));
    s.geometry.arena_bytes = number_of("arena_bytes");
    s.geometry.arena_alignment = std::max<uint64_t>(4096, number_of("arena_alignment"));
    s.geometry.bytes = number_of("bytes");
    const auto list_of = [&](const char* key) -> const rapidjson::Value* {
        const auto at = d.FindMember(key);
        whole = whole && at != d.MemberEnd() && at->value.IsArray();
        return whole ? &at->value : nullptr;
    };
    if (const auto* ranks = list_of("client_ranks")) {
        whole = ranks->Size() == s.geometry.clients;
        for (const auto& rank : ranks->GetArray()) {
            whole = whole && rank.IsInt();
            s.client_ranks.push_back(whole ? rank.GetInt() : 0);
        }
    }
    if (const auto* cpus = list_of("client_cpus"))
        for (const auto& list : cpus->GetArray()) {
            whole = whole && list.IsString();
            s.client_cpus.emplace_back(whole ? list.GetString() : "");
        }
    const auto parameters = d.FindMember("parameters");
    whole = whole && parameters != d.MemberEnd() && parameters->value.IsObject();
    if (!whole) return malformed;
    for (const auto& p : parameters->value.GetObject()) {
        if (!p.value.IsNumber()) return malformed;
        s.parameters[p.name.GetString()] = p.value.GetDouble();
    }
    return s;
}

std::string random_session_id() {
    std::array<unsigned char, 16> bytes{};
    size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t n = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
        if (n > 0) have += static_cast<size_t>(n);
    }
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned char b : bytes) {
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}

std::string socket_name(const std::string& session, uint32_t generation) {
    return "halcyon-" + session + "-" + std::to_string(generation);
}

std::string succession_name(const std::string& session) {
    return "halcyon-" + session + "-succession";
}

}  // namespace halcyon::offload
