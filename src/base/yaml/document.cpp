#include "base/yaml/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/closest_name.hpp"
#include "base/yaml/scalar.hpp"
#include "base/yaml/text_check.hpp"

namespace halcyon::yaml {
namespace {

failure at_line(std::string_view file, int line, const std::string& message) {
    return {error_kind::config, std::string(file) + ":" + std::to_string(line) + ": " + message, 0};
}

bool holds_others(const node& n) {
    return n.kind == node_kind::sequence || n.kind == node_kind::map;
}

size_t count_nodes(const node& n) {
    size_t count = 1;
    for (const node& item : n.items) count += count_nodes(item);
    for (const map_entry& entry : n.entries) count += count_nodes(entry.value);
    return count;
}

/// Builds nodes from the parser's events. Throws halcyon::error with the place in its message.
class builder final : public YAML::EventHandler {
  public:
    builder(std::string_view file, const limits& bounds) : file_(file), bounds_(bounds) {}

    std::optional<node> root;

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (root) fail(mark.line + 1, "a second document begins here; the file may hold only one");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, "?", anchor, ""); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        scalar(mark, tag, anchor, value);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const int line = mark.line + 1;
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) fail(line, "this alias lies inside the value it stands for");
        nodes_from_aliases_ += found->second.nodes;
        if (nodes_from_aliases_ > bounds_.nodes_from_aliases) {
            fail(line, "aliases expand to more than " + std::to_string(bounds_.nodes_from_aliases) + " values");
        }
        if (static_cast<int>(open_.size()) + found->second.depth > bounds_.depth) too_deep(line);
        node copy = found->second.value;
        copy.line = line;
        place(std::move(copy), line);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        begin(node_kind::sequence, mark, tag, "seq", anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        begin(node_kind::map, mark, tag, "map", anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapEnd() override { end(); }

  private:
    struct open_node {
        node value;
        YAML::anchor_t anchor = 0;
        int own_line = 0;
        std::optional<std::string> key;  ///< map: the key whose value comes next
        int key_line = 0;
        std::unordered_map<std::string, int> key_lines;
    };
    struct anchored {
        node value;
        size_t nodes = 0;
        int depth = 0;
    };

    [[noreturn]] void fail(int line, const std::string& message) const { throw error(at_line(file_, line, message)); }
    [[noreturn]] void too_deep(int line) const {
        fail(line, "nested deeper than " + std::to_string(bounds_.depth) + " levels");
    }

    static int depth_of(const node& n) {
        int deepest = 0;
        for (const node& item : n.items) deepest = std::max(deepest, depth_of(item));
        for (const map_entry& entry : n.entries) deepest = std::max(deepest, depth_of(entry.value));
        return holds_others(n) ? deepest + 1 : deepest;
    }

    void scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) {
        const int line = mark.line + 1;
        if (find_bad_text(text)) fail(line, "an escape makes a character that is not allowed in text");
        auto value = resolve_scalar(tag, text);
        const bool is_key = !open_.empty() && open_.back().value.kind == node_kind::map && !open_.back().key;
        if (!value) {
            // A key is its text whatever it looks like: `.inf: 1` is a (strange) key, not a number.
            if (!is_key || tag != "?") fail(line, value.why().message);
            node as_text;
            as_text.kind = node_kind::string;
            as_text.text = text;
            value = std::move(as_text);
        }
        value->line = line;
        remember(anchor, *value);
        place(std::move(*value), line);
    }

    void begin(node_kind kind, const YAML::Mark& mark, const std::string& tag, std::string_view own_tag,
               YAML::anchor_t anchor) {
        const int line = mark.line + 1;
        if (static_cast<int>(open_.size()) >= bounds_.depth) too_deep(line);
        if (!tag.empty() && tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:" + std::string(own_tag)) {
            fail(line, "'" + printable(tag) + "' is a tag this file format does not have");
        }
        open_node fresh;
        fresh.value.kind = kind;
        fresh.value.line = line;
        fresh.own_line = line;
        fresh.anchor = anchor;
        if (!open_.empty() && open_.back().value.kind == node_kind::map && !open_.back().key) {
            fail(line, "a key must be a single word or a quoted text, not a list or map");
        }
        open_.push_back(std::move(fresh));
    }

    void end() {
        open_node done = std::move(open_.back());
        open_.pop_back();
        remember(done.anchor, done.value);
        place(std::move(done.value), done.own_line);
    }

    void remember(YAML::anchor_t anchor, const node& value) {
        if (anchor != 0) anchors_[anchor] = {value, count_nodes(value), depth_of(value)};
    }

    /// Puts a finished value where it belongs: the root, a list's next item, a map's next key or that key's value.
    void place(node value, int line) {
        if (open_.empty()) {
            root = std::move(value);
            return;
        }
        open_node& parent = open_.back();
        if (parent.value.kind == node_kind::sequence) {
            parent.value.items.push_back(std::move(value));
            return;
        }
        if (!parent.key) {
            take_key(parent, value, line);
            return;
        }
        if (holds_others(value) || value.kind == node_kind::null) value.line = parent.key_line;
        parent.value.entries.push_back({std::move(*parent.key), parent.key_line, std::move(value)});
        parent.key.reset();
    }

    void take_key(open_node& parent, node& key, int line) const {
        if (holds_others(key)) fail(line, "a key must be a single word or a quoted text, not a list or map");
        if (key.kind == node_kind::null) fail(line, "a key is missing before ':' (quote it if it is 'null' or '~')");
        const auto [first, is_new] = parent.key_lines.emplace(key.text, line);
        if (!is_new) {
            fail(line, "the key '" + printable(key.text) + "' is given twice; first on line " +
                           std::to_string(first->second));
        }
        parent.key = std::move(key.text);
        parent.key_line = line;
    }

    std::string file_;
    limits bounds_;
    std::vector<open_node> open_;
    std::unordered_map<YAML::anchor_t, anchored> anchors_;
    size_t nodes_from_aliases_ = 0;
};

}  // namespace

std::string_view name_of(node_kind kind) {
    switch (kind) {
        case node_kind::null:
            return "null";
        case node_kind::boolean:
            return "true or false";
        case node_kind::integer:
            return "whole number";
        case node_kind::real:
            return "number";
        case node_kind::string:
            return "string";
        case node_kind::sequence:
            return "list";
        case node_kind::map:
            return "map";
    }
    return "";
}

const map_entry* node::find_entry(std::string_view key) const {
    for (const map_entry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

const node* node::find(std::string_view key) const {
    const map_entry* entry = find_entry(key);
    return entry != nullptr ? &entry->value : nullptr;
}

result<node> parse(std::string_view text, std::string_view file_name, const limits& bounds) {
    if (text.size() > bounds.bytes) {
        return at_line(file_name, 1, "the file is larger than " + std::to_string(bounds.bytes) + " bytes");
    }
    if (const auto bad = find_bad_text(text)) return at_line(file_name, bad->line, bad->message);
    if (const auto line = find_tab_in_indentation(text)) {
        return at_line(file_name, *line, "a tab in the indentation; YAML allows only spaces there");
    }
    // yaml-cpp takes the end of the file for a missing quote; a document end marker makes it notice.
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + (text.ends_with('\n') ? 0 : 1);
    try {
        std::istringstream stream(std::string(text) + "\n...\n");
        YAML::Parser parser(stream);
        builder events(file_name, bounds);
        while (parser.HandleNextDocument(events)) {
        }
        if (!events.root || events.root->kind == node_kind::null) return at_line(file_name, 1, "the file is empty");
        return std::move(*events.root);
    } catch (const YAML::Exception& e) {
        const int line = e.mark.is_null() ? 1 : std::clamp(e.mark.line + 1, 1, std::max(lines, 1));
        return at_line(file_name, line, "not valid YAML: " + printable(e.msg));
    } catch (const error& e) {
        return e.as_failure();
    }
}

}  // namespace halcyon::yaml
