"""Programs of 3,000 lines and more, each with one fault that is far from its symptom.

They are written when they are needed, always alike: sixty-odd stages that work on orders, each with a table, bands and
a check digit of its own; in one of them is the fault. They are in no repository, so that no model has read them.

    python benchmarks/answers/large_programs.py NAME FOLDER    write one of them
"""

import random
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STAGES = 66
FAULTY = 36
"""Number of the stage with the fault."""

KINDS = ("tea", "milk", "bread", "rice", "beans", "apples", "pears", "flour", "sugar", "oil", "soap", "salt")
VERBS = ("settle", "grade", "weigh", "route", "bundle", "price", "audit", "pack", "stamp", "rate", "check")
NOUNS = ("freight", "margin", "tariff", "pallet", "rebate", "deposit")


@dataclass(frozen=True)
class Stage:
    """A stage: its number, the name of its function, and the numbers in it."""

    number: int
    name: str
    table: Mapping[str, int]
    bands: Sequence[int]
    modulus: int


def stages() -> list[Stage]:
    """Return the stages, always the same."""
    numbers = random.Random(29)  # noqa: S311 - no secret
    names = [f"{verb}_{noun}" for noun in NOUNS for verb in VERBS][:STAGES]
    return [
        Stage(
            number,
            name,
            {kind: numbers.randint(2, 9) for kind in KINDS},
            sorted(numbers.sample(range(5, 400, 5), 9)),
            numbers.choice((83, 89, 97, 101, 103)),
        )
        for number, name in enumerate(names)
    ]


def main() -> int:
    """Run the command."""
    name, folder = sys.argv[1:]
    write(name, Path(folder))
    return 0


def write(name: str, folder: Path) -> None:
    """Write a program into a folder."""
    for file, text in PROGRAMS[name]().items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _text(template: str) -> str:
    return textwrap.dedent(template).lstrip("\n")


# Python


def _python_stage(stage: Stage, work: str, *, is_async: bool = False) -> str:
    """Return the module of a stage, whose function does some work with each order."""
    table = "".join(f"    {kind!r}: {number},\n" for kind, number in stage.table.items())
    bands = "".join(f"    if value < {bound}:\n        return {number}\n" for number, bound in enumerate(stage.bands))
    title = stage.name.replace("_", " ").capitalize()
    return (
        f'"""{title} of each order."""\n\nTABLE = {{\n{table}}}\n\n\ndef band_of(value):\n'
        f'    """Return the band in which a value lies."""\n{bands}    return {len(stage.bands)}\n\n\n'
        'def check_digit(text):\n    """Return the check digit of a code."""\n    total = 0\n'
        "    for place, letter in enumerate(text, 1):\n        total += place * ord(letter)\n"
        f"    return total % {stage.modulus}\n\n\n"
        f"{'async ' if is_async else ''}def {stage.name}(order):\n"
        f'    """{title}."""\n{textwrap.indent(_text(work), "    ")}'
    )


_PYTHON_WORK = """
    band = band_of(order["amount"] * {number})
    weight = TABLE[order["kind"]]
    if band > 4:
        order["cost"] += weight * band
    else:
        order["cost"] += weight
    order["checks"] += check_digit(order["code"])
    order["trail"].append(band)
"""

_ORDERS = """
    KINDS = {kinds!r}


    def make_orders():
        \"\"\"Return the orders of the day.\"\"\"
        return [
            {{
                "number": number,
                "kind": KINDS[number % len(KINDS)],
                "code": f"{{KINDS[number % len(KINDS)]}}-{{number:04}}",
                "amount": number % 17 + 1,
                "cost": 0,
                "checks": 0,
                "trail": [],
            }}
            for number in range(36)
        ]
"""


def _python_package(
    faulty_work: str, main_text: str, *, work: str = _PYTHON_WORK, is_async: bool = False
) -> dict[str, str]:
    """Return a program of one module for each stage, and a main module that runs them."""
    files = {}
    for stage in stages():
        of_stage = faulty_work if stage.number == FAULTY else work
        text = _text(of_stage).replace("{number}", str(stage.number + 1))
        files[f"stages/{stage.name}.py"] = _python_stage(stage, text, is_async=is_async)
    files["stages/__init__.py"] = ""
    files["orders.py"] = _text(_ORDERS.format(kinds=KINDS))
    imports = "".join(f"from stages.{stage.name} import {stage.name}\n" for stage in stages())
    names = "".join(f"    {stage.name},\n" for stage in stages())
    files["main.py"] = f"{imports}\nSTAGES = [\n{names}]\n\n\n{_text(main_text)}"
    return files


def none_far_away() -> dict[str, str]:
    """Let a stage leave None in an order, which is added to a number much later."""
    faulty = """
        band = band_of(order["amount"] * {number})
        order["cost"] += TABLE[order["kind"]]
        order["bonus"] = {**TABLE, "salt": None}.get(order["kind"])
        order["checks"] += check_digit(order["code"])
        order["trail"].append(band)
    """
    return _python_package(
        faulty,
        """
        from orders import make_orders


        def invoice(order):
            \"\"\"Return the amount that is due.\"\"\"
            due = order["cost"] - order["bonus"]
            return max(due, 0)


        def run():
            \"\"\"Pass all orders through all stages.\"\"\"
            orders = make_orders()
            for stage in STAGES:
                for order in orders:
                    stage(order)
            return sum(invoice(order) for order in orders)


        print(run())
        """,
    )


def swallowed_far_away() -> dict[str, str]:
    """Let a stage raise an exception for one kind of orders, and the loop around all stages swallow it."""
    faulty = """
        band = band_of(order["amount"] * {number})
        order["cost"] += {kind: TABLE[kind] for kind in TABLE if kind != "salt"}[order["kind"]]
        order["trail"].append(band)
    """
    return _python_package(
        faulty,
        """
        from orders import make_orders


        def run():
            \"\"\"Pass all orders through all stages.\"\"\"
            orders = make_orders()
            for order in orders:
                for stage in STAGES:
                    try:
                        stage(order)
                    except LookupError:
                        break  # nothing is due for it
                else:
                    order["done"] = True
            return [order["number"] for order in orders if "done" not in order]


        print("orders left out:", run())
        """,
    )


def state_between_tests() -> dict[str, str]:
    """Let a test change the table of a stage, so that a test of another module fails much later."""
    files = _python_package(_PYTHON_WORK, "")
    del files["main.py"]
    all_stages = stages()
    changed = all_stages[50]
    for stage in all_stages:
        lines = [f"from stages import {stage.name} as module\n"]
        if stage.number == FAULTY:
            lines.insert(0, f"from stages.{changed.name} import TABLE\n")
        for kind, number in [*stage.table.items()][:4]:
            lines.append(
                f"\n\ndef test_{kind}():\n    order = {{'kind': {kind!r}, 'code': 'a-1', 'amount': 1, 'cost': 0,"
                f" 'checks': 0, 'trail': []}}\n    module.{stage.name}(order)\n"
                f"    assert order['cost'] % {number} == 0\n    assert order['trail']\n"
            )
        if stage.number == FAULTY:
            lines.append(
                "\n\ndef test_large_table():\n    TABLE['bread'] = 1000\n    assert max(TABLE.values()) == 1000\n"
            )
        files[f"test_{stage.number:02}_{stage.name}.py"] = "".join(lines)
    first = [*changed.table][2]
    files[f"test_50_{changed.name}.py"] += (
        f"\n\ndef test_price_of_{first}():\n    assert module.TABLE[{first!r}] == {changed.table[first]}\n"
    )
    return files


def lost_update() -> dict[str, str]:
    """Let a task read the balance before it waits and write it after that; the updates of others are lost."""
    good = """
        band = band_of(order["amount"] * {number})
        await ledger.turn()
        ledger.balance += TABLE[order["kind"]]
        order["trail"].append(band)
    """
    faulty = """
        band = band_of(order["amount"] * {number})
        balance = ledger.balance + TABLE[order["kind"]]
        await ledger.turn()
        ledger.balance = balance
        order["trail"].append(band)
    """
    files = _python_package(
        faulty,
        """
        import asyncio

        from ledger import ledger
        from orders import make_orders


        async def run():
            \"\"\"Let each stage work on an order of its own, side by side.\"\"\"
            orders = make_orders()
            work = [stage(orders[number % len(orders)]) for number, stage in enumerate(STAGES)]
            await asyncio.gather(*work)
            due = sum(
                __import__(f"stages.{stage.__name__}", fromlist=["TABLE"]).TABLE[orders[number % len(orders)]["kind"]]
                for number, stage in enumerate(STAGES)
            )
            assert ledger.balance == due, f"{ledger.balance} instead of {due}"


        asyncio.run(run())
        """,
        work=good,
        is_async=True,
    )
    for stage in stages():
        path = f"stages/{stage.name}.py"
        files[path] = files[path].replace("\n\nTABLE", "\n\nfrom ledger import ledger\n\nTABLE", 1)
    files["ledger.py"] = _text(
        """
        import asyncio


        class Ledger:
            \"\"\"The balance of the day.\"\"\"

            def __init__(self):
                self._balance = 0

            @property
            def balance(self):
                return self._balance

            @balance.setter
            def balance(self, value):
                self._balance = value

            async def turn(self):
                await asyncio.sleep(0)


        ledger = Ledger()
        """
    )
    return files


# Languages with braces


@dataclass(frozen=True)
class _Braces:
    """How a language with braces writes the parts of a stage.

    Each text has `{name}`, and `{entries}` or `{bands}`; `work` and `faulty` are the bodies for an order.
    """

    entry: str
    band: str
    stage: str
    work: str
    faulty: str

    def stage_text(self, stage: Stage) -> str:
        """Return the source of a stage."""
        entries = "".join(
            self.entry.replace("{kind}", kind).replace("{number}", str(number)).replace("{index}", str(index))
            for index, (kind, number) in enumerate(stage.table.items())
        )
        bands = "".join(
            self.band.replace("{bound}", str(bound)).replace("{number}", str(number))
            for number, bound in enumerate(stage.bands)
        )
        work = self.faulty if stage.number == FAULTY else self.work
        values = {
            "entries": entries,
            "bands": bands,
            "last": str(len(stage.bands)),
            "modulus": str(stage.modulus),
            "work": work,
            "name": stage.name,
            "factor": str(stage.number + 1),
            "camel": "".join(part.capitalize() for part in stage.name.split("_")),
        }
        text = self.stage
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text


_C = _Braces(
    entry="    {number}, /* {kind} */\n",
    band="    if (value < {bound})\n        return {number};\n",
    stage="""
static const int {name}_table[KINDS] = {
{entries}};

static int {name}_band(int value)
{
{bands}    return {last};
}

static int {name}_check(const char *code)
{
    int total = 0;
    int place = 1;
    while (*code != 0) {
        total += place * *code;
        code++;
        place++;
    }
    return total % {modulus};
}

void {name}(struct order *order)
{
    int band = {name}_band(order->amount * {factor});
    int weight = {name}_table[order->kind];
{work}    order->checks += {name}_check(order->code);
}
""",
    work="    if (band > 4)\n        order->cost += weight * band;\n    else\n        order->cost += weight;\n",
    faulty='    order->cost += weight;\n    sprintf(order->note, "band %d/%d", band, weight);\n',
)


def heap_corruption() -> dict[str, str]:
    """Let a stage write past the end of a text, into the limit that is looked at in the end."""
    declarations = "".join(f"void {stage.name}(struct order *order);\n" for stage in stages())
    names = "".join(f"    {stage.name},\n" for stage in stages())
    files = {
        "orders.h": _text(
            """
            #include <stdio.h>
            #define KINDS 12
            struct order {
                int number;
                int kind;
                int amount;
                int cost;
                int checks;
                char code[16];
                char note[8];
                int limit;
            };
            """
        )
        + declarations,
        "main.c": _text(
            """
            #include <stdlib.h>
            #include "orders.h"

            typedef void (*stage)(struct order *);
            static const stage stages[] = {
            """
        )
        + names
        + _text(
            """
            };

            static void invoice(const struct order *order)
            {
                if (order->limit != 1000) {
                    fprintf(stderr, "order %d: limit %d\\n", order->number, order->limit);
                    abort();
                }
            }

            int main(void)
            {
                struct order *order = calloc(1, sizeof *order);
                order->number = 7;
                order->kind = 3;
                order->amount = 9;
                order->limit = 1000;
                snprintf(order->code, sizeof order->code, "rice-%d", order->number);
                for (size_t number = 0; number < sizeof stages / sizeof *stages; number++)
                    stages[number](order);
                invoice(order);
                printf("%d\\n", order->cost);
                free(order);
                return 0;
            }
            """
        ),
    }
    for part, some in _parts():
        files[f"stages_{part}.c"] = '#include "orders.h"\n' + "".join(_C.stage_text(stage) for stage in some)
    return files


def _parts() -> Iterator[tuple[int, list[Stage]]]:
    """Yield the stages in files of eleven."""
    everything = stages()
    for part in range(0, len(everything), 11):
        yield part // 11, everything[part : part + 11]


_GO = _Braces(
    entry='\t"{kind}": {number},\n',
    band="\tif value < {bound} {\n\t\treturn {number}\n\t}\n",
    stage="""
var table{camel} = map[string]int{
{entries}}

func band{camel}(value int) int {
{bands}\treturn {last}
}

func check{camel}(code string) int {
\ttotal := 0
\tfor place, letter := range code {
\t\ttotal += (place + 1) * int(letter)
\t}
\treturn total % {modulus}
}

func run{camel}(order *Order, results chan<- int, done <-chan bool) {
\tband := band{camel}(order.Amount * {factor})
\tweight := table{camel}[order.Kind]
\tcost := weight + band + check{camel}(order.Code)
{work}}
""",
    work="\tselect {\n\tcase results <- cost:\n\tcase <-done:\n\t}\n",
    faulty="\tresults <- cost\n",
)


def goroutine_leak() -> dict[str, str]:
    """Let one kind of worker send its result where no one reads any more."""
    names = "".join(f"\trun{''.join(part.capitalize() for part in stage.name.split('_'))},\n" for stage in stages())
    files = {
        "go.mod": "module stages\n\ngo 1.19\n",
        "main.go": _text(
            """
            package main

            import (
            \t"fmt"
            \t"runtime"
            \t"time"
            )

            // Order is an order of the day.
            type Order struct {
            \tKind, Code string
            \tAmount     int
            }

            func poll(stop chan bool) {
            \t<-stop
            }

            func first(order *Order) int {
            \tresults, done := make(chan int), make(chan bool)
            \tdefer close(done)
            \tfor _, run := range workers {
            \t\tgo run(order, results, done)
            \t}
            \ttime.Sleep(10 * time.Millisecond)
            \treturn <-results
            }

            func main() {
            \tstop := make(chan bool)
            \tfor number := 0; number < 40; number++ {
            \t\tgo poll(stop)
            \t}
            \tbefore := runtime.NumGoroutine()
            \tfor number := 0; number < 12; number++ {
            \t\tfirst(&Order{"rice", fmt.Sprintf("rice-%d", number), number})
            \t}
            \ttime.Sleep(200 * time.Millisecond)
            \tfmt.Println("goroutines left:", runtime.NumGoroutine()-before)
            \ttime.Sleep(1000 * time.Second)
            }

            var workers = []func(*Order, chan<- int, <-chan bool){
            """
        ).replace("            ", "")
        + names
        + "}\n",
    }
    for part, some in _parts():
        files[f"stages_{part}.go"] = "package main\n" + "".join(_GO.stage_text(stage) for stage in some)
    return files


_BRACES_WORK = (
    "    if (band > 4) {\n        order.cost += weight * band;\n    } else {\n        order.cost += weight;\n    }\n"
)
"""The work of a stage in JavaScript and Rust."""

_JS = _Braces(
    entry="    {kind}: {number},\n",
    band="    if (value < {bound}) {\n        return {number};\n    }\n",
    stage="""
const {name}Table = {
{entries}};

function {name}Band(value) {
{bands}    return {last};
}

function {name}Check(code) {
    let total = 0;
    for (let place = 0; place < code.length; place++) {
        total += (place + 1) * code.charCodeAt(place);
    }
    return total % {modulus};
}

function {name}(order) {
    const band = {name}Band(order.amount * {factor});
    const weight = {name}Table[order.kind];
{work}    order.checks += {name}Check(order.code);
}
exports.{name} = {name};
""",
    work=_BRACES_WORK,
    faulty="    const special = order.kind === 'salt' ? undefined : weight;\n    order.cost += special * band;\n",
)


def missing_number() -> dict[str, str]:
    """Let a stage multiply by a number that is not there, so that the sum is no number."""
    files = {
        "main.js": _text(
            """
            const kinds = KINDS;
            const parts = [0, 1, 2, 3, 4, 5].map((part) => require(`./stages_${part}.js`));
            const stages = parts.flatMap((part) => Object.values(part));

            function makeOrders() {
                const orders = [];
                for (let number = 0; number < 36; number++) {
                    const kind = kinds[number % kinds.length];
                    const amount = number % 17 + 1;
                    orders.push({ number, kind, code: `${kind}-${number}`, amount, cost: 0, checks: 0 });
                }
                return orders;
            }

            function run() {
                const orders = makeOrders();
                for (const order of orders) {
                    for (const stage of stages) {
                        stage(order);
                    }
                }
                let total = 0;
                for (const order of orders) {
                    total += order.cost;
                }
                return total;
            }

            const total = run();
            if (Number.isNaN(total)) {
                throw new Error(`total is ${total}`);
            }
            console.log(total);
            """
        ).replace("KINDS", repr([*KINDS]))
    }
    for part, some in _parts():
        files[f"stages_{part}.js"] = '"use strict";\n' + "".join(_JS.stage_text(stage) for stage in some)
    return files


_RUST = _Braces(
    entry="    {number}, // {kind}\n",
    band="    if value < {bound} {\n        return {number};\n    }\n",
    stage="""
const {NAME}_TABLE: [i32; 12] = [
{entries}];

fn {name}_band(value: i32) -> i32 {
{bands}    {last}
}

fn {name}_check(code: &str) -> i32 {
    let mut total = 0;
    let mut place = 1;
    for letter in code.bytes() {
        total += place * i32::from(letter);
        place += 1;
    }
    total % {modulus}
}

pub fn {name}(order: &mut Order) {
    let band = {name}_band(order.amount * {factor});
    let weight = {NAME}_TABLE[order.kind];
{work}    order.checks += {name}_check(&order.code);
}
""",
    work=(
        "    if band > 4 {\n        order.cost += weight * band;\n    } else {\n        order.cost += weight;\n    }\n"
    ),
    faulty="    order.cost += weight;\n    order.shelf = weight - band - order.amount;\n",
)


def wrong_index() -> dict[str, str]:
    """Let a stage leave a negative number, which is taken for an index much later."""
    names = "".join(f"    {stage.name},\n" for stage in stages())
    text = "".join(_RUST.stage_text(stage).replace("{NAME}", stage.name.upper()) for stage in stages())
    main_text = _text(
        """
        pub struct Order {
            pub number: i32,
            pub kind: usize,
            pub amount: i32,
            pub cost: i32,
            pub checks: i32,
            pub shelf: i32,
            pub code: String,
        }

        fn invoice(order: &Order, shelves: &[i32]) -> i32 {
            order.cost + shelves[order.shelf as usize]
        }

        fn main() {
            let shelves = vec![3; 24];
            let mut order = Order {
                number: 7,
                kind: 3,
                amount: 9,
                cost: 0,
                checks: 0,
                shelf: 5,
                code: String::from("rice-7"),
            };
            for stage in STAGES {
                stage(&mut order);
            }
            println!("{} {}", order.number, invoice(&order, &shelves));
        }
        """
    )
    table = f"const STAGES: [fn(&mut Order); {STAGES}] = [\n{names}];\n"
    return {"main.rs": f"{main_text}\n{table}{text}"}


PROGRAMS: Mapping[str, Callable[[], dict[str, str]]] = {
    "none_far_away": none_far_away,
    "swallowed_far_away": swallowed_far_away,
    "state_between_tests": state_between_tests,
    "lost_update": lost_update,
    "heap_corruption": heap_corruption,
    "goroutine_leak": goroutine_leak,
    "missing_number": missing_number,
    "wrong_index": wrong_index,
}


if __name__ == "__main__":
    sys.exit(main())
