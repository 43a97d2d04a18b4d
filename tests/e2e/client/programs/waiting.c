/* Runs until its standard input ends, for those who attach to it. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  volatile long ticks = 0;
  char buffer[16];
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("ready\n");
  do {
    ticks++;
  } while (poll(&input, 1, 20) == 0 || read(0, buffer, sizeof buffer) > 0);
  printf("done\n");
  return 0;
}
