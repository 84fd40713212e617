#pragma once

#include <cstddef>
#include <cstdint>

/// Stacks that were walked before. A walk reads words of the stack, and what it reads decides where it reads next: so a
/// stack on which the same words stand at the same places is walked in the same way, and to compare them takes a tenth
/// of the time, since no comparison waits for the one before.
///
/// The words are kept as a tree: those that several walks from one stack pointer read alike are kept once, and at each
/// word in which they differ the tree branches. Nodes are written before they can be found, and never changed but for a
/// branch that is added: no lock is taken, and whoever looks may be interrupted, or a child of fork. What finds no room
/// is walked again each time: walks that read more than 80 words, from more than 2,048 stack pointers, of more than
/// 65,536 different words together, or with more than 48 values of one. Nothing is given back: what was kept in another
/// state is of no use any more.
namespace halcyon::calls::walked_stacks {

/// What a walk read, in this order, from its beginning at one stack pointer.
class notes {
  public:
    /// `state`: the same for as long as code that was walked through stays what it is.
    notes(uintptr_t sp, uint32_t state) : sp_(sp), state_(state) {}

    void word(uintptr_t address, uintptr_t value);
    /// The walk used the frame pointer that it began with.
    void frame_pointer(uintptr_t value) { add(at_register, value); }
    /// The walk has ended: a stack with these words has this hash, which is not 0.
    void keep(uint64_t hash);

  private:
    friend uint64_t hash_of(uintptr_t sp, uintptr_t bp, uint32_t state);
    static constexpr int32_t at_register = INT32_MIN;  // instead of a distance
    static constexpr size_t most = 80;

    void add(int32_t distance, uintptr_t value);
    [[nodiscard]] uint32_t put_behind(size_t first, uint64_t hash) const;

    uintptr_t sp_;
    uint32_t state_;
    uint32_t count_ = 0;  // most + 1: too many
    int32_t distances_[most];
    uintptr_t values_[most];
};

/// The hash of the stack if it was walked before from this stack pointer; 0: it was not.
uint64_t hash_of(uintptr_t sp, uintptr_t bp, uint32_t state);

}  // namespace halcyon::calls::walked_stacks
