"""Reference figures from Pinocchio for the tests of saltus' dynamics: tests/oracles/<robot>.json and <robot>.bin.

    python oracles.py --out tests/oracles            # write the files
    python oracles.py --out tests/oracles --check    # compare the files with what this script makes

The .json file is the robot JSON (see robots.py) with "fields", "states" and "versions" added. The .bin file has, for
each state and each field in the order of "fields", rows × cols float64, little-endian, row-major.

Conventions, all Pinocchio's:
- A spatial vector is linear, then angular. A quaternion is [x, y, z, w]. Planar is [x, y, cos θ, sin θ], continuous
  [cos θ, sin θ]. Velocities of spherical, planar and free-flyer joints are in the joint's moving frame.
- Derivatives with respect to q are along tangent directions: d/dε f(q ⊕ ε eᵢ) in column i.
- wrench[i] acts on body i, in the axes and at the origin of its joint frame, and is held fixed there in derivatives.
- All dynamics include the armature, except regressor_probe, which is a pure linear map of the inertial parameters.
"""

import argparse
import importlib.metadata
import json
import pathlib
import sys

import numpy as np
import pinocchio as pin

import robots

ROBOTS = ("panda7", "go1", "g1", "talos", "cartpole", "mixed_tree")
STATES = 20

VERSIONED_PACKAGES = ("pin", "example-robot-data", "numpy")

# Mixed with the robot's name, so that a robot's states do not depend on which others are made.
SEED = 1723

# Where point_velocity looks, in the last body's joint frame, metres.
POINT = np.array([0.1, -0.2, 0.3])

# integrate() steps by this multiple of v.
STEP_S = 0.3

# Central differences of step 1e-5 are good to some 1e-7 of the largest entry; a wrong formula is off by far more.
DIFFERENCE_STEP = 1e-5
DIFFERENCE_TOLERANCE = 1e-5

# Exact identities between two algorithms, relative to the largest entry.
IDENTITY_TOLERANCE = 1e-9

# Stored and remade figures, relative to the largest entry of the field (or to 1).
CHECK_TOLERANCE = 1e-12


def make_inputs(model, rng):
    """A random state, its accelerations, torques and wrenches, and a second configuration."""
    bodies = model.njoints - 1
    return {
        "q": robots.random_configuration(model, rng),
        "v": robots.random_velocity(model, rng),
        "a": 3.0 * rng.normal(size=model.nv),
        "tau": 5.0 * rng.normal(size=model.nv),
        "wrench": rng.normal(size=(bodies, 6)) * [5.0, 5.0, 5.0, 1.0, 1.0, 1.0],
        "q2": robots.random_configuration(model, rng),
        "regressor_vector": rng.normal(size=10 * bodies),
    }


def forces(wrench):
    """Pinocchio's list of external forces: one per joint, the universe first."""
    return pin.StdVec_Force([pin.Force.Zero(), *(pin.Force(row) for row in wrench)])


def make_dynamics(model, inputs):
    """Inverse and forward dynamics, their derivatives, and what is needed to take them apart."""
    data = model.createData()
    q, v, a, tau = (inputs[name] for name in ("q", "v", "a", "tau"))
    external = forces(inputs["wrench"])
    fields = {
        "inverse_dynamics": pin.rnea(model, data, q, v, a).copy(),
        "inverse_dynamics_wrench": pin.rnea(model, data, q, v, a, external).copy(),
        "bias": pin.nonLinearEffects(model, data, q, v).copy(),
        "gravity_torque": pin.computeGeneralizedGravity(model, data, q).copy(),
        "mass_matrix": symmetric(pin.crba(model, data, q)),
        "forward_dynamics": pin.aba(model, data, q, v, tau, external).copy(),
    }
    id_dq, id_dv, _ = pin.computeRNEADerivatives(model, data, q, v, a, external)
    fields |= {"id_dq": id_dq.copy(), "id_dv": id_dv.copy()}
    fd_dq, fd_dv, _ = pin.computeABADerivatives(model, data, q, v, tau, external)
    fields |= {"fd_dq": fd_dq.copy(), "fd_dv": fd_dv.copy()}
    fields["inverse_mass_matrix"] = symmetric(pin.computeMinverse(model, data, q))
    return fields


def symmetric(matrix):
    """The full matrix from its upper triangle."""
    upper = np.triu(matrix)
    return upper + np.triu(matrix, 1).T


def make_centroidal(model, inputs):
    """Centre of mass, centroidal momentum (linear, then angular about the centre of mass), and energies."""
    data = model.createData()
    q, v = inputs["q"], inputs["v"]
    pin.centerOfMass(model, data, q, v)
    fields = {"com": data.com[0].copy(), "com_velocity": data.vcom[0].copy()}
    fields["com_jacobian"] = pin.jacobianCenterOfMass(model, data, q).copy()
    fields["centroidal_momentum"] = pin.computeCentroidalMomentum(model, data, q, v).vector.copy()
    fields["centroidal_map"] = pin.computeCentroidalMap(model, data, q).copy()
    # ½ vᵀ M v rather than computeKineticEnergy: both include the armature, but Pinocchio 4.1 leaves it out for
    # JointModelRevoluteUnaligned, which does not store its velocity.
    fields["kinetic_energy"] = 0.5 * v @ symmetric(pin.crba(model, data, q)) @ v
    fields["potential_energy"] = pin.computePotentialEnergy(model, data, q)
    return fields


def make_kinematics(robot, inputs):
    """Placement, Jacobians and their rates of the last body, those of the first frame, and the velocity of a point.

    point_velocity_dq is the plain derivative of the point's velocity vector in world axes, the point fixed in the body:
    it has the change of the lever arm in it. This is what getPointVelocityDerivatives gives for LOCAL_WORLD_ALIGNED,
    and `difference_errors` holds it to that.
    """
    model, data = robot.model, robot.model.createData()
    q, v = inputs["q"], inputs["v"]
    last = model.njoints - 1
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.forwardKinematics(model, data, q, v)
    pin.updateFramePlacements(model, data)
    fields = {"body_placement": placement_row(data.oMi[last])}
    references = {"local": pin.LOCAL, "world": pin.WORLD, "aligned": pin.LOCAL_WORLD_ALIGNED}
    for name, reference in references.items():
        fields[f"body_jacobian_{name}"] = pin.getJointJacobian(model, data, last, reference).copy()
    for name in ("world", "local", "aligned"):
        rate = pin.getJointJacobianTimeVariation(model, data, last, references[name])
        fields[f"body_jacobian_rate_{name}"] = rate.copy()
    frame = model.getFrameId(robot.frames[0])
    fields["frame_placement"] = placement_row(data.oMf[frame])
    fields["frame_jacobian_aligned"] = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED).copy()
    fields["point_velocity"] = point_velocity(model, q, v)
    pin.computeForwardKinematicsDerivatives(model, data, q, v, np.zeros(model.nv))
    point = pin.SE3(np.eye(3), POINT)
    dq, dv = pin.getPointVelocityDerivatives(model, data, last, point, pin.LOCAL_WORLD_ALIGNED)
    fields |= {"point_velocity_dq": dq.copy(), "point_velocity_dv": dv.copy()}
    return fields


def placement_row(placement):
    """Rotation row-major, then translation: twelve numbers."""
    return np.concatenate([placement.rotation.reshape(9), placement.translation])


def point_velocity(model, q, v):
    """Velocity in world axes of the point fixed at POINT in the last body's frame."""
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    velocity = data.v[model.njoints - 1]
    return data.oMi[model.njoints - 1].rotation @ (velocity.linear + np.cross(velocity.angular, POINT))


def make_regressor(model, inputs):
    """The torque regressor at (q, v, a) times regressor_vector.

    Ten parameters per body in Pinocchio's order, m, m·cx, m·cy, m·cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, the inertia being
    about the joint frame's origin.
    """
    data = model.createData()
    regressor = pin.computeJointTorqueRegressor(model, data, inputs["q"], inputs["v"], inputs["a"])
    return {"regressor_probe": regressor @ inputs["regressor_vector"]}


def make_lie(model, inputs):
    """Integration on the configuration manifold, the difference of two configurations, and their derivatives."""
    q, q2, step = inputs["q"], inputs["q2"], STEP_S * inputs["v"]
    return {
        "integrate": pin.integrate(model, q, step),
        "difference": pin.difference(model, q, q2),
        "integrate_dq": pin.dIntegrate(model, q, step, pin.ARG0),
        "integrate_dv": pin.dIntegrate(model, q, step, pin.ARG1),
        "difference_dq0": pin.dDifference(model, q, q2, pin.ARG0),
        "difference_dq1": pin.dDifference(model, q, q2, pin.ARG1),
    }


def make_state(robot, rng):
    """All fields of one random state, as two-dimensional arrays in the order of the file."""
    inputs = make_inputs(robot.model, rng)
    fields = (
        inputs
        | make_dynamics(robot.model, inputs)
        | make_centroidal(robot.model, inputs)
        | make_kinematics(robot, inputs)
        | make_regressor(robot.model, inputs)
        | make_lie(robot.model, inputs)
    )
    return {name: as_matrix(value) for name, value in fields.items()}


def as_matrix(value):
    """A scalar or vector as a column; a matrix as it is."""
    array = np.asarray(value, dtype=np.float64)
    return array if array.ndim == 2 else array.reshape(-1, 1)


def central_difference(function, model, at, on_manifold):
    """Columns d/dε function(at ⊕ ε eᵢ), or at + ε eᵢ off the manifold, by central differences."""
    columns = []
    for direction in np.eye(model.nv):
        ends = []
        for sign in (1.0, -1.0):
            step = sign * DIFFERENCE_STEP * direction
            ends.append(function(pin.integrate(model, at, step) if on_manifold else at + step))
        columns.append((ends[0] - ends[1]) / (2.0 * DIFFERENCE_STEP))
    return np.array(columns).T


def relative_error(got, expected):
    """Largest difference over the largest entry, or over 1 where all entries are small."""
    return np.max(np.abs(got - expected)) / max(1.0, np.max(np.abs(expected)))


def difference_errors(robot, state):
    """Error of each derivative field against central differences, by field."""
    model, data = robot.model, robot.model.createData()
    q, v, a, tau, q2 = (state[name].ravel() for name in ("q", "v", "a", "tau", "q2"))
    external = forces(state["wrench"])
    step = STEP_S * v

    def inverse_dynamics(q, v):
        return pin.rnea(model, data, q, v, a, external).copy()

    def forward_dynamics(q, v):
        return pin.aba(model, data, q, v, tau, external).copy()

    def velocity(q, v):
        return point_velocity(model, q, v)

    errors = {}
    for function, stem in ((inverse_dynamics, "id"), (forward_dynamics, "fd"), (velocity, "point_velocity")):
        dq = central_difference(lambda x: function(x, v), model, q, on_manifold=True)
        dv = central_difference(lambda x: function(q, x), model, v, on_manifold=False)
        errors[f"{stem}_dq"] = relative_error(dq, state[f"{stem}_dq"])
        errors[f"{stem}_dv"] = relative_error(dv, state[f"{stem}_dv"])

    def from_integrated(q_end):
        return pin.difference(model, pin.integrate(model, q, step), q_end)

    lie = {
        "integrate_dq": (lambda x: from_integrated(pin.integrate(model, x, step)), q, True),
        "integrate_dv": (lambda x: from_integrated(pin.integrate(model, q, x)), step, False),
        "difference_dq0": (lambda x: pin.difference(model, x, q2), q, True),
        "difference_dq1": (lambda x: pin.difference(model, q, x), q2, True),
    }
    for name, (function, at, on_manifold) in lie.items():
        errors[name] = relative_error(central_difference(function, model, at, on_manifold), state[name])
    return errors | jacobian_rate_errors(model, state)


def jacobian_rate_errors(model, state):
    """Error of each Jacobian rate against the difference of the Jacobian along the motion q ⊕ t v."""
    data = model.createData()
    q, v = state["q"].ravel(), state["v"].ravel()
    last = model.njoints - 1
    errors = {}
    for name, reference in (("local", pin.LOCAL), ("world", pin.WORLD), ("aligned", pin.LOCAL_WORLD_ALIGNED)):
        ends = []
        for sign in (1.0, -1.0):
            pin.computeJointJacobians(model, data, pin.integrate(model, q, sign * DIFFERENCE_STEP * v))
            ends.append(pin.getJointJacobian(model, data, last, reference).copy())
        rate = (ends[0] - ends[1]) / (2.0 * DIFFERENCE_STEP)
        errors[f"body_jacobian_rate_{name}"] = relative_error(rate, state[f"body_jacobian_rate_{name}"])
    return errors


def identity_errors(robot, state):
    """Error of identities that tie the fields of two algorithms together, by name."""
    model, data = robot.model, robot.model.createData()
    q, v, a, tau = (state[name].ravel() for name in ("q", "v", "a", "tau"))
    mass_matrix = state["mass_matrix"]
    wrench_torque = state["inverse_dynamics"] - state["inverse_dynamics_wrench"]
    forward = np.linalg.solve(mass_matrix, state["tau"] - state["bias"] + wrench_torque)
    pin.computeJointTorqueRegressor(model, data, q, v, a)
    parameters = np.concatenate([inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]])
    regressed = data.jointTorqueRegressor @ parameters + model.armature * a
    pin.forwardKinematics(model, data, q, v)
    moving = range(1, model.njoints)
    mass = sum(model.inertias[i].mass for i in moving)
    com = sum(model.inertias[i].mass * data.oMi[i].act(model.inertias[i].lever) for i in moving) / mass
    kinetic = 0.5 * (sum(model.inertias[i].vtiv(data.v[i]) for i in moving) + model.armature @ v**2)
    inverse = mass_matrix @ state["a"] + state["bias"]
    return {
        "forward = M⁻¹(τ − bias + Jᵀw)": relative_error(forward, state["forward_dynamics"]),
        "inverse dynamics = M a + bias": relative_error(inverse, state["inverse_dynamics"]),
        "M⁻¹ M = 1": relative_error(state["inverse_mass_matrix"] @ mass_matrix, np.eye(model.nv)),
        "regressor · parameters + armature · a": relative_error(regressed, state["inverse_dynamics"].ravel()),
        "centroidal map · v": relative_error(state["centroidal_map"] @ state["v"], state["centroidal_momentum"]),
        "com jacobian · v": relative_error(state["com_jacobian"] @ state["v"], state["com_velocity"]),
        "com of the moving bodies": relative_error(com, state["com"].ravel()),
        "kinetic energy, body by body": relative_error(kinetic, state["kinetic_energy"]),
        "potential energy = −m g · com": relative_error(-mass * model.gravity.linear @ com, state["potential_energy"]),
    }


def check_state_errors(robot, states):
    """Print the largest error of each self-check over the states; return whether all are within tolerance."""
    good = True
    for errors_of, tolerance in ((difference_errors, DIFFERENCE_TOLERANCE), (identity_errors, IDENTITY_TOLERANCE)):
        errors = [errors_of(robot, state) for state in states]
        for name in errors[0]:
            worst = max(error[name] for error in errors)
            verdict = "" if worst <= tolerance else "   TOO LARGE"
            good &= worst <= tolerance
            print(f"  {name:40} {worst:.1e}{verdict}")
    return good


def make_robot(name):
    """Document and states of one robot."""
    robot = robots.build(name)
    rng = np.random.default_rng([SEED, *name.encode()])
    states = [make_state(robot, rng) for _ in range(STATES)]
    document = robots.robot_json(robot) | {
        "fields": [
            {"name": field, "rows": value.shape[0], "cols": value.shape[1]} for field, value in states[0].items()
        ],
        "states": len(states),
        "versions": {package: importlib.metadata.version(package) for package in VERSIONED_PACKAGES},
    }
    return robot, document, states


def to_bytes(states):
    """The .bin file: every field of every state, float64 little-endian, row-major."""
    return b"".join(np.ascontiguousarray(value, dtype="<f8").tobytes() for state in states for value in state.values())


def mismatches(folder, name, document, states):
    """Lines that say how the stored files of a robot differ from what we made; empty when they do not."""
    stored = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    lines = [f"{name}.json: {key} differs" for key in document if not close(stored.get(key), document[key])]
    flat = np.fromfile(folder / f"{name}.bin", dtype="<f8")
    made = np.frombuffer(to_bytes(states), dtype="<f8")
    if flat.size != made.size:
        return [*lines, f"{name}.bin: {flat.size} numbers, {made.size} made"]
    start = 0
    for index, state in enumerate(states):
        for field, value in state.items():
            kept = flat[start : start + value.size].reshape(value.shape)
            start += value.size
            error = relative_error(kept, value)
            if not error <= CHECK_TOLERANCE:
                lines.append(f"{name}.bin: state {index}, {field}: off by {error:.1e}")
    return lines


def close(stored, made):
    """Whether two JSON values agree, numbers to CHECK_TOLERANCE."""
    if isinstance(made, dict):
        same_keys = isinstance(stored, dict) and stored.keys() == made.keys()
        return same_keys and all(close(stored[key], made[key]) for key in made)
    if isinstance(made, list):
        return isinstance(stored, list) and len(stored) == len(made) and all(map(close, stored, made))
    if isinstance(made, float):
        return isinstance(stored, (int, float)) and abs(stored - made) <= CHECK_TOLERANCE * max(1.0, abs(made))
    return stored == made


def main():
    parser = argparse.ArgumentParser(description="Write, or check, the reference figures of tests/oracles.")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the .json and .bin files")
    parser.add_argument("--check", action="store_true", help="compare with the files in --out instead of writing them")
    parser.add_argument("--robot", action="append", choices=ROBOTS, help="only this robot (may be repeated)")
    arguments = parser.parse_args()
    good = True
    for name in arguments.robot or ROBOTS:
        robot, document, states = make_robot(name)
        print(f"{name}: nv {robot.model.nv}, {len(states)} states")
        good &= check_state_errors(robot, states)
        if arguments.check:
            problems = mismatches(arguments.out, name, document, states)
            print("\n".join(problems) or f"  {name}: stored files agree")
            good &= not problems
        elif good:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{name}.json").write_text(robots.dumps(document), encoding="utf-8")
            (arguments.out / f"{name}.bin").write_bytes(to_bytes(states))
    if not good:
        sys.exit("the self-checks or the comparison failed")


if __name__ == "__main__":
    main()
