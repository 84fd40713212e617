#include "calls/memory_backend/open_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace halcyon::calls::in_memory {
namespace {

constexpr uint32_t stay = 64;  // open files without holders that do
constexpr uint32_t generations = (uint32_t{1} << 24) - 1;

uint64_t& word_of(process_slot& process, uint32_t record) {
    return process.holds[record / 64];
}
uint64_t bit_of(uint32_t record) {
    return uint64_t{1} << record % 64;
}

void drop_whole(space& of, uint32_t number) {
    open_record& record = of.open[number];
    inode& node = of.inodes[record.inode];
    if (record.whole == 0) return;
    if (record.whole == LOCK_EX)
        node.exclusive = 0;
    else
        --node.shared;
    record.whole = 0;
    node.lets_go.fetch_add(1);
    wake(node.lets_go, 1 << 20);
}

}  // namespace

void open_files::start(space& of, job_processes& processes, file_data& data) {
    space_ = &of;
    processes_ = &processes;
    data_ = &data;
}

open_record* open_files::find(uint64_t handle) const {
    const uint32_t number = record_of(handle);
    if (number == 0 || number > most_open) return nullptr;
    open_record& record = space_->open[number];
    return record.inode != 0 && record.generation == handle >> 40 ? &record : nullptr;
}

// A child of vfork lives in the memory of its parent, to whom this belongs.
void open_files::remember(uint32_t record, uint32_t generation) {
    if (processes_->is_own()) held_[record] = generation;
}

void open_files::hold(uint32_t record, int own) {
    uint64_t& word = word_of(space_->processes[own], record);
    if ((word & bit_of(record)) != 0) return;
    word |= bit_of(record);
    ++space_->open[record].holders;
}

void open_files::let_go(uint32_t record, int slot) {
    uint64_t& word = word_of(space_->processes[slot], record);
    if ((word & bit_of(record)) == 0) return;
    word &= ~bit_of(record);
    open_record& file = space_->open[record];
    if (--file.holders != 0) return;
    drop_whole(*space_, record);
    if (file.left) return;
    header& head = space_->head;
    file.left = true;
    file.next_left = 0;
    (head.last_left != 0 ? space_->open[head.last_left].next_left : head.first_left) = record;
    head.last_left = record;
    ++head.left;
    settle(stay);
}

void open_files::settle(uint32_t kept) {
    header& head = space_->head;
    while (head.left > kept) {
        const uint32_t number = head.first_left;
        open_record& record = space_->open[number];
        head.first_left = record.next_left;
        if (head.first_left == 0) head.last_left = 0;
        --head.left;
        record.left = false;
        if (record.holders != 0) continue;
        const uint32_t inode = record.inode;
        record.inode = 0;
        give(head.open, space_->open, number);
        --space_->inodes[inode].open_files;
        free_if_unused(inode);
    }
}

void open_files::free_if_unused(uint32_t number) const {
    inode& node = space_->inodes[number];
    if (node.open_files != 0 || number == root_inode) return;
    const bool gone = node.links.load(std::memory_order_relaxed) == 0;
    const unsigned mode = node.mode.load(std::memory_order_relaxed);
    if (S_ISREG(mode)) data_->free_behind(node, gone ? 0 : node.size.load());
    if (!gone) return;
    if (S_ISLNK(mode)) {
        give(space_->head.tables, space_->table_links, node.root.load());
        std::memset(static_cast<void*>(&space_->tables[node.root.exchange(0)]), 0, sizeof(table));
    }
    node.mode.store(0);
    give(space_->head.inodes, space_->inodes, number);
}

int open_files::open(const names::place& at, int flags, int own, uint64_t& handle) {
    if (own < 0) return -ENFILE;
    uint32_t number = take(space_->head.open, space_->open, most_open);
    if (number == 0) {
        reclaim(own);
        number = take(space_->head.open, space_->open, most_open);
    }
    if (number == 0) return -ENFILE;
    open_record& record = space_->open[number];
    record.inode = at.inode;
    record.generation = record.generation % generations + 1;
    record.holders = 0;
    record.flags = static_cast<uint32_t>(flags);
    record.name = at.entry;
    record.name_generation = space_->names[at.entry].generation;
    record.whole = 0;
    record.mapped = false;
    ++space_->inodes[at.inode].open_files;
    hold(number, own);
    remember(number, record.generation);
    handle = uint64_t{record.generation} << 40 | uint64_t{at.inode} << 16 | number;
    return 0;
}

int open_files::adopt(uint64_t handle, int own) {
    const open_record* const record = find(handle);
    if (record == nullptr) return -ESTALE;
    if (own < 0) return -ENFILE;
    hold(record_of(handle), own);
    remember(record_of(handle), record->generation);
    return 0;
}

void open_files::close(uint64_t handle, int own) {
    const open_record* const record = find(handle);
    if (record == nullptr || own < 0 || record->mapped) return;
    let_go(record_of(handle), own);
    remember(record_of(handle), 0);
}

int open_files::lock_whole(uint64_t handle, int operation) const {
    open_record* const record = find(handle);
    if (record == nullptr) return -EBADF;
    inode& node = space_->inodes[record->inode];
    const uint32_t number = record_of(handle);
    switch (operation & ~LOCK_NB) {
        case LOCK_UN:
            drop_whole(*space_, number);
            return 0;
        case LOCK_SH:
            if (record->whole == LOCK_SH) return 0;
            drop_whole(*space_, number);  // changing from one to the other is two steps, as the kernel's
            if (node.exclusive != 0) return -EAGAIN;
            ++node.shared;
            record->whole = LOCK_SH;
            return 0;
        case LOCK_EX:
            if (record->whole == LOCK_EX) return 0;
            drop_whole(*space_, number);
            if (node.exclusive != 0 || node.shared != 0) return -EAGAIN;
            node.exclusive = number;
            record->whole = LOCK_EX;
            return 0;
        default:
            return -EINVAL;
    }
}

void open_files::empty(uint32_t number) {
    inode& node = space_->inodes[number];
    if (node.open_files != 0) settle(0);
    if (node.open_files != 0 || node.size.load() == 0) return;
    node.size.store(0);
    data_->free_behind(node, 0);
    node.modified.store(file_data::now());
    node.changed.store(file_data::now());
}

void open_files::sweep(int own) {
    for (int slot = 0; slot < static_cast<int>(most_processes); ++slot) {
        if (space_->process_ids[slot].load(std::memory_order_acquire) == 0 || processes_->is_alive(slot, own)) continue;
        for (uint32_t record = 1; record <= most_open; ++record) {
            if (word_of(space_->processes[slot], record) == 0)
                record |= 63;
            else
                let_go(record, slot);
        }
        space_->process_ids[slot].store(0, std::memory_order_release);
    }
}

void open_files::reclaim(int own) {
    sweep(own);
    settle(0);
}

void open_files::hold_all(int own) {
    if (own < 0) return;
    for (uint32_t record = 1; record <= most_open; ++record) {
        if (held_[record] == 0) continue;
        if (space_->open[record].inode != 0 && space_->open[record].generation == held_[record])
            hold(record, own);
        else
            remember(record, 0);
    }
}

void open_files::after_fork() {
    const held_job_lock all(*space_, *processes_, space_->head.lock);
    hold_all(all.own());
}

}  // namespace halcyon::calls::in_memory
