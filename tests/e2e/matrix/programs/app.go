// Add in goroutines and panic; given an argument, repeat what is typed and run until there is a file `over`.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

var total = 0

func add(number int) int {
	total += number // (add)
	return total    // (added)
}

func work(number int, done chan bool) {
	add(number) // (call)
	done <- true
}

func runOn() {
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for tick := 0; tick < 6000; tick++ {
		if lines.Scan() {
			fmt.Println("read", lines.Text())
		}
		time.Sleep(10 * time.Millisecond) // (tick)
		if _, err := os.Stat("over"); err == nil {
			fmt.Println("over")
			return
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		runOn()
		return
	}
	done := make(chan bool)
	for number := 1; number <= 20; number++ {
		go work(number, done)
		<-done
	}
	fmt.Println("total", total)
	panic("no more to add")
}
