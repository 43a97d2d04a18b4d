"""Data loaded and dumped by schemas of marshmallow."""

from marshmallow import Schema, ValidationError, fields, post_load, validate


class LineSchema(Schema):
    name = fields.Str(required=True)
    count = fields.Int(validate=validate.Range(min=1))

    @post_load
    def doubled(self, data, **_):
        return {**data, "count": data["count"] * 2}


class OrderSchema(Schema):
    number = fields.Int()
    day = fields.Date()
    lines = fields.List(fields.Nested(LineSchema))


s_loaded, s_errors = [], []
for number in range(12):
    row = {
        "number": str(number),
        "day": "2026-02-03",
        "lines": [{"name": f"n{part}", "count": (number + part) % 3} for part in range(2)],
    }
    try:
        s_loaded.append(OrderSchema().load(row))
    except ValidationError as error:
        s_errors.append(error.messages)
s_dumped = OrderSchema(many=True).dump(s_loaded)
s_total = sum(line["count"] for order in s_loaded for line in order["lines"])
print(len(s_loaded), s_errors[0], s_dumped[0], s_total)
