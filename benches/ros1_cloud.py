#!/usr/bin/env python3
"""A 640x480 cloud at 30 Hz over ROS 1: what a frame costs our client (until it is read, in voxels, in
the map) and rospy with numpy as people write it, alternately in one run. Run scripts/ros1_peers.sh
first and build the example: cargo build --release -p citrange-space --example ros1_map
    benches/ros1_cloud.py [--seconds 10] [--rounds 2] [--built target/release]"""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROSPY = """
import json, os, sys, time, numpy as np, rospy
from sensor_msgs.msg import PointCloud2
seconds = float(sys.argv[1]); began = [0.0, 0.0, 0]
def heard(m):
    if not began[0]: began[0] = time.time(); return
    if not began[1]:
        if time.time() - began[0] > 1: began[0] = time.time(); began[1] = sum(os.times()[:2]); began[2] = 0
        return
    o = {f.name: f.offset for f in m.fields}
    raw = np.frombuffer(m.data, np.uint8).reshape(-1, m.point_step)
    xyz = np.stack([raw[:, o[k]:o[k] + 4].copy().view('<f4')[:, 0] for k in 'xyz'], -1)
    rgb = raw[:, o['rgb']:o['rgb'] + 3][:, ::-1]
    good = np.isfinite(xyz).all(1); xyz = xyz[good]; rgb = rgb[good]
    began[2] += 1
rospy.init_node('peer', anonymous=True)
rospy.Subscriber('/camera/depth/color/points', PointCloud2, heard, queue_size=1, buff_size=2**26)
while not began[1] or time.time() - began[0] < seconds: time.sleep(0.05)
n = began[2]; took = time.time() - began[0]
print(json.dumps({'frames': n, 'hz': round(n / took, 2), 'cpu_ms': round((sum(os.times()[:2]) - began[1]) * 1e3 / max(n, 1), 2)}))
os._exit(0)
"""

asked = argparse.ArgumentParser()
asked.add_argument("--seconds", type=float, default=10)
asked.add_argument("--rounds", type=int, default=2)
asked.add_argument("--built", type=Path, default=ROOT / "target/release")
asked.add_argument("--steps", type=int, nargs="*", default=[20, 32])
asked = asked.parse_args()
modules = subprocess.run([ROOT / "scripts/ros1_peers.sh"], text=True, capture_output=True, check=True).stdout.strip()
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
folder = tempfile.mkdtemp()
env = os.environ | {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1", "ROS_LOG_DIR": folder,
                    "ROS_HOME": folder, "PYTHONPATH": modules, "PYTHONUNBUFFERED": "1"}
env.pop("ROS_HOSTNAME", None)
running = [subprocess.Popen(["/usr/bin/python3", "/usr/bin/rosmaster", "--core", "-p", str(port)], env=env, cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
try:
    while True:
        try:
            xmlrpc.client.ServerProxy(env["ROS_MASTER_URI"]).getPid("/bench")
            break
        except OSError:
            time.sleep(0.05)
    for step in asked.steps:
        camera = subprocess.Popen(["/usr/bin/python3", ROOT / "peers/ros1/fake_camera.py", "--hz", "30", "--step", str(step)],
                                  env=env, cwd=folder, text=True, stdout=subprocess.PIPE)
        running.append(camera)
        camera.stdout.readline()
        for turn in range(asked.rounds):
            for name, words in [
                *((f"citrange {until}", [asked.built / "examples/ros1_map", "/camera/depth/color/points", str(asked.seconds), until])
                  for until in ("read", "voxels", "map")),
                ("rospy + numpy", ["/usr/bin/python3", "-c", ROSPY, str(asked.seconds)]),
            ]:
                out = subprocess.run([str(w) for w in words], env=env, cwd=folder, text=True, capture_output=True,
                                     timeout=asked.seconds + 60)
                told = out.stdout.strip().splitlines()
                told = json.loads(told[-1]) if told else {"error": out.stderr[-300:]}
                print(json.dumps({"bytes_a_point": step, "round": turn, "who": name} | told), flush=True)
        camera.kill()
        camera.wait()
finally:
    for process in running:
        process.kill()
        process.wait()
sys.exit(0)
