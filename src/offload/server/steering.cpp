#include "offload/server/steering.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/clock.hpp"
#include "base/closest_name.hpp"
#include "base/contained.hpp"
#include "base/rapidjson.hpp"
#include "offload/model/parameter_check.hpp"

namespace halcyon::offload {
namespace {

failure not_steered(std::string why) {
    return {error_kind::usage, std::move(why), 0};
}

/// As few digits as tell it from all other numbers.
std::string exact(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

struct steering_wish {
    std::string name;
    double value;
};

/// What a message asks to set; nothing where it asks for the parameters.
result<std::vector<steering_wish>> wishes_in(const std::string& message) {
    rapidjson::Document d;
    // Not recursive: whoever sends it decides how deep it is. NaN is refused by its name.
    d.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag>(message.data(), message.size());
    if (d.HasParseError() || !d.IsObject())
        return not_steered("a message must be a JSON object such as {\"set\": {\"kappa\": 0.3}}");
    std::vector<steering_wish> wishes;
    const auto set = d.FindMember("set");
    if (set == d.MemberEnd()) return wishes;
    if (!set->value.IsObject() || set->value.ObjectEmpty())
        return not_steered("'set' must be an object of at least one name with its value, such as {\"kappa\": 0.3}");
    for (const auto& one : set->value.GetObject()) {
        const std::string name(one.name.GetString(), one.name.GetStringLength());
        if (!one.value.IsNumber())
            return not_steered("parameter '" + printable(name) + "': its value must be a number");
        wishes.push_back({name, one.value.GetDouble()});
    }
    return wishes;
}

}  // namespace

steering::steering(const segment& shared, const model& data, const session_document& about,
                   const client_roster& clients, journal& notes, journal::log_function log)
    : segment_(shared),
      model_(data),
      clients_(clients),
      journal_(notes),
      log_(std::move(log)),
      node_(about.node),
      ids_(data.steerable()) {
    if (ids_.empty()) return;
    // That of the servers before: nobody else writes it.
    if (const auto earlier = segment_.steering().mail.read()) mail_ = earlier->value;
}

void steering::take(const peer& from, const std::string& message) {
    const auto said = contained("", [&] { return answer(from, message); });
    if (!said) {
        static_cast<void>(from->send(steering_refusal(said.why())));
        // It came to a server that nobody can steer through.
        if (message.empty()) from->hang_up();
        return;
    }
    if (!from->send(*said)) return;
    if (message.empty()) peers_.push_back(from);
}

result<std::string> steering::answer(const peer& from, const std::string& message) {
    if (auto can = can_be_steered(); !can) return can.why();
    if (message.empty()) return parameters();
    const auto wishes = wishes_in(message);
    if (!wishes) return wishes.why();
    if (wishes->empty()) return parameters();
    std::vector<std::pair<size_t, double>> values;
    for (const steering_wish& w : *wishes) {
        const auto number = number_of(w.name, w.value);
        if (!number) return number.why();
        values.emplace_back(*number, w.value);
    }
    const auto accepted = accept(from, values);
    if (!accepted) return accepted.why();
    return "{\"accepted\": " + std::to_string(*accepted) + "}";
}

result<void> steering::can_be_steered() const {
    if (node_ != 0)
        return not_steered(
            "this is the server of node " + std::to_string(node_) +
            "; steering goes through that of node 0, which socket-n0000.json in the run's directory names");
    if (ids_.empty())
        return not_steered("the configuration has no steerable parameter; declare one with 'steerable: true'");
    if (clients_.is_gone(0))
        return failure{error_kind::unavailable,
                       "rank 0 has closed its session, or has died: nobody takes steered values any more", 0};
    return {};
}

/// The number of a steerable parameter that may have this value.
result<size_t> steering::number_of(std::string_view name, double value) const {
    const parameter* p = model_.find_parameter(name);
    if (p == nullptr || !p->is_steerable) {
        std::vector<std::string> known;
        for (const uint32_t id : ids_) known.push_back(model_.parameters[id].name);
        const std::string which =
            p == nullptr ? "no parameter '" + printable(name) + "'" : "parameter '" + p->name + "' is not steerable";
        return not_steered(which + "; steerable parameters: " + list_names(std::move(known)));
    }
    if (auto fits = check_parameter_value(*p, value); !fits) return fits.why();
    const auto id = static_cast<uint32_t>(p - model_.parameters.data());
    return static_cast<size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
}

result<uint64_t> steering::accept(const peer& from, const std::vector<std::pair<size_t, double>>& values) {
    ++mail_.requests;
    for (const auto& [number, value] : values)
        mail_.latest[number] = {mail_.requests, value, realtime_ns(), static_cast<int32_t>(from->process()),
                                static_cast<uint32_t>(::geteuid())};
    segment_.steering().mail.write(mail_);
    return mail_.requests;
}

/// As rank 0 left them; before it did, as they were at open.
steering_values steering::values() const {
    if (const auto found = segment_.steering().values.read(); found && found->version > 0) return found->value;
    steering_values at_open;
    for (size_t i = 0; i < ids_.size(); ++i) at_open.values[i] = model_.parameters[ids_[i]].value;
    return at_open;
}

std::string steering::parameters() const {
    const steering_values now = values();
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>, rapidjson::CrtAllocator,
                      rapidjson::kWriteNanAndInfFlag>
        w(out);  // values are read from shared memory
    w.StartObject();
    w.Key("parameters");
    w.StartArray();
    for (size_t i = 0; i < ids_.size(); ++i) {
        const parameter& p = model_.parameters[ids_[i]];
        w.StartObject();
        w.Key("name");
        w.String(p.name.c_str());
        const std::pair<const char*, double> numbers[] = {{"value", now.values[i]}, {"min", p.min}, {"max", *p.max}};
        for (const auto& [key, value] : numbers) {
            w.Key(key);
            w.Double(value);
        }
        if (mail_.latest[i].number > now.taken) {
            w.Key("asked");
            w.Double(mail_.latest[i].value);
        }
        w.EndObject();
    }
    w.EndArray();
    w.EndObject();
    return {out.GetString(), out.GetSize()};
}

bool steering::took_effect(uint32_t client, const event_record& e) {
    const auto record = steering_record::of(e, model_);
    if (client != 0 || node_ != 0 || !record) return false;
    static_cast<void>(log_(record->text()));
    journal_.add(*record);
    tell_all("{\"request\": " + std::to_string(record->request) + ", \"parameter\": \"" + record->parameter +
             "\", \"value\": " + exact(record->value) + ", \"iteration\": " + std::to_string(record->iteration) + "}");
    return true;
}

void steering::tell_all(const std::string& text) {
    std::erase_if(peers_, [&](const peer& p) { return !p->send(text); });
}

void steering::end() {
    if (ids_.empty() || node_ != 0) return;
    const uint64_t taken = values().taken;
    for (size_t i = 0; i < ids_.size(); ++i) {
        const steering_request& r = mail_.latest[i];
        if (r.number <= taken) continue;
        journal_.note("parameter '" + model_.parameters[ids_[i]].name + "' never became " + show(r.value) +
                      ": the session ended before request " + std::to_string(r.number) + " of " +
                      steering_user(r.process, r.user) + " took effect");
    }
    for (const peer& p : peers_) p->hang_up();
    peers_.clear();
}

}  // namespace halcyon::offload
