#include "predict/model/file_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>

namespace halcyon::predict {

namespace {

/// Longer runs of digits are no counters.
constexpr size_t most_digits = 18;

constexpr bool digit(char c) {
    return c >= '0' && c <= '9';
}

/// FNV-1a.
constexpr uint64_t with(uint64_t hash, char c) {
    return (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
}

}  // namespace

/// The numbers of a path, the last ones where it has too many, and the hash of its last part without them.
struct file_names::reading {
    struct place {
        uint16_t begin;
        uint16_t length;
    };
    place numbers[most_numbers];
    uint32_t count = 0;
    uint64_t key = 0xCBF29CE484222325u;

    explicit reading(std::string_view path) {
        const size_t slash = path.rfind('/');
        const size_t last_part = slash == std::string_view::npos ? 0 : slash + 1;
        for (size_t at = 0; at < path.size();) {
            if (!digit(path[at])) {
                if (at >= last_part) key = with(key, path[at]);
                ++at;
                continue;
            }
            const size_t begin = at;
            while (at < path.size() && digit(path[at])) ++at;
            if (begin >= last_part) key = with(with(key, '%'), '\0');
            if (at - begin > most_digits) continue;
            if (count == most_numbers) std::copy(numbers + 1, numbers + count--, numbers);
            numbers[count++] = {static_cast<uint16_t>(begin), static_cast<uint16_t>(at - begin)};
        }
    }

    static int64_t value_of(std::string_view path, place where) {
        int64_t value = 0;
        std::from_chars(path.data() + where.begin, path.data() + where.begin + where.length, value);
        return value;
    }
};

file_names::~file_names() {
    for (std::atomic<page*>& one : pages_) memory_.give_back(one.load(std::memory_order_relaxed), sizeof(page));
}

uint32_t file_names::name(uint32_t file, std::string_view path) {
    std::atomic<page*>& place = pages_[file / page_files % most_pages];
    page* of = place.load(std::memory_order_relaxed);
    if (of == nullptr) {
        void* const taken = memory_.take(sizeof(page));
        if (taken == nullptr) return unknown;
        of = new (taken) page{};
        place.store(of, std::memory_order_release);
    }
    const uint32_t found = learn(path);
    (*of)[file % page_files].store(found, std::memory_order_relaxed);
    return found;
}

/// The class of a path, which is its last one from now on; made if there is none.
uint32_t file_names::learn(std::string_view path) {
    if (path.empty() || path.size() > longest_path) return unknown;
    const reading now(path);
    uint32_t index = found_.find(now.key, [&](uint32_t i) { return classes_[i].key == now.key; });
    if (index == nothing) {
        index = classes_.size();
        if (index >= nothing || !classes_.push({})) return unknown;
        classes_[index].key = now.key;
        if (!found_.insert(now.key, index, [&](uint32_t i) { return classes_[i].key; })) {
            static_cast<void>(classes_.pop());
            return unknown;
        }
    }
    name_class& entry = classes_[index];
    const bool goes_on = entry.number_count == now.count;
    for (uint32_t i = 0; i < now.count; ++i) {
        const int64_t value = reading::value_of(path, now.numbers[i]);
        const bool padded = now.numbers[i].length > 1 && path[now.numbers[i].begin] == '0';
        number& kept = entry.numbers[i];
        const auto width = static_cast<uint8_t>(padded ? now.numbers[i].length : goes_on ? kept.width : 0);
        const int64_t step = entry.of_earlier_run ? kept.step : value - kept.value;
        kept = {value, goes_on ? step : 0, width, goes_on && (kept.varied || value != kept.value)};
    }
    entry.number_count = now.count;
    entry.of_earlier_run = false;
    entry.length = static_cast<uint16_t>(path.size());
    const size_t slash = path.rfind('/');
    entry.last_part = static_cast<uint16_t>(slash == std::string_view::npos ? 0 : slash + 1);
    path.copy(entry.path, path.size());
    return index + 1;
}

file_names::last_of_class file_names::last_of(uint32_t name_class) const {
    if (name_class == unknown || name_class > classes_.size()) return {};
    const auto& entry = classes_[name_class - 1];
    last_of_class last{{entry.path, entry.length}, {}};
    for (uint32_t i = 0; i < entry.number_count; ++i) last.steps[i] = entry.numbers[i].step;
    return last;
}

uint32_t file_names::adopt(const last_of_class& last) {
    if (last.path.empty() || last.path.size() > longest_path) return unknown;
    const uint64_t key = reading(last.path).key;
    if (const uint32_t known = found_.find(key, [&](uint32_t i) { return classes_[i].key == key; }); known != nothing)
        return known + 1;
    const uint32_t found = learn(last.path);
    if (found == unknown) return found;
    auto& entry = classes_[found - 1];
    entry.of_earlier_run = true;
    for (uint32_t i = 0; i < entry.number_count; ++i) {
        entry.numbers[i].step = last.steps[i];
        entry.numbers[i].varied = last.steps[i] != 0;
    }
    return found;
}

std::string_view file_names::pattern_of(uint32_t name_class, std::array<char, longest_pattern>& out) const {
    if (name_class == unknown || name_class > classes_.size()) return {};
    const auto& entry = classes_[name_class - 1];
    const std::string_view path(entry.path, entry.length);
    const reading now(path);
    size_t filled = 0;
    const auto put = [&](std::string_view text) { filled += text.copy(out.data() + filled, out.size() - filled); };
    size_t at = entry.last_part;
    for (uint32_t i = 0; i < now.count; ++i) {
        if (now.numbers[i].begin < at || !entry.numbers[i].varied) continue;
        put(path.substr(at, now.numbers[i].begin - at));
        char width[8] = "%d";
        if (entry.numbers[i].width > 0) {
            width[1] = '0';
            *std::to_chars(width + 2, width + 6, entry.numbers[i].width).ptr = 'd';
        }
        put({width, std::strlen(width)});
        at = size_t{now.numbers[i].begin} + now.numbers[i].length;
    }
    put(path.substr(at));
    return {out.data(), filled};
}

std::string_view file_names::next_path(uint32_t name_class, uint32_t ahead, std::array<char, longest_path>& out) const {
    if (name_class == unknown || name_class > classes_.size()) return {};
    const auto& entry = classes_[name_class - 1];
    if (entry.of_earlier_run) return {};
    const std::string_view path(entry.path, entry.length);
    const reading now(path);
    size_t filled = 0;
    const auto put = [&](std::string_view text) { filled += text.copy(out.data() + filled, out.size() - filled); };
    size_t at = 0;
    for (uint32_t i = 0; i < now.count; ++i) {
        put(path.substr(at, now.numbers[i].begin - at));
        const number& known = entry.numbers[i];
        char digits[24];
        const int64_t value = std::max<int64_t>(known.value + known.step * ahead, 0);
        const auto length = static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
        for (size_t zeros = length; zeros < known.width; ++zeros) put("0");
        put({digits, length});
        at = size_t{now.numbers[i].begin} + now.numbers[i].length;
    }
    put(path.substr(at));
    return {out.data(), filled};
}

}  // namespace halcyon::predict
