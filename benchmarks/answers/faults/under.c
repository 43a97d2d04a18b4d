#include <stdio.h>
#include <string.h>

static unsigned room(const char *text, unsigned most) {
    unsigned used = (unsigned)strlen(text);
    unsigned left = most - used;
    return left;
}

int main(void) {
    const char *names[] = {"tea", "camomile", "mint"};
    for (int i = 0; i < 3; i++) {
        printf("%s: %u\n", names[i], room(names[i], 6));
    }
    return 0;
}
