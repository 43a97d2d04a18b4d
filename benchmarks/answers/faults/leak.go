package main

import (
	"fmt"
	"time"
)

func fetch(results chan int, number int) {
	results <- number * 2
}

func first(numbers []int) int {
	results := make(chan int)
	for _, number := range numbers {
		go fetch(results, number)
	}
	return <-results
}

func main() {
	fmt.Println(first([]int{1, 2, 3, 4}) > 0)
	time.Sleep(1000 * time.Second)
}
