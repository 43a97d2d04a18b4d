package main

import "fmt"

type shelf struct {
	amounts map[string]int
}

func (s *shelf) add(name string, amount int) {
	s.amounts[name] += amount
}

func open(names []string) *shelf {
	opened := &shelf{}
	if len(names) > 0 {
		opened.amounts = map[string]int{}
	}
	return opened
}

func main() {
	for _, names := range [][]string{{"tea"}, {}} {
		opened := open(names)
		opened.add("tea", 4)
		fmt.Println(opened.amounts)
	}
}
