"""Drives the arm for a long time like a restless person, records, and watches the machine.

    benches/drive_soak.py MINUTES [FOLDER]

One connection drives and takes the pictures of two cameras, as a page elsewhere would; one more only
watches. Every minute an episode is saved. Prints rates, late ticks, drops, memory and processor time.
"""

import asyncio
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import websockets

CITRANGE = os.environ.get("CITRANGE_BIN", "target/release/citrange")
KEYS = ["forward", "backward", "left", "right", "up", "down", "roll_left", "roll_right", "open", "close"]


class Page:
    """What a page does: shows what it is told, sends what is held."""

    def __init__(self):
        self.echo, self.came, self.seq = 0.0, time.monotonic(), 0
        self.states = self.pictures = self.bytes = 0
        self.loop_hz, self.late, self.status = [], 0, {}

    def take_in(self, message):
        self.bytes += len(message)
        if isinstance(message, str):
            said = json.loads(message)
            if said["type"] == "status":
                self.status = said
        elif message[0] == 1:
            self.states += 1
            (self.echo,) = struct.unpack_from("<d", message, 16)
            self.came = time.monotonic()
            (self.late,) = struct.unpack_from("<Q", message, 40)
            self.loop_hz.append(struct.unpack_from("<f", message, 64)[0])
            self.loop_hz = self.loop_hz[-3000:]
        elif message[0] == 2:
            self.pictures += 1

    def keys(self, held):
        self.seq += 1
        since = (time.monotonic() - self.came) * 1e3
        return json.dumps({"type": "keys", "seq": self.seq, "echo": self.echo, "since": since, "held": held})

    def order(self, order):
        since = (time.monotonic() - self.came) * 1e3
        return json.dumps({"type": "order", "order": order, "echo": self.echo, "since": since})


async def listen(socket, page):
    async for message in socket:
        page.take_in(message)
        if not isinstance(message, str) and message[0] == 2:
            (frame,) = struct.unpack_from("<Q", message, 8)
            await socket.send(json.dumps({"type": "seen", "frame": frame}))


async def drive(socket, page, seconds):
    chance = random.Random(4)
    await socket.send('{"type":"take"}')
    end = time.monotonic() + seconds
    saved = time.monotonic()
    while time.monotonic() < end:
        held = chance.sample(KEYS, chance.choice([0, 1, 1, 2, 2, 3]))
        for _ in range(int(chance.uniform(0.3, 2.0) / 0.04)):
            await socket.send(page.keys(held))
            await asyncio.sleep(0.04)
        if time.monotonic() - saved > 60:
            await socket.send(page.order(chance.choice(["save", "success", "failure"])))
            saved = time.monotonic()
    await socket.send(page.keys([]))
    await socket.send(page.order("stop"))


def usage(pid):
    """Resident memory in MB, processor seconds."""
    with open(f"/proc/{pid}/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return resident, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def watch(pid, page, log):
    begun = time.monotonic()
    while True:
        await asyncio.sleep(10)
        try:
            resident, cpu = usage(pid)
        except FileNotFoundError:
            return
        log.append((time.monotonic() - begun, resident, cpu))
        if len(log) % 6 == 0:
            session = page.status.get("session", {})
            print(f"{log[-1][0]:6.0f} s  {resident:6.1f} MB  {cpu / log[-1][0]:.2f} cores  late {page.late}  "
                  f"dropped {session.get('dropped')}  saved {session.get('saved')}", file=sys.stderr, flush=True)  # fmt: skip


async def main(minutes, folder):
    command = [CITRANGE, "drive", "block_box", "--record", os.path.join(folder, "soak"), "--cameras", "top,front",
               "--countdown", "0.5", "--reset-time", "0.5", "--max-lost-pictures", "100", "--listen", "127.0.0.1:0", "--json"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    events = []

    def read():
        for line in process.stdout:
            events.append(json.loads(line))

    reader = asyncio.get_running_loop().run_in_executor(None, read)
    while not any(e["event"] == "serving" for e in events):
        await asyncio.sleep(0.05)
    link = urlsplit(events[0]["link"])
    address, origin = f"ws://{link.netloc}/ws?{link.query}", f"http://{link.netloc}"
    page, other, log = Page(), Page(), []
    async with (
        websockets.connect(address, origin=origin, max_size=None) as socket,
        websockets.connect(address, origin=origin, max_size=None) as second,
    ):
        await second.send('{"type":"cameras","hz":0}')
        tasks = [asyncio.create_task(t) for t in (listen(socket, page), listen(second, other), watch(process.pid, page, log))]
        await drive(socket, page, minutes * 60)
        await reader
        for task in tasks:
            task.cancel()
    code = process.wait()
    end = next(e for e in events if e["event"] == "end")
    saved = [e for e in events if e["event"] == "saved"]
    warm = [resident for second, resident, _ in log if second > 60] or [log[-1][1]]
    quarter = max(len(warm) // 4, 1)
    report = {
        "exit": code, "minutes": end["seconds"] / 60, "episodes": end["saved"], "frames": sum(e["frames"] for e in saved),
        "ticks": end["ticks"], "late_ticks": end["late_ticks"], "worst_late_ms": round(end["worst_late_ms"], 2),
        "dropped_pictures": end["dropped_pictures"], "cores": round(log[-1][2] / log[-1][0], 3),
        "loop_hz_median": round(statistics.median(h for h in page.loop_hz if h), 2), "state_messages": page.states,
        "pictures_shown": page.pictures, "save_ms_worst": round(max(e["save_ms"] for e in saved), 1),
        "memory_mb_first_quarter": round(statistics.mean(warm[:quarter]), 1),
        "memory_mb_last_quarter": round(statistics.mean(warm[-quarter:]), 1), "memory_mb_most": round(max(warm), 1),
    }  # fmt: skip
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    minutes = float(sys.argv[1])
    if len(sys.argv) > 2:
        asyncio.run(main(minutes, sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(minutes, folder))
