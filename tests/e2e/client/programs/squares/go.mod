module example.com/squares

go 1.19
