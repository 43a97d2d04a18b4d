"""Models of pydantic: validation of nested data, errors, and JSON."""

from pydantic import BaseModel, Field, ValidationError, field_validator


class Line(BaseModel):
    name: str = Field(min_length=1)
    count: int = Field(gt=0)
    price: float

    @field_validator("name")
    @classmethod
    def without_space(cls, value):
        return value.strip().lower()


class Order(BaseModel):
    number: int
    lines: list[Line]

    def total(self):
        return sum(line.count * line.price for line in self.lines)


s_rows = [
    {
        "number": number,
        "lines": [{"name": f" Tea{part} ", "count": (number + part) % 4, "price": "2.5"} for part in range(3)],
    }
    for number in range(30)
]
s_totals, s_errors = [], []
for row in s_rows:
    try:
        order = Order.model_validate(row)
        s_totals.append(order.total())
    except ValidationError as error:
        s_errors.append((error.error_count(), error.errors()[0]["type"]))
s_text = Order.model_validate_json('{"number": 3, "lines": []}').model_dump_json()
print(len(s_totals), sum(s_totals), len(s_errors), s_errors[0], s_text)
