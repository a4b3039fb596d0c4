#include <bough/base.h>
#include <stdio.h>
int main(void) {
    puts(bough_version());
    return 0;
}
