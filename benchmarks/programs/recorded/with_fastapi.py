"""Answers requests, in a thread of the same process."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.get("/items/{number}")
def item(number: int) -> dict[str, int]:
    """Answer."""
    return {"number": number * 2}


with TestClient(app) as client:
    print([client.get(f"/items/{number}").json()["number"] for number in range(20)])
