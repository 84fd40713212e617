# Builds everything under the sanitizers that HALCYON_SANITIZE names. Included before any target is made.
if(NOT HALCYON_SANITIZE)
  return()
endif()
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
