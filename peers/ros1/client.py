#!/usr/bin/python3
"""The real actionlib sends goals to our stand-in for a UR; prints how they end, one line of JSON each."""
import json
import math
import time

import actionlib
import rospy
from control_msgs.msg import FollowJointTrajectoryAction, FollowJointTrajectoryGoal
from geometry_msgs.msg import TransformStamped  # noqa: F401  the tf messages need it
from sensor_msgs.msg import CameraInfo, Image, JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

rospy.init_node("client", anonymous=True)
seen = {}
counts = {}


def keep(name):
    def heard(message):
        seen[name] = message
        counts[name] = counts.get(name, 0) + 1
    return heard


for topic, kind in (("/joint_states", JointState), ("/tf", TFMessage), ("/tf_static", TFMessage),
                    ("/depth/color/image_raw", Image), ("/depth/aligned_depth_to_color/image_raw", Image),
                    ("/depth/aligned_depth_to_color/camera_info", CameraInfo)):
    rospy.Subscriber(topic, kind, keep(topic), queue_size=10)
NAMES = ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]
client = actionlib.ActionClient("/scaled_pos_joint_traj_controller/follow_joint_trajectory", FollowJointTrajectoryAction)
client.wait_for_action_server_to_start(rospy.Duration(10))
end = time.time() + 10
while "/joint_states" not in seen and time.time() < end:
    time.sleep(0.01)


def joints():
    state = seen["/joint_states"]
    return [state.position[state.name.index(name)] for name in NAMES]


def goal(turn, seconds, names=NAMES):
    """From where the arm is, the first joint turned."""
    asked = FollowJointTrajectoryGoal()
    asked.trajectory.joint_names = list(names)
    here = joints()
    here[0] += turn
    point = JointTrajectoryPoint(positions=here, velocities=[0.0] * 6, time_from_start=rospy.Duration(seconds))
    asked.trajectory.points = [point]
    return asked


def outcome(what, handle, within=10.0):
    began = time.time()
    while handle.get_comm_state() != actionlib.CommState.DONE and time.time() - began < within:
        time.sleep(0.005)
    result = handle.get_result()
    status = handle.get_goal_status()
    print(json.dumps({"what": what, "status": status, "code": result.error_code if result else None,
                      "text": handle.get_goal_status_text(), "after_s": round(time.time() - began, 3)}), flush=True)


before = joints()
outcome("executed", client.send_goal(goal(0.4, 1.0)))
moved = joints()[0] - before[0]
handle = client.send_goal(goal(-0.6, 3.0))
time.sleep(0.5)
handle.cancel()
outcome("cancelled", handle)
outcome("not a number", client.send_goal(goal(math.nan, 1.0)))
outcome("wrong names", client.send_goal(goal(0.1, 1.0, ["a"] * 6)))
first = client.send_goal(goal(0.5, 3.0))
time.sleep(0.3)
second = client.send_goal(goal(-0.2, 1.0))
outcome("taken over", first)
outcome("took over", second)
time.sleep(0.5)
print(json.dumps({"what": "seen", "moved": moved, "names": list(seen["/joint_states"].name), "counts": counts,
                  "tf": [t.child_frame_id for t in seen["/tf"].transforms] if "/tf" in seen else [],
                  "depth": [seen[k].encoding for k in seen if k.endswith("image_raw")]}), flush=True)
