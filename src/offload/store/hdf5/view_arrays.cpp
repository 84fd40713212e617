#include "offload/store/hdf5/view_arrays.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "offload/model/boxes.hpp"
#include "offload/store/hdf5/format.hpp"

namespace halcyon::offload::hdf5 {
namespace {

std::vector<int64_t> list_of(const extents& e) {
    return {e.span().begin(), e.span().end()};
}

int64_t product(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t v : shape) n *= v;
    return n;
}

bool inside(const stored_domain& d) {
    const extents interior = d.interior();
    for (int i = 0; i < interior.rank; ++i) {
        if (interior[i] < 0 || d.offset[i] < 0 || d.offset[i] + interior[i] > d.global[i]) return false;
    }
    return true;
}

/// Puts the rows [begin, end) into `array`, consecutive ones as one piece. `stacked_at` ≥ 0: index of the rows' domain
/// in a leading dimension of domains.
void add_pieces(view_variable& array, const row_source* begin, const row_source* end, int64_t stacked_at,
                std::set<std::vector<int64_t>>& filled) {
    const bool varies = array.description.time_varying;
    while (begin != end) {
        const row_source* last = begin;
        while (last + 1 != end && last[1].file == begin->file && last[1].domain == begin->domain &&
               last[1].row == last->row + 1 && last[1].time == last->time + 1) {
            ++last;
        }
        const stored_domain& d = *begin->domain;
        const extents interior = d.interior();
        const int64_t rows = last - begin + 1;
        piece p;
        p.source_shape = {d.row_count};
        p.source_start = {begin->row};
        p.source_count = {rows};
        if (varies) {
            p.target_start.push_back(begin->time);
            p.target_count.push_back(rows);
        }
        if (stacked_at >= 0) {
            p.target_start.push_back(stacked_at);
            p.target_count.push_back(1);
        }
        for (int i = 0; i < interior.rank; ++i) {
            p.source_shape.push_back(d.dimensions[i]);
            p.source_start.push_back(d.ghost_before[i]);
            p.source_count.push_back(interior[i]);
            p.target_start.push_back(array.description.placed ? d.offset[i] : 0);
            p.target_count.push_back(interior[i]);
        }
        begin = last + 1;
        // Clients that own the same box of a coordinate all write it: one of them is enough.
        std::vector<int64_t> box = p.target_start;
        box.insert(box.end(), p.target_count.begin(), p.target_count.end());
        if (interior.count() == 0 || !filled.insert(std::move(box)).second) continue;
        p.file = last->file->file_name;
        p.dataset = d.dataset;
        array.pieces.push_back(std::move(p));
    }
}

box box_of(const stored_domain& d) {
    return {d.offset, d.interior()};
}

/// Puts a row that shows the whole into `array`, but for the boxes of single blocks that are shown at the same time:
/// they were stored apart, and sources of a virtual dataset must not overlap.
void add_around(view_variable& array, const row_source& row, const std::vector<box>& apart) {
    std::vector<box> left{box_of(*row.domain)};
    for (const box& hole : apart) {
        std::vector<box> smaller;
        for (const box& b : left) subtract(b, hole, smaller);
        left = std::move(smaller);
    }
    for (const box& b : left) {
        piece p;
        p.file = row.file->file_name;
        p.dataset = row.domain->dataset;
        p.source_shape = list_of(row.domain->dimensions);
        p.source_shape.insert(p.source_shape.begin(), row.domain->row_count);
        p.source_start = p.target_start = list_of(b.start);
        p.source_count = p.target_count = list_of(b.count);
        p.source_start.insert(p.source_start.begin(), row.row);
        p.source_count.insert(p.source_count.begin(), 1);
        if (array.description.time_varying) {
            p.target_start.insert(p.target_start.begin(), row.time);
            p.target_count.insert(p.target_count.begin(), 1);
        }
        array.pieces.push_back(std::move(p));
    }
}

void count_gaps(view_variable& array) {
    int64_t covered = 0;
    for (const piece& p : array.pieces) covered += product(p.target_count);
    array.gaps = array.gaps || covered < product(array.shape);
}

view_variable array_for(const gathered_variable& variable, const std::string& path, int64_t times) {
    view_variable array;
    array.path = path;
    array.description = variable.description;
    if (variable.description.time_varying) array.shape.push_back(times);
    return array;
}

/// [begin, end) of the rows of one domain each; rows are sorted by domain.
std::vector<std::pair<const row_source*, const row_source*>> by_domain(const std::vector<row_source>& rows) {
    std::vector<std::pair<const row_source*, const row_source*>> runs;
    const row_source* begin = rows.data();
    const row_source* const end = rows.data() + rows.size();
    while (begin != end) {
        const row_source* last = begin;
        while (last != end && last->domain->domain == begin->domain->domain) ++last;
        runs.emplace_back(begin, last);
        begin = last;
    }
    return runs;
}

bool equal_interiors(const row_source* begin, const row_source* end) {
    return std::all_of(begin, end,
                       [begin](const row_source& r) { return r.domain->interior() == begin->domain->interior(); });
}

void add_placed(view_variable& array, const std::vector<row_source>& rows) {
    std::map<int64_t, std::vector<box>> apart;  // by time: blocks beside the whole
    const bool any_whole = rows.front().domain->domain == shared_dataset::whole;
    for (const row_source& r : rows)
        if (any_whole && r.domain->domain != shared_dataset::whole) apart[r.time].push_back(box_of(*r.domain));
    std::set<std::vector<int64_t>> filled;
    for (const auto& [from, to] : by_domain(rows)) {
        if (from->domain->domain != shared_dataset::whole) {
            add_pieces(array, from, to, -1, filled);
            continue;
        }
        const row_source* begin = from;
        for (const row_source* r = from; r != to; ++r) {
            array.gaps = array.gaps || r->domain->gaps;
            const auto beside = apart.find(r->time);
            if (beside == apart.end()) continue;
            add_pieces(array, begin, r, -1, filled);
            add_around(array, *r, beside->second);
            begin = r + 1;
        }
        add_pieces(array, begin, to, -1, filled);
    }
}

}  // namespace

variable_arrays arrays_of(const gathered_variable& variable, int64_t times) {
    variable_arrays result;
    const std::string& name = variable.description.name;
    const std::vector<row_source>& rows = variable.rows;
    const row_source* const begin = rows.data();
    const row_source* const end = begin + rows.size();
    if (!variable.consistent) {
        result.not_shown.push_back(name);
        return result;
    }
    if (variable.description.placed) {
        const extents& global = begin->domain->global;
        const bool fits = std::all_of(rows.begin(), rows.end(), [&global](const row_source& r) {
            return r.domain->global == global && inside(*r.domain);
        });
        if (!fits) {
            result.not_shown.push_back(name);
            return result;
        }
        view_variable array = array_for(variable, name, times);
        array.placed_whole = true;
        const std::vector<int64_t> shape = list_of(global);
        array.shape.insert(array.shape.end(), shape.begin(), shape.end());
        add_placed(array, rows);
        count_gaps(array);
        result.arrays.push_back(std::move(array));
        return result;
    }
    const auto runs = by_domain(rows);
    if (equal_interiors(begin, end)) {
        view_variable array = array_for(variable, name, times);
        array.placed_whole = runs.size() == 1;
        const std::vector<int64_t> shape = list_of(begin->domain->interior());
        if (runs.size() > 1) array.shape.push_back(static_cast<int64_t>(runs.size()));
        array.shape.insert(array.shape.end(), shape.begin(), shape.end());
        std::set<std::vector<int64_t>> filled;
        for (size_t i = 0; i < runs.size(); ++i) {
            add_pieces(array, runs[i].first, runs[i].second, runs.size() > 1 ? static_cast<int64_t>(i) : -1, filled);
            if (runs.size() > 1) result.stacked_domains.push_back(runs[i].first->domain->domain);
        }
        count_gaps(array);
        result.arrays.push_back(std::move(array));
        return result;
    }
    for (const auto& [from, to] : runs) {
        const std::string path = name + "/" + domain_name(from->domain->domain, 0);
        if (!equal_interiors(from, to)) {
            result.not_shown.push_back(path);
            continue;
        }
        view_variable array = array_for(variable, path, times);
        const std::vector<int64_t> shape = list_of(from->domain->interior());
        array.shape.insert(array.shape.end(), shape.begin(), shape.end());
        std::set<std::vector<int64_t>> filled;
        add_pieces(array, from, to, -1, filled);
        count_gaps(array);
        result.arrays.push_back(std::move(array));
    }
    return result;
}

}  // namespace halcyon::offload::hdf5
