"""Mass, centre of mass and mass matrix from Pinocchio for every URDF of example-robot-data, as JSON.

    python loaders.py OUT.json

Each file is loaded twice, fixed to the world and free-flying, unless its root link is the world itself. Configurations are given by the name of the joint, so that
no numbering is taken for granted; "joints" says where each stands in the peer's own. A file that Pinocchio refuses has
"error" instead of figures.
"""

import argparse
import importlib.metadata
import json
import pathlib
import xml.etree.ElementTree
import zlib

import numpy as np
import pinocchio as pin

import robots

# Random configurations per file.
STATES = 3

# Mixed with the file's name, so that its configurations do not depend on which others there are.
SEED = 4711


def urdf_folder():
    """Where example-robot-data keeps its robots."""
    distribution = importlib.metadata.distribution("example-robot-data")
    return pathlib.Path(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots"))


def bases(path):
    """Whether to load a file free-flying: both ways, but the ground does not fly."""
    robot = xml.etree.ElementTree.parse(path).getroot()
    return (False,) if robot.find("link[@name='world']") is not None else (False, True)


def case(path, name, free_flyer):
    """The figures of one file."""
    result = {"file": name, "path": str(path), "format": "urdf", "free_flyer": free_flyer}
    try:
        root = [pin.JointModelFreeFlyer()] if free_flyer else []
        model = pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError) as error:
        return result | {"error": str(error)}
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode()), int(free_flyer)])
    joints = [(joint, model.names[joint.id]) for joint in list(model.joints)[1:]]
    result["joints"] = [{"name": name, "first_v": joint.idx_v, "nv": joint.nv} for joint, name in joints]
    result["states"] = [state(model, joints, rng) for _ in range(STATES)]
    return result


def state(model, joints, rng):
    """Mass, centre of mass and mass matrix at a random configuration."""
    q = robots.random_configuration(model, rng)
    data = model.createData()
    com = pin.centerOfMass(model, data, q).copy()
    upper = np.triu(pin.crba(model, data, q))
    mass = sum(inertia.mass for inertia in list(model.inertias)[1:])
    return {
        "q": {name: q[joint.idx_q : joint.idx_q + joint.nq].tolist() for joint, name in joints},
        "mass": mass,
        "com": com.tolist() if mass > 0.0 else None,
        "mass_matrix": (upper + np.triu(upper, 1).T).ravel().tolist(),
    }


def main():
    parser = argparse.ArgumentParser(description="Dump the figures that saltus' loaders are compared with.")
    parser.add_argument("out", type=pathlib.Path, help="JSON file to write")
    out = parser.parse_args().out
    folder = urdf_folder()
    files = sorted(folder.rglob("*.urdf"))
    cases = [case(path, str(path.relative_to(folder)), free) for path in files for free in bases(path)]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"versions": {"pin": pin.__version__}, "cases": cases}))


if __name__ == "__main__":
    main()
