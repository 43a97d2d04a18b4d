// Add in threads and throw; given an argument, repeat what is typed and run until there is a file `over`.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

int total = 0;

int add(int number) {
    total += number;  // (add)
    return total;     // (added)
}

void work(int number) {
    add(number);  // (call)
}

void run_on() {
    std::string line;
    bool reading = true;
    std::cout << "ready" << std::endl;
    for (int tick = 0; tick < 6000 && access("over", F_OK) != 0; tick++) {
        reading = reading && std::getline(std::cin, line);
        if (reading) std::cout << "read " << line << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));  // (tick)
    }
    std::cout << "over" << std::endl;
}

int main(int argc, char **argv) {
    if (argc > 1) {
        run_on();
        return 0;
    }
    for (int number = 1; number <= 20; number++) std::thread(work, number).join();
    std::cout << "total " << total << std::endl;
    throw std::runtime_error("no more to add");
}
