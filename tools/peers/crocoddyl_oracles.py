"""Optima that Crocoddyl's FDDP finds for smooth problems; tests/crocoddyl.rs holds the optimizer to them.

    python crocoddyl_oracles.py --out tests/oracles/crocoddyl.json            # --check compares instead

Both sides integrate by semi-implicit Euler, v+ = v + dt a, q+ = q + dt v+, and both costs are sums of 1/2 w |r|^2, times
dt along the way. Every problem states all that it takes: weights are those of posture, velocity, control and, for the arm,
the position of the tool; first along the way, then at the end. `hold` are the controls that both start from, and that effort
is counted from.
"""

import argparse
import json
import pathlib
import sys

import crocoddyl
import numpy as np
import pinocchio as pin

MODELS = pathlib.Path(__file__).parents[2] / "models"
# Of the cost, to other runs of the same versions.
AGREEMENT = 1e-9

CARTPOLE = {
    "dt_s": 0.03,
    "horizon": 60,
    "cart_kg": 1.0,
    "pole_kg": 0.2,
    "pole_m": 0.6,
    "q": [0.0, np.pi],
    "v": [0.0, 0.0],
    "q_goal": [0.0, 0.0],
    "weights": {"posture": [0.5, 100.0], "velocity": [0.05, 10.0], "control": 0.01},
}
UR5 = {
    "dt_s": 0.02,
    "horizon": 50,
    "q": [0.0, -1.2, 1.4, -0.6, 0.3, 0.0],
    "v": [0.0] * 6,
    "tool_moves": [0.1, 0.25, -0.1],
    "weights": {"posture": [1.0, 1.0], "velocity": [0.2, 5.0], "control": 1e-3, "tool": [10.0, 1000.0]},
}


class CartActuation(crocoddyl.ActuationModelAbstract):
    """A motor on the cart and none on the pole."""

    def __init__(self, state):
        crocoddyl.ActuationModelAbstract.__init__(self, state, 1)

    def calc(self, data, x, u):
        data.tau = np.array([u[0], 0.0])

    def calcDiff(self, data, x, u):
        data.dtau_du = np.array([[1.0], [0.0]])

    def commands(self, data, x, tau):
        data.u = tau[:1]

    def torqueTransform(self, data, x, u):
        data.Mtau = np.array([[1.0, 0.0]])


def cartpole_model(figures):
    """A cart along x and a thin pole about y, which stands upright at zero."""
    model = pin.Model()
    cart = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "cart")
    model.appendBodyToJoint(cart, pin.Inertia(figures["cart_kg"], np.zeros(3), np.eye(3)), pin.SE3.Identity())
    pole = model.addJoint(cart, pin.JointModelRY(), pin.SE3.Identity(), "pole")
    mass, length = figures["pole_kg"], figures["pole_m"]
    about_center = mass * length**2 / 12.0
    center = np.array([0.0, 0.0, 0.5 * length])
    inertia = pin.Inertia(mass, center, np.diag([about_center, about_center, 1e-4]))
    model.appendBodyToJoint(pole, inertia, pin.SE3.Identity())
    return model


def weighted_state(state, nu, x, posture, velocity):
    """Posture and velocity in one residual."""
    n = state.nv
    activation = crocoddyl.ActivationModelWeightedQuad(np.array([posture] * n + [velocity] * n))
    return crocoddyl.CostModelResidual(state, activation, crocoddyl.ResidualModelState(state, x, nu))


def solve(figures, model, actuation_of):
    """The optimum from rest, and how it was reached."""
    state = crocoddyl.StateMultibody(model)
    actuation = actuation_of(state)
    goal = np.concatenate([figures.get("q_goal", figures["q"]), np.zeros(model.nv)])
    weights = figures["weights"]
    hold = pin.rnea(model, model.createData(), np.array(figures["q"]), np.zeros(model.nv), np.zeros(model.nv))
    figures = figures | {"hold": hold[: actuation.nu].tolist()}
    if "tool_moves" in figures:
        data = model.createData()
        pin.framesForwardKinematics(model, data, np.array(figures["q"]))
        tool = data.oMf[model.getFrameId("tool")].translation + np.array(figures["tool_moves"])
        figures = figures | {"tool": tool.tolist()}

    def dynamics(at_end):
        costs = crocoddyl.CostModelSum(state, actuation.nu)
        pick = 1 if at_end else 0
        both = (weights["posture"][pick], weights["velocity"][pick])
        costs.addCost("x", weighted_state(state, actuation.nu, goal, *both), 1.0)
        if not at_end:
            effort = crocoddyl.ResidualModelControl(state, np.array(figures["hold"]))
            costs.addCost("u", crocoddyl.CostModelResidual(state, effort), weights["control"])
        if "tool" in figures:
            frame, point = model.getFrameId("tool"), np.array(figures["tool"])
            reach = crocoddyl.ResidualModelFrameTranslation(state, frame, point, actuation.nu)
            costs.addCost("tool", crocoddyl.CostModelResidual(state, reach), weights["tool"][pick])
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)

    step = crocoddyl.IntegratedActionModelEuler(dynamics(False), figures["dt_s"])
    end = crocoddyl.IntegratedActionModelEuler(dynamics(True), 0.0)
    x = np.concatenate([figures["q"], figures["v"]])
    horizon = figures["horizon"]
    solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(x, [step] * horizon, end))
    solver.th_stop = 1e-20
    us = [np.array(figures["hold"])] * horizon
    xs = solver.problem.rollout(us)
    solver.solve(xs, us, 2000, True)
    reached = {
        "cost": solver.cost,
        "iterations": solver.iter,
        "stop": solver.stop,
        "first_control": solver.us[0].tolist(),
        "last_state": solver.xs[-1].tolist(),
    }
    print(json.dumps(reached), file=sys.stderr)
    return figures | reached


def compute():
    cartpole = solve(CARTPOLE, cartpole_model(CARTPOLE), CartActuation)
    arm = pin.buildModelFromMJCF(str(MODELS / "ur5.xml"))
    return {"crocoddyl": crocoddyl.__version__, "cartpole": cartpole, "ur5": solve(UR5, arm, crocoddyl.ActuationModelFull)}


def main():
    parser = argparse.ArgumentParser(description="Write or check optima of smooth problems.")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args()
    figures = compute()
    if not options.check:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return
    stored = json.loads(options.out.read_text(encoding="utf-8"))
    for name in ("cartpole", "ur5"):
        ours, theirs = figures[name]["cost"], stored[name]["cost"]
        if abs(ours - theirs) > AGREEMENT * abs(theirs):
            sys.exit(f"{name}: the cost is {ours!r}, stored is {theirs!r}")


if __name__ == "__main__":
    main()
