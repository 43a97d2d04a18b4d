struct Shelf {
    name: &'static str,
    amount: u32,
}

fn left(shelf: &Shelf, wanted: u32) -> u32 {
    shelf.amount - wanted
}

fn main() {
    let shelves = [Shelf { name: "tea", amount: 9 }, Shelf { name: "milk", amount: 3 }];
    for shelf in &shelves {
        println!("{} {}", shelf.name, left(shelf, 5));
    }
}
