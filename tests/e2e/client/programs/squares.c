/* Adds squares, one of them in another thread, and ends with exit code 5. */
#include <pthread.h>
#include <stdio.h>

static int counter = 0;

static int square(int number) {
  int result = number * number;
  counter += 1;
  return result;
}

static void *work(void *argument) {
  *(int *)argument = square(7);
  return NULL;
}

int main(void) {
  int total = 0, other = 0;
  pthread_t thread;
  for (int number = 1; number < 4; number++)
    total += square(number);
  pthread_create(&thread, NULL, work, &other);
  pthread_join(thread, NULL);
  printf("total %d other %d\n", total, other);
  return 5;
}
