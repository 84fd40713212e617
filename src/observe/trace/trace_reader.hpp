#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "calls/record/call_record.hpp"
#include "calls/record/layer.hpp"
#include "observe/trace/notes.hpp"
#include "observe/trace/trace_format.hpp"

namespace halcyon::observe::trace {

/// What one process left: its trace and, when it was killed, its ring. Times of calls are nanoseconds of the node's
/// CLOCK_MONOTONIC.
///
/// Every byte of a file is taken for possibly wrong: damage throws `config` with the file's name and the offset where
/// reading stopped. With `salvage`, what stands before the damage is returned instead, and the damage is in `damages`.
class trace_reader {
  public:
    struct function {
        std::string name;
        calls::level level;
        calls::kind kind;
    };
    struct file {
        uint32_t id;
        std::string path;
        int64_t block_bytes;
        uint32_t filesystem;
    };
    struct fact {
        uint32_t file;
        int64_t time_ns;
        std::string key;
        std::string value;
    };
    struct absence {
        std::string subject;
        uint64_t count;
    };

    explicit trace_reader(const std::string& path, bool salvage = false);

    int64_t pid = 0;
    int64_t parent_pid = 0;
    std::string host;
    std::string program;
    std::string command;  ///< arguments, one space between each
    std::string clock;    ///< processes with the same share a clock
    int64_t start_ns = 0;
    int64_t start_realtime_ns = 0;
    std::optional<int64_t> end_ns;  ///< none: it was killed
    std::optional<calls::ending> ended;
    uint64_t lost = 0;
    std::map<uint16_t, function> functions;
    std::vector<file> files;
    std::vector<fact> facts;
    std::vector<absence> absences;
    std::vector<std::string> damages;

    /// Chunks in the order in which they were begun; records within one in the order in which calls ended.
    [[nodiscard]] size_t chunk_count() const { return chunks_.size(); }
    [[nodiscard]] std::vector<calls::call_record> chunk(size_t index) const;

  private:
    struct chunk_place {
        uint64_t sequence;
        size_t at;  // of the payload in trace_; with ring: of the first slot in ring_
        size_t bytes;
        uint32_t records;
        bool ring;
    };

    void read_header();
    void read_sections();
    void read_section(section_kind kind, size_t at, size_t bytes);
    void read_process(size_t at, size_t bytes);
    void read_notes(const std::string& file, size_t at, std::string_view notes);
    bool take_note(const note_reader::note& note);
    void read_ring();
    void order_anchors();
    [[nodiscard]] bool ends_unwritten(size_t at, size_t bytes) const;
    [[nodiscard]] int64_t to_ns(int64_t ticks) const;
    [[noreturn]] void damaged(const std::string& file, size_t at, const std::string& what) const;
    template <class Section>
    Section take(size_t at, size_t bytes, const char* what) const;

    std::string path_;
    std::string ring_path_;
    std::string trace_;
    std::string ring_;
    uint32_t version_ = format_version;
    uint32_t time_unit_ = 1;
    bool has_process_ = false;
    bool ring_is_there_ = false;  // the process was killed, or the disk was full
    std::vector<anchor> anchors_;
    std::vector<std::pair<size_t, int64_t>> fact_ticks_;
    std::optional<int64_t> end_ticks_;
    std::vector<chunk_place> chunks_;
};

}  // namespace halcyon::observe::trace
