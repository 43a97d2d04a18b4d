"""Formats of the standard library over temporary files: csv, json, zip, gzip, pickle."""

import csv
import gzip
import json
import os
import pickle
import tempfile
import time
import zipfile

s_read = []


def use(folder: str, number: int) -> None:
    path = os.path.join(folder, "data")
    with open(path + ".csv", "w", newline="") as file:
        csv.writer(file).writerows([row, time.time_ns()] for row in range(10))
    with open(path + ".csv", newline="") as file:
        s_read.append([row[1] for row in csv.reader(file)][-2:])
    with open(path + ".json", "w") as file:
        json.dump({"number": number, "time": time.time()}, file)
    with open(path + ".json") as file:
        s_read.append(json.load(file))
    with zipfile.ZipFile(path + ".zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path + ".json", "data.json")
    with zipfile.ZipFile(path + ".zip") as archive:
        s_read.append((archive.infolist()[0].date_time, archive.read("data.json")))
    with gzip.open(path + ".gz", "wb") as file:
        pickle.dump(s_read[-1], file)
    with gzip.open(path + ".gz") as file:
        s_read.append(pickle.load(file))


end = time.monotonic() + 0.4
with tempfile.TemporaryDirectory() as folder:
    number = 0
    while time.monotonic() < end:
        use(folder, number)
        number += 1
pass
