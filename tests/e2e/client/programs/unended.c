/* Writes whole lines, and at last one without a line end. */
#include <stdio.h>

int main(void) {
  printf("a line\n");
  fflush(stdout);
  printf("another line\n\xff and no line end");
  return 0;
}
