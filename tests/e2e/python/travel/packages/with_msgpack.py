"""Values packed by msgpack, with types of our own."""

import datetime

import msgpack


def packed(value):
    if isinstance(value, datetime.date):
        return msgpack.ExtType(5, value.isoformat().encode())
    raise TypeError(value)


def unpacked(code, data):
    return datetime.date.fromisoformat(data.decode()) if code == 5 else msgpack.ExtType(code, data)


s_rows = [{"day": datetime.date(2026, 1, number + 1), "values": list(range(number))} for number in range(20)]
s_packed = msgpack.packb(s_rows, default=packed)
s_again = msgpack.unpackb(s_packed, ext_hook=unpacked)
s_same = s_again == s_rows
try:
    s_problem = msgpack.packb({1, 2}, default=packed)
except TypeError as error:
    s_problem = str(error)
s_length = len(s_packed)
print(s_same, s_problem, s_length)
