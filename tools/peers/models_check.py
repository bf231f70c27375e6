"""Holds the robots of `models/` to MuJoCo and to the published models that their figures come from.

    python models_check.py                          # all robots, against sources from PyPI
    python models_check.py go1 --against go1=F.xml  # also against an MJCF or URDF file; its meshes are left out

Each robot must load without a warning, have the degrees of freedom and motors that its users count on, weigh what its
source weighs, have its mass matrix at the neutral and at random configurations, and stay put for a second in its `rest`
keyframe. Needs mujoco, gymnasium, dm_control, example-robot-data and pin.
"""

import argparse
import importlib.metadata
import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import mujoco
import numpy as np

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"

# What a robot may differ by. Masses and inertias are carried over digit by digit, so only rounding is left.
MASS_TOLERANCE = 1e-3
MATRIX_TOLERANCE = 1e-6
# What may happen within a second of `rest`: MuJoCo's contacts are soft, and some robots balance without feedback.
PENETRATION_MM = 2.0
DRIFT = 0.02
REST_S = 1.0
RANDOM_CONFIGURATIONS = 5


@dataclass(frozen=True)
class Expected:
    """Degrees of freedom, motors, and where the source is: a package and a path in it, or none."""

    nv: int
    nu: int
    package: str = ""
    path: str = ""


ROBOTS = {
    "pendulum": Expected(1, 1, "dm_control", "dm_control/suite/pendulum.xml"),
    "cartpole": Expected(2, 1, "dm_control", "dm_control/suite/cartpole.xml"),
    "double_cartpole": Expected(3, 1, "dm_control", "dm_control/suite/cartpole.xml"),
    "hopper": Expected(6, 3, "gymnasium", "gymnasium/envs/mujoco/assets/hopper.xml"),
    "half_cheetah": Expected(9, 6, "gymnasium", "gymnasium/envs/mujoco/assets/half_cheetah.xml"),
    "humanoid": Expected(27, 21, "dm_control", "dm_control/suite/humanoid.xml"),
    "ur5": Expected(
        6, 6, "example-robot-data", "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
    ),
    "go1": Expected(18, 12),
    "h1": Expected(25, 19),
    "atlas": Expected(36, 30),
    "quadrotor": Expected(6, 4),
    "cube": Expected(6, 0),
    "two_balls": Expected(12, 0),
    "jump_worm": Expected(5, 3),
    "catapult": Expected(5, 3),
    "gripper": Expected(9, 3),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", help=f"default: {' '.join(ROBOTS)}")
    parser.add_argument("--against", action="append", default=[], metavar="ROBOT=FILE", help="another source")
    arguments = parser.parse_args()
    against = dict(pair.split("=", 1) for pair in arguments.against)
    names = arguments.robots or list(ROBOTS)
    if unknown := [name for name in [*names, *against] if name not in ROBOTS]:
        parser.error(f"no such robot: {', '.join(unknown)}")
    rows = [check(name, source_of(name, against.get(name))) for name in names]
    print_table(rows)
    return 1 if any(row["faults"] for row in rows) else 0


def source_of(name, file):
    """The model that robot `name` is held to, as a function from a displacement to a mass matrix, and its mass."""
    if file:
        path = pathlib.Path(file)
    elif ROBOTS[name].package:
        path = pathlib.Path(importlib.metadata.distribution(ROBOTS[name].package).locate_file(ROBOTS[name].path))
    else:
        return None
    if path.suffix == ".urdf":
        return pinocchio_source(path, free_flyer=ROBOTS[name].nv > ROBOTS[name].nu)
    if name == "double_cartpole":
        return mujoco_source(mujoco.MjModel.from_xml_string(*two_poles(path)))
    return mujoco_source(mujoco.MjModel.from_xml_string(without_meshes(path)) if file else load(path))


def mujoco_source(model):
    """See `source_of`."""
    return lambda step: mass_matrix(model, step), moving_mass(model)


def pinocchio_source(path, free_flyer):
    """See `source_of`. Pinocchio's joints must come in the order of ours, which is so for the robots above."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free_flyer else []))
    data = model.createData()

    def matrix(step):
        upper = np.triu(pin.crba(model, data, pin.integrate(model, pin.neutral(model), step)))
        return upper + np.triu(upper, 1).T

    return matrix, sum(inertia.mass for inertia in list(model.inertias)[1:])


def two_poles(path):
    """The suite's cart-pole with a second pole at the end of the first, as its `two_poles` task builds it."""
    root = ElementTree.parse(path).getroot()
    for include in root.findall("include"):
        root.remove(include)
    for geom in root.iter("geom"):
        geom.attrib.pop("material", None)
    second = ElementTree.SubElement(root.find(".//body[@name='pole_1']"), "body", pos="0 0 1", childclass="pole")
    ElementTree.SubElement(second, "joint")
    ElementTree.SubElement(second, "geom")
    return (ElementTree.tostring(root, encoding="unicode"),)


def without_meshes(path):
    """An MJCF file as text, without the meshes that its bodies wear; their inertias must be given."""
    root = ElementTree.parse(path).getroot()
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "mesh" or child.tag == "geom" and "mesh" in child.attrib:
                parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def check(name, source):
    """One row of the table."""
    expected = ROBOTS[name]
    model, warned = load_listening(MODELS / f"{name}.xml")
    row = {"robot": name, "nv": model.nv, "nu": model.nu, "geoms": model.ngeom, "mass": moving_mass(model)}
    row |= rest(model)
    faults = row["faults"]
    if warned:
        faults.append(f"loads with {warned}")
    if (model.nv, model.nu) != (expected.nv, expected.nu):
        faults.append(f"nv, nu should be {expected.nv}, {expected.nu}")
    if source:
        matrix, mass = source
        row["mass_error"] = abs(row["mass"] / mass - 1)
        row["matrix_error"] = max(matrix_error(model, matrix, step) for step in steps(model.nv))
        if row["mass_error"] > MASS_TOLERANCE:
            faults.append(f"source weighs {mass}")
        if row["matrix_error"] > MATRIX_TOLERANCE:
            faults.append("mass matrix differs")
    return row


def load(path):
    """A MuJoCo model from a file."""
    return mujoco.MjModel.from_xml_path(str(path))


def load_listening(path):
    """A MuJoCo model and what MuJoCo says about it on standard error, which is where its parser warns."""
    with tempfile.TemporaryFile() as heard:
        sys.stderr.flush()
        spoken = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            model = load(path)
        finally:
            os.dup2(spoken, 2)
            os.close(spoken)
        heard.seek(0)
        return model, heard.read().decode(errors="replace").strip()


def moving_mass(model):
    """Mass in kg of the bodies that can move: what is fixed to the world does not count."""
    return sum(model.body_mass[body] for body in range(model.nbody) if model.body_weldid[body] != 0)


def steps(nv):
    """Displacements from neutral: none, then random ones."""
    random = np.random.default_rng(1)
    return [np.zeros(nv), *random.uniform(-1, 1, (RANDOM_CONFIGURATIONS, nv))]


def mass_matrix(model, step):
    """nv × nv at `step` from MuJoCo's neutral configuration, armature included."""
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    mujoco.mj_forward(model, data)
    matrix = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, matrix)
    return matrix


def matrix_error(model, source, step):
    """Largest difference of two mass matrices, each entry relative to the root of its two diagonal entries."""
    theirs = source(step)
    scale = np.sqrt(np.diag(theirs))
    return np.max(np.abs(mass_matrix(model, step) - theirs) / np.outer(scale, scale))


def rest(model):
    """What happens from `rest` under its controls: penetration, greatest speed, drift, and what is wrong with it."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "rest"))
    start, drift = data.qpos.copy(), np.zeros(model.nv)
    penetration = speed = 0.0
    while data.time < REST_S:
        mujoco.mj_step(model, data)
        speed = max(speed, np.abs(data.qvel).max())
        penetration = max([penetration, *-data.contact.dist])
    mujoco.mj_differentiatePos(model, drift, 1.0, start, data.qpos)
    row = {"penetration_mm": 1e3 * penetration, "speed": speed, "drift": np.abs(drift).max(), "contacts": data.ncon}
    faults = ["MuJoCo warns"] if any(warning.number for warning in data.warning) else []
    if not row["penetration_mm"] <= PENETRATION_MM:
        faults.append("penetrates at rest")
    if not row["drift"] <= DRIFT:
        faults.append("does not stay at rest")
    return row | {"faults": faults}


def print_table(rows):
    """Robots down, figures across."""
    print("robot            nv  nu  geoms  mass kg   mass err  M err    contacts  depth mm  speed     drift     faults")
    for row in rows:
        mass, matrix = (f"{row[key]:.1e}" if key in row else "-" for key in ("mass_error", "matrix_error"))
        print(
            f"{row['robot']:16} {row['nv']:2d}  {row['nu']:2d}  {row['geoms']:5d}  {row['mass']:8.4f}  {mass:8}  "
            f"{matrix:7}  {row['contacts']:8d}  {row['penetration_mm']:8.3f}  {row['speed']:.1e}   "
            f"{row['drift']:.1e}   {', '.join(row['faults']) or 'none'}"
        )


if __name__ == "__main__":
    sys.exit(main())
