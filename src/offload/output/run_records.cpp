#include "offload/output/run_records.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <sstream>

#include "base/rapidjson.hpp"
#include "base/same_file.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {
namespace {

struct named_count {
    const char* name;
    int64_t run_counts::*value;
};

constexpr named_count numbers[] = {
    {"iterations", &run_counts::iterations},
    {"blocks", &run_counts::blocks},
    {"bytes", &run_counts::bytes},
    {"skipped_blocks", &run_counts::skipped_blocks},
    {"skipped_bytes", &run_counts::skipped_bytes},
    {"spilled_blocks", &run_counts::spilled_blocks},
    {"spilled_bytes", &run_counts::spilled_bytes},
    {"inlined_blocks", &run_counts::inlined_blocks},
    {"inlined_bytes", &run_counts::inlined_bytes},
    {"unstored_blocks", &run_counts::unstored_blocks},
    {"unstored_bytes", &run_counts::unstored_bytes},
    {"early_parts", &run_counts::early_parts},
    {"missing_blocks", &run_counts::missing_blocks},
    {"incomplete_iterations", &run_counts::incomplete_iterations},
    {"dead_clients", &run_counts::dead_clients},
    {"server_restarts", &run_counts::server_restarts},
    {"lost_signals", &run_counts::lost_signals},
    {"rejected_blocks", &run_counts::rejected_blocks},
    {"failed_files", &run_counts::failed_files},
    {"failed_actions", &run_counts::failed_actions},
    {"unseen_blocks", &run_counts::unseen_blocks},
    {"waiting_actions", &run_counts::waiting_actions},
    {"overflowed_values", &run_counts::overflowed_values},
    {"lost_records", &run_counts::lost_records},
    {"lost_files", &run_counts::lost_files},
    {"unasked_bytes", &run_counts::unasked_bytes},
    {"busy_ns", &run_counts::busy_ns},
    {"idle_ns", &run_counts::idle_ns},
};

/// `messages`, `switches`: how many of them, from the first.
std::string text_of(const run_counts& counts, size_t messages, size_t switches) {
    rapidjson::StringBuffer out;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> w(out);
    w.StartObject();
    w.Key("finished");
    w.Bool(counts.finished);
    for (const named_count& n : numbers) {
        w.Key(n.name);
        w.Int64(counts.*n.value);
    }
    w.Key("switches");
    w.StartArray();
    for (size_t i = 0; i < switches; ++i) {
        w.StartObject();
        w.Key("at_ns");
        w.Int64(counts.switches[i].at_ns);
        w.Key("what");
        w.String(counts.switches[i].what.c_str());
        w.EndObject();
    }
    w.EndArray();
    w.Key("messages");
    w.StartArray();
    for (size_t i = 0; i < messages; ++i) w.String(counts.messages[i].c_str());
    w.EndArray();
    if (const size_t left_out = counts.messages.size() - messages + counts.switches.size() - switches; left_out > 0) {
        w.Key("left_out");
        w.Uint64(left_out);
    }
    w.EndObject();
    out.Put('\n');
    return {out.GetString(), out.GetSize()};
}

/// The numbers are what must be there; of the rest, as much as there is room for.
std::string fitting_text_of(const run_counts& counts) {
    size_t messages = counts.messages.size(), switches = counts.switches.size();
    std::string text = text_of(counts, messages, switches);
    while (text.size() > reserved_file::room_bytes && messages + switches > 0) {
        (messages > 0 ? messages : switches) /= 2;
        text = text_of(counts, messages, switches);
    }
    return text;
}

/// A server that was killed may have left half a line: the next one must not continue it. Returns how many whole lines
/// there are.
int64_t cut_unfinished_line(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    std::error_code none;
    if (!all.empty() && all.back() != '\n') std::filesystem::resize_file(path, all.rfind('\n') + 1, none);
    return std::count(all.begin(), all.end(), '\n');
}

}  // namespace

result<run_records::table> run_records::open_table(const std::string& path, const char* header) {
    const int64_t lines = cut_unfinished_line(path);
    std::error_code none;
    const bool empty = !std::filesystem::exists(path, none) || std::filesystem::file_size(path, none) == 0;
    table t{path, header, std::ofstream(path, std::ios::app), {}, std::max<int64_t>(0, lines - 1)};
    if (!t.out) return system_failure(path, errno);
    if (empty) t.out << header << '\n' << std::flush;
    t.held = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return t;
}

policy_counts& policy_counts::operator+=(const policy_counts& other) {
    skipped_blocks += other.skipped_blocks;
    skipped_bytes += other.skipped_bytes;
    spilled_blocks += other.spilled_blocks;
    spilled_bytes += other.spilled_bytes;
    inlined_blocks += other.inlined_blocks;
    inlined_bytes += other.inlined_bytes;
    return *this;
}

result<run_records> run_records::open(const std::string& directory, const std::string& writer, const std::string& run) {
    if (auto ours = settle_in_directory(directory, run); !ours) return ours.why();
    run_records r;
    r.run_ = run;
    r.directory_ = directory;
    r.writer_ = writer;
    auto phases = open_table(directory + "/phases-" + writer + ".csv",
                             "iteration,rank,begin_ns,visible_ns,blocked_ns,compute_ns,bytes");
    if (!phases) return phases.why();
    auto files = open_table(directory + "/server-" + writer + ".csv",
                            "first_iteration,last_iteration,part,complete_ns,begin_ns,end_ns,slot_wait_ns,compress_ns,"
                            "write_ns,raw_bytes,stored_bytes,compressed");
    if (!files) return files.why();
    r.phases_ = std::move(*phases);
    r.files_ = std::move(*files);
    r.counts_file_ = reserved_file(directory + "/counts-" + writer + ".json");
    return r;
}

/// A full disk must not silence a table for good: what it could not take is counted, and the next record is tried
/// again.
void run_records::count_line(table& t) {
    if (t.out.good()) {
        ++t.lines;
        return;
    }
    t.out.clear();
    ++lost_;
}

bool run_records::is_lost(const table& t) {
    return t.held && !leads_to(t.path, t.held.get());
}

void run_records::begin_anew_if_lost(table& t) {
    if (!is_lost(t)) return;
    auto anew = open_table(t.path, t.header);
    if (!anew) return;  // the next time, perhaps; meanwhile lines go where nobody finds them
    lost_ += t.lines;
    t = std::move(*anew);
}

void run_records::add(const phase_record& p) {
    phases_.out << p.iteration << ',' << p.rank << ',' << p.begin_ns << ',' << p.visible_ns << ',' << p.blocked_ns
                << ',' << p.compute_ns << ',' << p.bytes << '\n'
                << std::flush;
    count_line(phases_);
}

void run_records::add(const file_record& f) {
    files_.out << f.first_iteration << ',' << f.last_iteration << ',' << f.part << ',' << f.complete_ns << ','
               << f.begin_ns << ',' << f.end_ns << ',' << f.slot_wait_ns << ',' << f.compress_ns << ',' << f.write_ns
               << ',' << f.raw_bytes << ',' << f.stored_bytes << ',' << (f.compressed ? 1 : 0) << '\n'
               << std::flush;
    count_line(files_);
}

void run_records::add(const steering_record& s) {
    if (steering_.path.empty()) {
        auto opened = open_table(directory_ + "/steering-" + writer_ + ".csv",
                                 "request,parameter,value,iteration,asked_ns,user,process,host");
        if (!opened) return static_cast<void>(++lost_);
        steering_ = std::move(*opened);
    }
    steering_.out << s.request << ',' << s.parameter << ','
                  << std::setprecision(std::numeric_limits<double>::max_digits10) << s.value << ',' << s.iteration
                  << ',' << s.asked_ns << ',' << s.user << ',' << s.process << ',' << s.host << '\n'
                  << std::flush;
    count_line(steering_);
}

result<void> run_records::save(run_counts counts) {
    if (is_lost(phases_) || is_lost(files_) || is_lost(steering_))
        if (auto ours = settle_in_directory(directory_, run_); !ours) return ours;
    begin_anew_if_lost(phases_);
    begin_anew_if_lost(files_);
    begin_anew_if_lost(steering_);
    counts.lost_records += lost_;
    auto saved = counts_file_.replace(fitting_text_of(counts));
    if (counts.finished) release();
    return saved;
}

run_counts run_records::saved_counts() const {
    std::ifstream file(directory_ + "/counts-" + writer_ + ".json");
    std::stringstream text;
    text << file.rdbuf();
    rapidjson::Document d;
    d.Parse(text.str().c_str());
    run_counts c;
    if (d.HasParseError() || !d.IsObject()) return c;
    for (const named_count& n : numbers)
        if (const auto found = d.FindMember(n.name); found != d.MemberEnd() && found->value.IsInt64())
            c.*n.value = found->value.GetInt64();
    if (d.HasMember("switches") && d["switches"].IsArray())
        for (const auto& s : d["switches"].GetArray())
            if (s.IsObject() && s.HasMember("at_ns") && s["at_ns"].IsInt64() && s.HasMember("what") &&
                s["what"].IsString())
                c.switches.push_back({s["at_ns"].GetInt64(), s["what"].GetString()});
    if (d.HasMember("messages") && d["messages"].IsArray())
        for (const auto& m : d["messages"].GetArray())
            if (m.IsString()) c.messages.emplace_back(m.GetString());
    return c;
}

}  // namespace halcyon::offload
