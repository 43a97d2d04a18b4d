function parse(line) {
    const [name, amount, price] = line.split(",");
    return { name, amount: Number(amount), price: Number(price) };
}
function total(lines) {
    let sum = 0;
    for (const line of lines) {
        const order = parse(line);
        sum += order.amount * order.price;
    }
    return sum;
}
console.log(total(["tea,2,4", "milk,1", "bread,1,3"]));
