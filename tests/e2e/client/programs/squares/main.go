// Adds squares, each of them in a goroutine.
package main

import "fmt"

func square(number int) int {
	result := number * number
	return result
}

func main() {
	results := make(chan int)
	for number := 1; number < 4; number++ {
		go func(number int) { results <- square(number) }(number)
	}
	total := 0
	for range [3]int{} {
		total += <-results
	}
	fmt.Println("total", total)
}
