"""Plays a data task: a process pool, an event loop and a local service, then what it was not given."""

import asyncio
import collections
import concurrent.futures
import csv
import json
import multiprocessing
import os
import socket
import sys


def report(what, action):
    try:
        result = action()
        print(f"done     {what}" + (f": {result}" if result is not None else ""))
    except Exception as error:  # what is refused is the point of this script
        print(f"refused  {what}: {getattr(error, 'strerror', None) or error}")


def amount(row):
    return row["customer"], float(row["amount"])


def totals():
    with open("input/orders.csv", newline="") as orders:
        rows = list(csv.DictReader(orders))
    sums = collections.Counter()
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for customer, value in pool.map(amount, rows):
            sums[customer] += value
    with open("output/report.json", "w") as output:
        json.dump(sums, output, sort_keys=True)
    return f"{len(rows)} orders of {len(sums)} customers"


async def wake_up():
    loop = asyncio.get_running_loop()
    answer = await loop.run_in_executor(None, lambda: "a thread woke the loop")
    process = await asyncio.create_subprocess_exec("/bin/true")
    await process.wait()
    return answer


def connect(address, port):
    with socket.create_connection((address, port), timeout=2):
        return None


def datagram(address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", (address, port))


def read(path):
    with open(path) as file:
        file.read()


def write(path):
    with open(path, "w") as file:
        file.write("changed")


port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
report("total the orders with a process pool", totals)
report("run an event loop with threads and a child", lambda: asyncio.run(wake_up()))
report("talk to the local service", lambda: connect("127.0.0.1", port))
report("read the customers", lambda: read("input/customers.csv"))
report("change the input", lambda: write("input/orders.csv"))
report("change this script", lambda: write("agent.py"))
report("send a datagram", lambda: datagram("127.0.0.1", port))
report("become root", lambda: os.setuid(0))
