add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-sign-conversion>)
if(HALCYON_SANITIZE)
  add_compile_options(-fsanitize=${HALCYON_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HALCYON_SANITIZE})
endif()
