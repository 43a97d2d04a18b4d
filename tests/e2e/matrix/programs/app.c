// Add in a loop and break off; given an argument, repeat what is typed and run until there is a file `over`.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int total = 0;

int add(int number) {
    total += number;  // (add)
    return total;     // (added)
}

void work(int number) {
    add(number);  // (call)
}

void run_on(void) {
    char line[80];
    int reading = 1;
    printf("ready\n");
    for (int tick = 0; tick < 6000 && access("over", F_OK) != 0; tick++) {  // not for ever, if a test breaks off
        reading = reading && fgets(line, sizeof line, stdin);
        if (reading) printf("read %s", line);
        usleep(10000);  // (tick)
    }
    printf("over\n");
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1) {
        run_on();
        return 0;
    }
    for (int number = 1; number <= 20; number++) work(number);
    printf("total %d\n", total);
    abort();
}
