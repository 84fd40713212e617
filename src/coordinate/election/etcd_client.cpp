#include "coordinate/election/etcd_client.hpp"

#include <charconv>
#include <string_view>

#include "base/closest_name.hpp"
#include "base/rapidjson.hpp"
#include "coordinate/election/base64.hpp"

namespace halcyon::coordinate {
namespace {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// An object whose members `members` writes.
template <class Members>
std::string object(Members&& members) {
    rapidjson::StringBuffer text;
    json_writer to(text);
    to.StartObject();
    members(to);
    to.EndObject();
    return text.GetString();
}

/// The gateway writes 64-bit numbers as strings, and takes them so.
void number(json_writer& to, const char* key, int64_t value) {
    to.Key(key);
    to.String(std::to_string(value).c_str());
}
void bytes(json_writer& to, const char* key, std::string_view value) {
    to.Key(key);
    to.String(to_base64(value).c_str());
}
void word(json_writer& to, const char* key, const char* value) {
    to.Key(key);
    to.String(value);
}

std::optional<rapidjson::Document> parsed(const std::string& text) {
    rapidjson::Document made;
    // An answer may be several documents: keep-alives are a stream.
    made.Parse<rapidjson::kParseStopWhenDoneFlag>(text.c_str());
    if (made.HasParseError() || !made.IsObject()) return std::nullopt;
    return made;
}

/// Absent: 0, as the gateway leaves out what is 0.
int64_t number_in(const rapidjson::Value& from, const char* key) {
    const auto found = from.FindMember(key);
    if (found == from.MemberEnd()) return 0;
    if (found->value.IsInt64()) return found->value.GetInt64();
    int64_t value = 0;
    if (found->value.IsString()) {
        const std::string_view digits(found->value.GetString(), found->value.GetStringLength());
        static_cast<void>(std::from_chars(digits.data(), digits.data() + digits.size(), value));
    }
    return value;
}

std::optional<std::string> bytes_in(const rapidjson::Value& from, const char* key) {
    const auto found = from.FindMember(key);
    if (found == from.MemberEnd()) return std::string();
    if (!found->value.IsString()) return std::nullopt;
    return from_base64({found->value.GetString(), found->value.GetStringLength()});
}

failure not_understood(const std::string& answer) {
    return {error_kind::unavailable, "etcd answers something else than expected: " + printable(answer.substr(0, 200)),
            0};
}

void put(json_writer& to, std::string_view key, std::string_view value, int64_t lease) {
    to.StartObject();
    to.Key("requestPut");
    to.StartObject();
    bytes(to, "key", key);
    bytes(to, "value", value);
    if (lease != 0) number(to, "lease", lease);
    to.EndObject();
    to.EndObject();
}

void compare(json_writer& to, std::string_view key, const char* target, const char* field, int64_t value) {
    to.StartObject();
    bytes(to, "key", key);
    word(to, "result", "EQUAL");
    word(to, "target", target);
    number(to, field, value);
    to.EndObject();
}

/// Of one key.
result<void> read_into(etcd_client::leadership& all, const rapidjson::Value& one, const std::string& prefix) {
    const auto key = one.IsObject() ? bytes_in(one, "key") : std::nullopt;
    const auto value = one.IsObject() ? bytes_in(one, "value") : std::nullopt;
    if (!key || !value) return not_understood("a key that is none");
    if (*key == prefix + "/leader") all.leader = *value;
    if (*key != prefix + "/epoch") return {};
    const char* const last = value->data() + value->size();
    const auto [end, problem] = std::from_chars(value->data(), last, all.epoch);
    if (problem != std::errc{} || end != last)
        return failure{error_kind::config,
                       "etcd: " + *key + " is '" + printable(*value) + "'; expected the number of the latest epoch", 0};
    all.epoch_revision = number_in(one, "mod_revision");
    return {};
}

}  // namespace

result<std::string> etcd_client::post(const char* path, const std::string& body) {
    std::string why;
    for (size_t tried = 0; tried < servers_.size(); ++tried) {
        const size_t at = (answered_ + tried) % servers_.size();
        auto answer = http_.post(servers_[at] + path, body, most_ns_);
        if (answer) {
            answered_ = at;
            return answer;
        }
        why += (why.empty() ? "" : "; ") + answer.why().message;
    }
    return failure{error_kind::unavailable, why, 0};
}

result<etcd_client::lease> etcd_client::begin_lease(int64_t lasts_s) {
    const auto answer = post("/v3/lease/grant", object([&](json_writer& to) { number(to, "TTL", lasts_s); }));
    if (!answer) return answer.why();
    const auto told = parsed(*answer);
    if (!told) return not_understood(*answer);
    const lease made{number_in(*told, "ID"), number_in(*told, "TTL")};
    if (made.id == 0 || made.lasts_s <= 0) return not_understood(*answer);
    return made;
}

result<int64_t> etcd_client::renew(const lease& one) {
    const auto answer = post("/v3/lease/keepalive", object([&](json_writer& to) { number(to, "ID", one.id); }));
    if (!answer) return answer.why();
    const auto told = parsed(*answer);
    if (!told) return not_understood(*answer);
    const auto found = told->FindMember("result");
    if (found == told->MemberEnd() || !found->value.IsObject() || number_in(found->value, "ID") != one.id)
        return not_understood(*answer);
    return number_in(found->value, "TTL");
}

result<void> etcd_client::end(const lease& one) {
    const auto answer = post("/v3/lease/revoke", object([&](json_writer& to) { number(to, "ID", one.id); }));
    return answer ? result<void>() : answer.why();
}

result<etcd_client::leadership> etcd_client::look() {
    const auto answer = post("/v3/kv/range", object([&](json_writer& to) {
                                 bytes(to, "key", prefix_ + "/");
                                 bytes(to, "range_end", prefix_ + "0");  // behind '/' in ASCII
                             }));
    if (!answer) return answer.why();
    const auto told = parsed(*answer);
    if (!told || !told->HasMember("header")) return not_understood(*answer);
    leadership all;
    const auto keys = told->FindMember("kvs");
    if (keys == told->MemberEnd()) return all;
    if (!keys->value.IsArray()) return not_understood(*answer);
    for (const auto& one : keys->value.GetArray())
        if (auto done = read_into(all, one, prefix_); !done) return done.why();
    return all;
}

result<bool> etcd_client::take(const leadership& seen, const lease& by, const std::string& leader, uint64_t epoch) {
    const auto answer = post("/v3/kv/txn", object([&](json_writer& to) {
                                 to.Key("compare");
                                 to.StartArray();
                                 compare(to, prefix_ + "/leader", "CREATE", "create_revision", 0);
                                 compare(to, prefix_ + "/epoch", "MOD", "mod_revision", seen.epoch_revision);
                                 to.EndArray();
                                 to.Key("success");
                                 to.StartArray();
                                 put(to, prefix_ + "/leader", leader, by.id);
                                 put(to, prefix_ + "/epoch", std::to_string(epoch), 0);
                                 to.EndArray();
                             }));
    if (!answer) return answer.why();
    const auto told = parsed(*answer);
    if (!told || !told->HasMember("header")) return not_understood(*answer);
    const auto found = told->FindMember("succeeded");
    return found != told->MemberEnd() && found->value.IsTrue();
}

}  // namespace halcyon::coordinate
