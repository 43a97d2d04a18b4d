#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    char name[8];
    int amount;
};

static struct order *order_of(const char *name, int amount) {
    struct order *order = malloc(sizeof *order);
    order->amount = amount;
    strcpy(order->name, name);
    return order;
}

int main(void) {
    struct order *first = order_of("tea", 3), *second = order_of("camomile", 5);
    int total = first->amount + second->amount;
    printf("%d\n", total);
    return total == 8 ? 0 : 1;
}
