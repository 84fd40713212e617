# Builds everything under the sanitizers that HALCYON_SANITIZE names. Included before any target is made.
#
# address and thread bring a run time that wants to be the first to step in front of the C library, which libhalcyon-io
# wants as well: HALCYON_INTERPOSERS is off with them. `undefined` alone needs none: its findings are illegal instructions.
set(HALCYON_INTERPOSERS ON)
if(NOT HALCYON_SANITIZE)
  return()
endif()
if(HALCYON_SANITIZE STREQUAL "undefined")
  add_compile_options(-fsanitize=undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer)
  return()
endif()
set(HALCYON_INTERPOSERS OFF)
# Without any optimisation, simulations of the coordinator take ninety times as long as without sanitizers.
add_compile_options(-O1)
add_compile_options(-fsanitize=${HALCYON_SANITIZE} -fno-omit-frame-pointer)
add_link_options(-fsanitize=${HALCYON_SANITIZE})
# Indices within a vector's capacity but beyond its size, empty optionals and the like: no sanitizer sees them.
add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
if(HALCYON_SANITIZE MATCHES "thread")
  # gcc warns that tsan does not model std::atomic_thread_fence. Ours order atomics alone, which never race.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
endif()

# Programs keep what they loaded, so that reports name the modules in which they happened.
add_library(sanitize_keep_modules OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/tests/sanitize/keep_modules.c)
link_libraries($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:sanitize_keep_modules>)
