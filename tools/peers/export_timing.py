"""Write what the timing comparison runs on: robots and states for pinocchio_timing and for saltus alike.

    python export_timing.py OUTDIR

For each robot OUTDIR gets <robot>.json (the robot JSON, figures as in the URDF) and <robot>.states: 256 states, each
q, v, tau, a as little-endian float64. Prints one JSON object: by robot, its files, URDF, free-flyer flag, nq and nv.
"""

import argparse
import json
import pathlib

import numpy as np

import robots

ROBOTS = ("ur5", "go1", "g1")
STATES = 256
SEED = 4099


def random_states(model, rng):
    """STATES rows of q, v, tau, a."""
    rows = []
    for _ in range(STATES):
        q = robots.random_configuration(model, rng)
        v = robots.random_velocity(model, rng)
        rows.append(np.concatenate([q, v, 5.0 * rng.normal(size=model.nv), 3.0 * rng.normal(size=model.nv)]))
    return np.array(rows)


def export(name, folder):
    """Write one robot's files; return what the caller of pinocchio_timing needs to know."""
    robot = robots.build(name, plain=True)
    robot_path, states_path = folder / f"{name}.json", folder / f"{name}.states"
    robot_path.write_text(robots.dumps(robots.robot_json(robot)), encoding="utf-8")
    rng = np.random.default_rng([SEED, *name.encode()])
    states_path.write_bytes(random_states(robot.model, rng).astype("<f8").tobytes())
    return {
        "robot_json": str(robot_path),
        "states": str(states_path),
        "urdf": str(robots.urdf_path(name)),
        "free_flyer": robots.URDF_ROBOTS[name].free_flyer,
        "nq": robot.model.nq,
        "nv": robot.model.nv,
    }


def main():
    parser = argparse.ArgumentParser(description="Write robots and states for the timing comparison.")
    parser.add_argument("outdir", type=pathlib.Path, metavar="OUTDIR", help="folder to write to, made if missing")
    folder = parser.parse_args().outdir
    folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps({name: export(name, folder) for name in ROBOTS}, indent=1))


if __name__ == "__main__":
    main()
