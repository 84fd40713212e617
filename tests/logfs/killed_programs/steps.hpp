#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// What a program does with files below --log, call by call; and what the files hold when it has made so many of these
/// calls.
namespace halcyon::logfs::tests {

struct step {
    enum class kind : uint8_t { open, write, append, cut, sync, close, rename, remove };
    kind what;
    int slot = 0;                ///< of an open file; rename and remove have none
    const char* name = nullptr;  ///< open, rename, remove
    const char* to = nullptr;    ///< rename
    int flags = 0;               ///< open
    int64_t offset = 0;          ///< write, cut
    int64_t length = 0;          ///< write, append
};

inline constexpr int slots = 2;
/// There before the program begins; another process has written it.
inline constexpr const char* others_name = "others";
inline constexpr const char* others_text = "written by another process";

/// One file is written in all ways, moved and removed while it is open, and rests when it is closed the second time;
/// another one takes the place of what another process wrote.
inline constexpr step all_steps[] = {
    {.what = step::kind::open, .slot = 0, .name = "f", .flags = O_CREAT | O_EXCL | O_RDWR},
    {.what = step::kind::write, .slot = 0, .offset = 0, .length = 1000},
    {.what = step::kind::write, .slot = 0, .offset = 2000, .length = 1000},
    {.what = step::kind::write, .slot = 0, .offset = 4000, .length = 1000},
    {.what = step::kind::write, .slot = 0, .offset = 500, .length = 3000},
    {.what = step::kind::sync, .slot = 0},
    {.what = step::kind::open, .slot = 1, .name = "f", .flags = O_WRONLY | O_APPEND},
    {.what = step::kind::append, .slot = 1, .length = 700},
    {.what = step::kind::close, .slot = 1},
    {.what = step::kind::cut, .slot = 0, .offset = 4500},
    {.what = step::kind::write, .slot = 0, .offset = 6000, .length = 10},
    {.what = step::kind::sync, .slot = 0},
    {.what = step::kind::open, .slot = 1, .name = "g", .flags = O_CREAT | O_WRONLY | O_TRUNC},
    {.what = step::kind::write, .slot = 1, .offset = 0, .length = 300},
    {.what = step::kind::close, .slot = 1},
    {.what = step::kind::rename, .name = "g", .to = others_name},
    {.what = step::kind::rename, .name = "f", .to = "moved"},
    {.what = step::kind::write, .slot = 0, .offset = 100, .length = 50},
    {.what = step::kind::close, .slot = 0},
    {.what = step::kind::open, .slot = 0, .name = "moved", .flags = O_RDWR | O_TRUNC},
    {.what = step::kind::write, .slot = 0, .offset = 0, .length = 20},
    {.what = step::kind::close, .slot = 0},
    {.what = step::kind::open, .slot = 0, .name = "moved", .flags = O_RDWR},
    {.what = step::kind::write, .slot = 0, .offset = 10, .length = 20},
    {.what = step::kind::remove, .name = others_name},
    {.what = step::kind::open, .slot = 1, .name = "moved", .flags = O_RDWR},
    {.what = step::kind::remove, .name = "moved"},
    {.what = step::kind::write, .slot = 1, .offset = 0, .length = 5},
    {.what = step::kind::close, .slot = 0},
    {.what = step::kind::close, .slot = 1},
};
inline constexpr size_t step_count = std::size(all_steps);
/// The first ones: of one file, whose log the first write begins.
inline constexpr size_t steps_of_one_file = 12;
inline constexpr size_t steps_before_stores = 2;

/// Of step `number`.
inline std::string data_of(size_t number, int64_t length) {
    return std::string(static_cast<size_t>(length), static_cast<char>('A' + number));
}

/// The files that have names, and those that are open.
class files_of_steps {
  public:
    using contents = std::map<std::string, std::string>;

    files_of_steps() { named_[others_name] = std::make_shared<std::string>(others_text); }

    void make(size_t number) {
        const step& now = all_steps[number];
        std::shared_ptr<std::string>& file = open_[now.slot];
        switch (now.what) {
            case step::kind::open:
                if (auto& there = named_[now.name]; !there) there = std::make_shared<std::string>();
                file = named_[now.name];
                if ((now.flags & O_TRUNC) != 0) file->clear();
                break;
            case step::kind::write:
                write(*file, static_cast<size_t>(now.offset), data_of(number, now.length));
                break;
            case step::kind::append:
                *file += data_of(number, now.length);
                break;
            case step::kind::cut:
                file->resize(static_cast<size_t>(now.offset));
                break;
            case step::kind::sync:
                break;
            case step::kind::close:
                file.reset();
                break;
            case step::kind::rename:
                named_[now.to] = named_[now.name];
                named_.erase(now.name);
                break;
            case step::kind::remove:
                named_.erase(now.name);
                break;
        }
    }

    [[nodiscard]] contents named() const {
        contents all;
        for (const auto& [name, text] : named_) all[name] = *text;
        return all;
    }

    /// What may be found when the first `done` steps have returned and the process has died in the next one.
    static std::vector<contents> after(size_t done) {
        files_of_steps files;
        for (size_t number = 0; number < done; ++number) files.make(number);
        std::vector<contents> all{files.named()};
        if (done == step_count) return all;
        const step& next = all_steps[done];
        if (next.what == step::kind::rename && all.front().contains(next.to)) {
            // Both change places first.
            contents between = all.front();
            std::swap(between[next.name], between[next.to]);
            all.push_back(between);
        }
        files.make(done);
        all.push_back(files.named());
        return all;
    }

  private:
    static void write(std::string& file, size_t offset, const std::string& data) {
        if (file.size() < offset + data.size()) file.resize(offset + data.size());
        file.replace(offset, data.size(), data);
    }

    std::map<std::string, std::shared_ptr<std::string>> named_;
    std::shared_ptr<std::string> open_[slots];
};

}  // namespace halcyon::logfs::tests
