"""Times one iteration of Crocoddyl's FDDP on a robot that stands; speaks JSON lines with tools/peers/src/mpc.rs.

    python crocoddyl_mpc.py MODEL.xml

The first line on standard input says what to do: {"q", "v", "u", "dt_s", "horizon", "weights", "feet"}: the state and
controls to stay at, the weights of (state, control, state at the end), and the frames that are held to the ground. It is
answered by {"nv", "mass_matrix", "cost"}: what shows that both sides have the same robot, and the cost that FDDP reaches.
Each further line is answered by {"iteration_us", "backward_us_per_node", "solve_us"}: the fastest of CALLS runs of what an
iteration is made of (values and derivatives at all nodes, backward pass, one roll-out of a full step), of its backward
pass, and of `solve` with one iteration, which does the same and its bookkeeping. All of it is C++; Python makes four calls.
"""

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin

# The fastest of so many calls counts: what disturbs only slows down.
CALLS = 60


def build_problem(model, ask):
    """Stay at a state, on given feet, with little effort."""
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    x = np.concatenate([ask["q"], ask["v"]])
    contacts = crocoddyl.ContactModelMultiple(state, actuation.nu)
    for foot in ask["feet"]:
        frame = model.getFrameId(foot)
        gains = np.array([0.0, 30.0])
        held = crocoddyl.ContactModel3D(state, frame, np.zeros(3), pin.LOCAL_WORLD_ALIGNED, actuation.nu, gains)
        contacts.addContact(foot, held)
    of_state, of_control, at_end = ask["weights"]

    def dynamics(weights):
        costs = crocoddyl.CostModelSum(state, actuation.nu)
        stay = crocoddyl.ResidualModelState(state, x, actuation.nu)
        costs.addCost("x", crocoddyl.CostModelResidual(state, stay), weights[0])
        rest = crocoddyl.ResidualModelControl(state, np.array(ask["u"]))
        costs.addCost("u", crocoddyl.CostModelResidual(state, rest), weights[1])
        # Without the derivatives of forces, which this cost does not need.
        return crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, contacts, costs, 0.0, False)

    step = crocoddyl.IntegratedActionModelEuler(dynamics((of_state, of_control)), ask["dt_s"])
    end = crocoddyl.IntegratedActionModelEuler(dynamics((at_end, 0.0)), 0.0)
    return crocoddyl.ShootingProblem(x, [step] * ask["horizon"], end)


def fastest_us(run):
    """Microseconds of the fastest call."""
    best = float("inf")
    for _ in range(CALLS):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best * 1e6


def main():
    model = pin.buildModelFromMJCF(sys.argv[1])
    # The name by which Crocoddyl knows what is not actuated.
    model.names[1] = "root_joint"
    ask = json.loads(sys.stdin.readline())
    problem = build_problem(model, ask)
    horizon = ask["horizon"]
    solver = crocoddyl.SolverFDDP(problem)
    xs, us = [problem.x0] * (horizon + 1), [np.array(ask["u"])] * horizon
    solver.solve(xs, us, 20, False)
    data = model.createData()
    mass = pin.crba(model, data, np.array(ask["q"]))
    mass = np.triu(mass) + np.triu(mass, 1).T
    print(json.dumps({"nv": model.nv, "mass_matrix": mass.ravel().tolist(), "cost": solver.cost}), flush=True)
    xs, us = solver.xs, solver.us

    def iterate():
        problem.calc(xs, us)
        problem.calcDiff(xs, us)
        solver.backwardPass()
        solver.forwardPass(1.0)

    solver.computeDirection(True)
    for _ in sys.stdin:
        times = {
            "iteration_us": fastest_us(iterate),
            "backward_us_per_node": fastest_us(solver.backwardPass) / horizon,
            "solve_us": fastest_us(lambda: solver.solve(xs, us, 1, False)),
        }
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
