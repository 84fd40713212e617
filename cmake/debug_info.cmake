# Optimised builds know functions and lines, so that back traces are complete, but neither types nor variables: these
# take a third of the compiler's time and two thirds of an object file. The preset `debug` has all of them.
# The option comes after CMake's own -g, and the last one counts.
add_compile_options($<$<AND:$<CONFIG:RelWithDebInfo>,$<COMPILE_LANGUAGE:C,CXX>>:-g1>)
