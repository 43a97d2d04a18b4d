#include <stdio.h>

struct node {
    int value;
    struct node *next;
};

static int sum_list(struct node *head) {
    int sum = 0;
    for (struct node *cur = head; cur != NULL; cur = cur->next) {
        sum += cur->value;
    }
    return sum;
}

int main(void) {
    struct node last = {3, (struct node *)0x10}, middle = {2, &last}, first = {1, &middle};
    printf("%d\n", sum_list(&first));
    return 0;
}
