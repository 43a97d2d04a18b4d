/* Runs for ever. */
#include <unistd.h>

int main(void) {
  volatile long turns = 0;
  for (;;) {
    turns++;
    usleep(1000);
  }
}
