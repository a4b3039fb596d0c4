/* WebAssembly has no longjmp(); cmocka.h beside this file needs none. */
