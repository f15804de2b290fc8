#!/usr/bin/python3
"""Sends messages with contents of all sorts to our relay and compares what comes back byte for byte;
has genpy work out the md5sum of every definition of ours. Prints a line of JSON."""
import io
import json
import random
import sys
import time

import genpy.dynamic
import rospy
import roslib.message
from std_srvs.srv import Trigger

ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
types = [json.loads(line) for line in open(sys.argv[1])]
rospy.init_node("compare", anonymous=True)
rng = random.Random(7)


def filled(kind):
    """A value of a field of that type."""
    base = kind.split("[")[0]
    if "[" in kind:
        size = kind.split("[")[1].rstrip("]")
        count = int(size) if size else rng.choice([0, 1, 2, 7])
        if base in ("uint8", "char"):
            return bytes(rng.randrange(256) for _ in range(count or 300))
        return [filled(base) for _ in range(count)]
    if base == "bool":
        return rng.random() < 0.5
    if base == "string":
        return "".join(rng.choice("abcäß /_\n\"") for _ in range(rng.randrange(20)))
    if base == "time":
        return rospy.Time(rng.randrange(2**32), rng.randrange(10**9))
    if base == "duration":
        return rospy.Duration(rng.randrange(-(2**31), 2**31), rng.randrange(10**9))
    if base.startswith("float"):
        return rng.choice([0.0, -0.0, 1e-300, -2.5, 3.14159, float("inf"), float("-inf"), float("nan")])
    if base.startswith("uint"):
        return rng.randrange(2 ** int(base[4:]))
    if base.startswith("int"):
        bits = int(base[3:])
        return rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
    return message(roslib.message.get_message_class(base if "/" in base else {"Header": "std_msgs/Header"}[base]))


def message(cls):
    made = cls()
    for name, kind in zip(cls.__slots__, cls._slot_types):
        # A server has no status beyond 8.
        value = rng.randrange(9) if (cls._type, name) == ("actionlib_msgs/GoalStatus", "status") else filled(kind)
        setattr(made, name, value)
    return made


def raw(one):
    buffer = io.BytesIO()
    one.serialize(buffer)
    return buffer.getvalue()


equal, wrong, md5 = 0, [], 0
for told in types:
    cls = roslib.message.get_message_class(told["type"])
    assert cls._md5sum == told["md5"], (told["type"], cls._md5sum, told["md5"])
    made = genpy.dynamic.generate_dynamic(told["type"], told["definition"])[told["type"]]
    assert made._md5sum == told["md5"], (told["type"], "definition", made._md5sum)
    md5 += 1
    heard = []
    back = rospy.Subscriber("/back/" + told["name"], rospy.AnyMsg, lambda m: heard.append(m._buff))
    out = rospy.Publisher("/there/" + told["name"], cls, queue_size=100)
    end = time.time() + 20
    while (out.get_num_connections() < 1 or back.get_num_connections() < 1) and time.time() < end:
        time.sleep(0.01)
    for number in range(ROUNDS):
        one = message(cls)
        before = len(heard)
        if hasattr(one, "header"):
            # rospy counts them itself.
            one.header.seq = number + 1
        sent = raw(one)
        out.publish(one)
        end = time.time() + 5
        while len(heard) == before and time.time() < end:
            time.sleep(0.0005)
        if heard[before:] == [sent]:
            equal += 1
        else:
            wrong.append([told["type"], sent.hex()[:200], [h.hex()[:200] for h in heard[before:]]])
    back.unregister()
    out.unregister()
rospy.wait_for_service("/press", 5)
pressed = rospy.ServiceProxy("/press", Trigger)()
print(json.dumps({"equal": equal, "wrong": wrong, "types": md5, "pressed": [pressed.success, pressed.message]}))
