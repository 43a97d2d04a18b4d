"""Requests to an application of FastAPI by its test client: models, dependencies and errors."""

from fastapi import Depends, FastAPI, HTTPException
from fastapi.testclient import TestClient
from pydantic import BaseModel


class Item(BaseModel):
    name: str
    price: float


app = FastAPI()
items = {}


def limit(limit: int = 10):
    return min(limit, 3)


@app.put("/items/{number}")
async def put(number: int, item: Item):
    items[number] = item
    return {"number": number, "count": len(items)}


@app.get("/items")
def every(most: int = Depends(limit)):
    return list(items.values())[:most]


@app.get("/items/{number}")
async def one(number: int):
    if number not in items:
        raise HTTPException(404, "no such item")
    return items[number]


s_answers = []
with TestClient(app) as client:
    for number in range(5):
        s_answers.append(client.put(f"/items/{number}", json={"name": f"n{number}", "price": number * 1.5}).json())
    s_few = client.get("/items?limit=9").json()
    s_missing = client.get("/items/77")
    s_bad = client.put("/items/1", json={"name": "x"}).json()["detail"][0]["type"]
s_status = s_missing.status_code
print(s_answers[-1], len(s_few), s_status, s_bad)
