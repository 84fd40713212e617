#include "predict/model/file_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

namespace halcyon::predict {

namespace {

/// Longer runs of digits are no counters.
constexpr size_t most_digits = 18;
constexpr uint8_t most_places = most_digits;
/// What a number stays below when it is counted in a smaller unit.
constexpr int64_t largest = 1'000'000'000'000'000'000;
/// Counters do not grow by more; `farthest` such steps can be added to a number.
constexpr int64_t longest_step = 100'000'000'000'000;
constexpr int64_t farthest = 1 << 15;
/// Digits, a point, and zeros before them.
constexpr size_t longest_number = 48;

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
        uint8_t places;  // behind the point, of a number with one
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
            at = end_of_digits(path, begin);
            const size_t end = end_of_decimal(path, begin, at);
            const auto places = static_cast<uint8_t>(end == at ? 0 : end - at - 1);
            at = end;
            if (begin >= last_part) key = with(with(key, '%'), '\0');
            if (at - begin > most_digits) continue;
            if (count == most_numbers) std::copy(numbers + 1, numbers + count--, numbers);
            numbers[count++] = {static_cast<uint16_t>(begin), static_cast<uint16_t>(at - begin), places};
        }
    }

    [[nodiscard]] number number_at(std::string_view path, uint32_t i) const {
        const std::string_view text = path.substr(numbers[i].begin, numbers[i].length);
        number result{.places = numbers[i].places};
        for (const char c : text) {
            if (c != '.') result.value = result.value * 10 + (c - '0');
        }
        result.keeps_zeros = result.places > 0 && text.back() == '0';
        result.width = static_cast<uint8_t>(result.places == 0 && text.size() > 1 && text[0] == '0' ? text.size() : 0);
        return result;
    }

  private:
    static size_t end_of_digits(std::string_view path, size_t at) {
        while (at < path.size() && digit(path[at])) ++at;
        return at;
    }
    /// Of digits from `begin` to `end` that a point and other digits follow, all of it the name of a folder or a file:
    /// behind those. `out.000041` and `snap_100.1` are none; versions of a program (1.10) stay as they are.
    static size_t end_of_decimal(std::string_view path, size_t begin, size_t end) {
        const bool begins = begin == 0 || path[begin - 1] == '/';
        const bool padded = path[begin] == '0' && end - begin > 1;
        if (!begins || padded || end == path.size() || path[end] != '.') return end;
        const size_t last = end_of_digits(path, end + 1);
        const bool ends = last == path.size() || path[last] == '/';
        return ends && last > end + 1 && last - begin <= most_digits ? last : end;
    }
};

/// Makes both count in the smaller unit of the two; false where one would be too large for that.
bool file_names::same_unit(number& one, number& other) {
    const uint8_t places = std::max(one.places, other.places);
    for (number* const of : {&one, &other}) {
        for (; of->places < places; ++of->places) {
            if (std::abs(of->value) > largest / 10 || std::abs(of->step) > longest_step / 10) return false;
            of->value *= 10;
            of->step *= 10;
        }
    }
    return true;
}

/// The number `ahead` steps on; returns the length.
size_t file_names::write(const number& known, uint32_t ahead, std::span<char> out) {
    const int64_t value =
        std::clamp<int64_t>(known.value + known.step * std::min<int64_t>(ahead, farthest), 0, largest);
    const size_t width = std::max<size_t>(known.width, known.places + (known.places > 0 ? 1 : 0));
    char digits[24];
    const auto length = static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
    const size_t zeros = width > length ? width - length : 0;
    std::fill_n(out.data(), zeros, '0');
    std::copy_n(digits, length, out.data() + zeros);
    size_t end = zeros + length;
    if (known.places == 0) return end;
    std::copy_backward(out.data() + end - known.places, out.data() + end, out.data() + end + 1);
    out[end - known.places] = '.';
    ++end;
    if (known.keeps_zeros) return end;
    while (out[end - 1] == '0') --end;
    return out[end - 1] == '.' ? end - 1 : end;
}

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
        number& kept = entry.numbers[i];
        number next = now.number_at(path, i);
        if (goes_on && same_unit(kept, next)) {
            const int64_t grown = next.value - kept.value;
            next.step = entry.of_earlier_run ? kept.step : std::abs(grown) > longest_step ? 0 : grown;
            next.varied = kept.varied || next.value != kept.value;
            next.keeps_zeros = next.keeps_zeros || kept.keeps_zeros;
            if (next.width == 0) next.width = kept.width;
        }
        kept = next;
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
    last_of_class last{{entry.path, entry.length}, {}, {}};
    for (uint32_t i = 0; i < entry.number_count; ++i) {
        last.steps[i] = entry.numbers[i].step;
        last.places[i] = entry.numbers[i].places;
    }
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
        number step{.step = std::clamp(last.steps[i], -longest_step, longest_step),
                    .places = std::min(last.places[i], most_places)};
        if (!same_unit(entry.numbers[i], step)) continue;
        entry.numbers[i].step = step.step;
        entry.numbers[i].varied = step.step != 0;
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
        if (entry.numbers[i].places > 0) width[1] = 'g';
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
        char text[longest_number];
        put({text, write(entry.numbers[i], ahead, text)});
        at = size_t{now.numbers[i].begin} + now.numbers[i].length;
    }
    put(path.substr(at));
    return {out.data(), filled};
}

}  // namespace halcyon::predict
