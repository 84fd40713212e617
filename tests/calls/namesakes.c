// A library with functions of its own by names that the C library has, too (-DLIBRARY), and a program that calls them.
#ifdef LIBRARY
double error(double first, const char* word, double second) {
    return word[0] == 'w' ? first - second : 0;
}
long warn(long a, long b, long c, long d, long e, long f, long g, long h) {
    return a - b + c - d + e - f + g * h;
}
float verr(void) {
    return 1.5F;
}
#else
#include <err.h>
double error(double, const char*, double);
long own_warn(long, long, long, long, long, long, long, long) __asm__("warn");
float own_verr(void) __asm__("verr");
int main(void) {
    if (error(0.75, "word", 0.5) != 0.25) return 1;
    if (own_warn(1, 2, 3, 4, 5, 6, 7, 8) != 53) return 2;
    if (own_verr() != 1.5F) return 3;
    errx(42, "of the C library");
}
#endif
