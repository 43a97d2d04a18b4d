// Add in threads and break off; given an argument, repeat what is typed and run until there is a file `over`.
use std::io::BufRead;
use std::path::Path;
use std::thread;
use std::time::Duration;

static mut TOTAL: i32 = 0;

fn add(number: i32) -> i32 {
    unsafe {
        TOTAL += number; // (add)
        TOTAL // (added)
    }
}

fn work(number: i32) {
    add(number); // (call)
}

fn run_on() {
    println!("ready");
    let mut lines = std::io::stdin().lock().lines().fuse();
    for _ in 0..6000 {
        if Path::new("over").exists() {
            println!("over");
            break;
        }
        if let Some(Ok(line)) = lines.next() {
            println!("read {}", line);
        }
        thread::sleep(Duration::from_millis(10)); // (tick)
    }
}

fn main() {
    if std::env::args().count() > 1 {
        return run_on();
    }
    for number in 1..=20 {
        thread::spawn(move || work(number)).join().unwrap();
    }
    println!("total {}", unsafe { TOTAL });
    std::process::abort();
}
