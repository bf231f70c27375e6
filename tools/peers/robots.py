"""The robots of the peer comparison: Pinocchio models by name, and their export as saltus' robot JSON.

    python robots.py go1            # print the robot JSON
    python robots.py --list         # name, nq, nv, bodies and source of each robot
"""

import argparse
import importlib.metadata
import json
import pathlib
import sys
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

# A limit at or above this is a placeholder for "none", in radians, metres, their rates, newtons or newton-metres.
ABSURD_LIMIT = 1e6

# Added to every leg joint of go1 by `build("go1")`, kg·m²: the URDF has rotor links but no armature.
GO1_LEG_ARMATURE = 0.01


@dataclass(frozen=True)
class Urdf:
    """A robot of the example-robot-data package."""

    path: str
    free_flyer: bool
    frames: tuple
    locked: tuple = ()


URDF_ROBOTS = {
    "panda7": Urdf(
        "panda_description/urdf/panda.urdf",
        free_flyer=False,
        frames=("panda_hand_tcp", "panda_link8", "panda_link4"),
        locked=("panda_finger_joint1", "panda_finger_joint2"),
    ),
    "ur5": Urdf("ur_description/urdf/ur5_robot.urdf", free_flyer=False, frames=("tool0", "ee_link")),
    "go1": Urdf("go1_description/urdf/go1.urdf", free_flyer=True, frames=("FL_foot", "RR_foot", "imu_link")),
    "g1": Urdf(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        free_flyer=True,
        frames=("right_rubber_hand", "imu_in_torso", "left_ankle_roll_link"),
    ),
    "talos": Urdf(
        "talos_data/robots/talos_reduced.urdf",
        free_flyer=True,
        frames=("left_sole_link", "wrist_right_ft_tool_link", "imu_link"),
    ),
}


@dataclass(frozen=True)
class Robot:
    """A Pinocchio model with the few frames that we export and the line that says where it comes from."""

    name: str
    model: pin.Model
    frames: tuple
    source: str


def urdf_path(name):
    """Path of the URDF that robot `name` is built from."""
    distribution = importlib.metadata.distribution("example-robot-data")
    folder = "cmeel.prefix/share/example-robot-data/robots"
    return pathlib.Path(distribution.locate_file(f"{folder}/{URDF_ROBOTS[name].path}"))


def build(name, plain=False):
    """Build robot `name`; `plain` leaves a URDF robot as its file has it, without the armature that we add."""
    if name in URDF_ROBOTS:
        return build_from_urdf(name, plain)
    return {"cartpole": build_cartpole, "mixed_tree": build_mixed_tree}[name]()


def names():
    """All robot names that `build` takes."""
    return [*URDF_ROBOTS, "cartpole", "mixed_tree"]


def build_from_urdf(name, plain):
    """Load a URDF robot, lock the joints it says, and give go1 its armature unless `plain`."""
    robot = URDF_ROBOTS[name]
    root = [pin.JointModelFreeFlyer()] if robot.free_flyer else []
    model = pin.buildModelFromUrdf(str(urdf_path(name)), *root)
    source = f"example-robot-data {importlib.metadata.version('example-robot-data')} {robot.path}"
    if robot.locked:
        model = pin.buildReducedModel(model, [model.getJointId(joint) for joint in robot.locked], pin.neutral(model))
        source += f", locked at zero: {', '.join(robot.locked)}"
    if name == "go1" and not plain:
        armature = np.full(model.nv, GO1_LEG_ARMATURE)
        armature[:6] = 0.0
        model.armature = armature
        source += f", leg armature {GO1_LEG_ARMATURE}"
    return Robot(name, model, robot.frames, source)


def build_cartpole():
    """A cart on a rail along x with an unlimited pole about y: q = [x, cos θ, sin θ], upright at θ = 0."""
    model = pin.Model()
    model.name = "cartpole"
    limits = [np.array([value]) for value in (20.0, 5.0, -2.0, 2.0)]  # effort, velocity, lower, upper
    cart = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "cart", *limits)
    model.appendBodyToJoint(cart, pin.Inertia(1.0, np.zeros(3), np.diag([0.01, 0.02, 0.02])), pin.SE3.Identity())
    hinge = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.05]))
    pole = model.addJoint(cart, pin.JointModelRUBY(), hinge, "pole")
    rod = pin.Inertia(0.2, np.array([0.0, 0.0, 0.3]), np.diag([0.006, 0.006, 1e-5]))
    model.appendBodyToJoint(pole, rod, pin.SE3.Identity())
    add_frame(model, "tip", pole, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.6])))
    return Robot("cartpole", model, ("tip",), "made in tools/peers/robots.py")


def build_mixed_tree():
    """A tree with every joint kind, two roots, branches, and a free-flyer in the middle of the chain to the last body.

        world ─ slider (prismatic) ┬ elbow (revolute)
                                   └ spinner (continuous about x)
        world ─ turret (continuous) ─ shoulder (spherical) ─ carriage (planar) ─ drone (free flyer) ┬ flap (revolute)
                                                                                                    └ wheel ─ piston

    Joints are added depth first: Pinocchio's algorithms take a subtree's velocities to be contiguous.
    """
    rng = np.random.default_rng(20250117)
    model = pin.Model()
    model.name = "mixed_tree"

    def add(parent, name, joint, lower=None, upper=None):
        if lower is None:
            index = model.addJoint(parent, joint, random_placement(rng), name)
        else:
            limits = [np.array([value]) for value in (40.0, 8.0, lower, upper)]  # effort, velocity, lower, upper
            index = model.addJoint(parent, joint, random_placement(rng), name, *limits)
        model.appendBodyToJoint(index, random_inertia(rng), pin.SE3.Identity())
        return index

    slider = add(0, "slider", pin.JointModelPrismaticUnaligned(random_axis(rng)), -0.5, 0.8)
    add(slider, "elbow", pin.JointModelRevoluteUnaligned(random_axis(rng)), -1.2, 2.1)
    add(slider, "spinner", pin.JointModelRUBX())
    turret = add(0, "turret", unbounded_revolute(random_axis(rng)))
    shoulder = add(turret, "shoulder", pin.JointModelSpherical())
    carriage = add(shoulder, "carriage", pin.JointModelPlanar())
    drone = add(carriage, "drone", pin.JointModelFreeFlyer())
    flap = add(drone, "flap", pin.JointModelRevoluteUnaligned(random_axis(rng)), -0.7, 0.7)
    wheel = add(drone, "wheel", pin.JointModelRUBY())
    piston = add(wheel, "piston", pin.JointModelPrismaticUnaligned(random_axis(rng)), -0.3, 0.3)
    model.armature = rng.uniform(0.02, 0.3, model.nv)
    for frame, body in (("piston_tip", piston), ("flap_edge", flap), ("shoulder_mount", shoulder)):
        add_frame(model, frame, body, random_placement(rng))
    return Robot("mixed_tree", model, ("piston_tip", "flap_edge", "shoulder_mount"), "made in tools/peers/robots.py")


def unbounded_revolute(axis):
    """A continuous joint about any axis, taken from a one-joint URDF: the bindings have no constructor with an axis."""
    xyz = " ".join(repr(float(x)) for x in axis)
    model = pin.buildModelFromXML(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{xyz}"/></joint></robot>'
    )
    assert model.joints[1].shortname() == "JointModelRevoluteUnboundedUnaligned"
    return model.joints[1]


def random_axis(rng):
    """A unit vector, uniform on the sphere."""
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def random_placement(rng):
    """A placement with any rotation and a translation within ±0.4 m."""
    quaternion = rng.normal(size=4)
    rotation = pin.Quaternion(quaternion / np.linalg.norm(quaternion)).matrix()
    return pin.SE3(rotation, rng.uniform(-0.4, 0.4, 3))


def random_inertia(rng):
    """The inertia of a solid box of random size and density, turned and displaced at random: physical by making."""
    mass = rng.uniform(0.5, 4.0)
    placement = random_placement(rng)
    box = pin.Inertia.FromBox(mass, *rng.uniform(0.1, 0.6, 3))
    return placement.act(box)


def add_frame(model, name, body, placement):
    """Attach an operational frame to joint `body`."""
    parent_frame = model.getFrameId(model.names[body])
    model.addFrame(pin.Frame(name, body, parent_frame, placement, pin.OP_FRAME))


def joint_kind(joint):
    """saltus' word for a Pinocchio joint."""
    short = joint.shortname().removeprefix("JointModel")
    if short in ("RX", "RY", "RZ", "RevoluteUnaligned"):
        return "revolute"
    if short in ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"):
        return "continuous"
    if short in ("PX", "PY", "PZ", "PrismaticUnaligned"):
        return "prismatic"
    kinds = {"Spherical": "spherical", "Planar": "planar", "FreeFlyer": "free_flyer"}
    if short not in kinds:
        raise ValueError(f"the robot JSON has no word for {joint.shortname()}")
    return kinds[short]


def joint_axis(model, index):
    """Axis of a one-dof joint in its own frame, read from its motion subspace."""
    joint = model.joints[index]
    data = joint.createData()
    joint.calc(data, pin.neutral(model), np.zeros(model.nv))
    linear, angular = np.split(np.asarray(data.S).reshape(6), 2)
    return linear if joint_kind(joint) == "prismatic" else angular


def numbers(array):
    """A flat list of floats, which `json` writes so that they read back to the same bits."""
    return [float(x) for x in np.asarray(array).reshape(-1)]


def limit_or_none(value):
    """A limit as a float, None when it limits nothing."""
    return float(value) if abs(value) < ABSURD_LIMIT else None


def placement_json(placement):
    """Rotation row-major, then translation."""
    return {"rotation": numbers(placement.rotation), "translation": numbers(placement.translation)}


def body_json(model, index):
    """One movable body: its joint, where the joint sits in the parent's joint frame, its inertia and its limits."""
    joint = model.joints[index]
    kind = joint_kind(joint)
    velocities = slice(joint.idx_v, joint.idx_v + joint.nv)
    has_position_limits = kind in ("revolute", "prismatic")
    inertia = model.inertias[index]
    parent = model.parents[index]
    return {
        "name": model.names[index],
        "parent": model.names[parent] if parent > 0 else "world",
        "joint": {"kind": kind} | ({"axis": numbers(joint_axis(model, index))} if joint.nv == 1 else {}),
        "placement": placement_json(model.jointPlacements[index]),
        "mass": float(inertia.mass),
        "com": numbers(inertia.lever),
        "inertia": numbers(inertia.inertia[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]),
        "armature": numbers(model.armature[velocities]),
        "position_lower": limit_or_none(model.lowerPositionLimit[joint.idx_q]) if has_position_limits else None,
        "position_upper": limit_or_none(model.upperPositionLimit[joint.idx_q]) if has_position_limits else None,
        "velocity_limit": [limit_or_none(x) for x in model.velocityLimit[velocities]],
        "effort_limit": [limit_or_none(x) for x in model.effortLimit[velocities]],
    }


def frame_json(model, name):
    """One frame fixed to a body."""
    frame = model.frames[model.getFrameId(name)]
    return {"name": name, "body": model.names[frame.parentJoint], "placement": placement_json(frame.placement)}


def robot_json(robot):
    """The robot as saltus' neutral robot JSON: bodies in Pinocchio's joint order, mass fixed to the world left out."""
    model = robot.model
    return {
        "robot": robot.name,
        "source": robot.source,
        "gravity": numbers(model.gravity.linear),
        "nq": model.nq,
        "nv": model.nv,
        "bodies": [body_json(model, index) for index in range(1, model.njoints)],
        "frames": [frame_json(model, name) for name in robot.frames],
    }


def dumps(document):
    """JSON text with one line per entry of the top-level lists, so that a difference reads by body."""
    lines = []
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            entries = ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry in value)
            lines.append(f"{json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def random_configuration(model, rng):
    """A configuration with angles within limits (±2 without), any orientation, and free translations within ±2 m."""
    q = np.zeros(model.nq)
    for joint in list(model.joints)[1:]:
        part = q[joint.idx_q : joint.idx_q + joint.nq]
        kind = joint_kind(joint)
        if kind in ("revolute", "prismatic"):
            lower = limit_or_none(model.lowerPositionLimit[joint.idx_q])
            upper = limit_or_none(model.upperPositionLimit[joint.idx_q])
            part[0] = rng.uniform(-2.0 if lower is None else lower, 2.0 if upper is None else upper)
        elif kind == "continuous":
            part[:] = random_circle_point(rng)
        elif kind == "spherical":
            part[:] = random_quaternion(rng)
        elif kind == "planar":
            part[:2] = rng.uniform(-2.0, 2.0, 2)
            part[2:] = random_circle_point(rng)
        else:
            part[:3] = rng.uniform(-2.0, 2.0, 3)
            part[3:] = random_quaternion(rng)
    return q


def random_circle_point(rng):
    """[cos θ, sin θ] of a uniform angle."""
    angle = rng.uniform(-np.pi, np.pi)
    return [np.cos(angle), np.sin(angle)]


def random_quaternion(rng):
    """A unit quaternion [x, y, z, w], uniform over the rotations, of either sign."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_velocity(model, rng):
    """A tangent vector with normal entries, none beyond ±2."""
    return rng.normal(size=model.nv).clip(-2.0, 2.0)


def main():
    parser = argparse.ArgumentParser(description="Print a robot of the peer comparison as saltus' robot JSON.")
    parser.add_argument("robot", nargs="?", choices=names(), help="which robot to print")
    parser.add_argument("--list", action="store_true", help="list the robots instead")
    parser.add_argument("--plain", action="store_true", help="without the armature that we add to the URDF's figures")
    arguments = parser.parse_args()
    if arguments.list:
        for name in names():
            robot = build(name, arguments.plain)
            model = robot.model
            print(f"{name:11} nq {model.nq:3}  nv {model.nv:3}  bodies {model.njoints - 1:3}  {robot.source}")
    elif arguments.robot:
        sys.stdout.write(dumps(robot_json(build(arguments.robot, arguments.plain))))
    else:
        parser.error("name a robot or give --list")


if __name__ == "__main__":
    main()
