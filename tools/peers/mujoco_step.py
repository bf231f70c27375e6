"""Times `mj_step` on a robot that stands in its `rest` keyframe; speaks JSON lines with tools/peers/src/step.rs.

    python mujoco_step.py MODEL.xml

First it lets the robot settle under the keyframe's controls and prints that state in saltus' coordinates:
{"q", "v", "control", "dt_s", "contacts"}. Then each line on standard input is answered by {"us": microseconds}.

`step`: per step, the fastest of WINDOWS windows of WINDOW_STEPS steps, each of them one call and from the settled state,
warm start included, so that Python takes no part in the time and the robot does not drift away.
`gradient`, `gradient one-sided`: per Jacobian of the step by `mjd_transitionFD`, with centred differences (accurate to the
square of the step) or one-sided ones (half the price), from the settled state; the fastest of GRADIENTS calls, each of them
in C.
"""

import json
import sys
import time

import mujoco
import numpy as np

import mjcf

# The robots balance without feedback for a second: settling and a window must stay within it.
SETTLE_S = 0.3
WINDOW_STEPS = 100
WINDOWS = 11
GRADIENTS = 33
# As the documentation of MuJoCo suggests.
EPSILON = 1e-6
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def settle(model):
    """A robot that has come to rest, and its full state."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "rest"))
    mujoco.mj_step(model, data, nstep=round(SETTLE_S / model.opt.timestep))
    mujoco.mj_forward(model, data)
    state = np.zeros(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return data, state


def describe(model, data):
    """The settled state in saltus' coordinates."""
    return {
        "q": mjcf.from_mujoco(data.qpos, mjcf.quaternion_starts(model)).tolist(),
        "v": (mjcf.velocity_map(model, data).T @ data.qvel).tolist(),
        "control": data.ctrl.tolist(),
        "dt_s": model.opt.timestep,
        "contacts": int(data.ncon),
    }


def window_us(model, data, state):
    """Microseconds per step over one window."""
    mujoco.mj_setState(model, data, state, STATE)
    begin = time.perf_counter()
    mujoco.mj_step(model, data, nstep=WINDOW_STEPS)
    return (time.perf_counter() - begin) * 1e6 / WINDOW_STEPS


def gradient_us(model, data, state, centred, jacobian, by_control):
    """Microseconds of one Jacobian of the step."""
    mujoco.mj_setState(model, data, state, STATE)
    mujoco.mj_forward(model, data)
    begin = time.perf_counter()
    mujoco.mjd_transitionFD(model, data, EPSILON, centred, jacobian, by_control, None, None)
    return (time.perf_counter() - begin) * 1e6


def answer(model, data, state, request):
    """Microseconds of what a line asks for."""
    if request.startswith("gradient"):
        centred = request == "gradient"
        size = 2 * model.nv + model.na
        jacobian, by_control = np.zeros((size, size)), np.zeros((size, model.nu))
        return min(gradient_us(model, data, state, centred, jacobian, by_control) for _ in range(GRADIENTS))
    window_us(model, data, state)
    return min(window_us(model, data, state) for _ in range(WINDOWS))


def main():
    model = mujoco.MjModel.from_xml_path(sys.argv[1])
    data, state = settle(model)
    print(json.dumps(describe(model, data)), flush=True)
    for line in sys.stdin:
        print(json.dumps({"us": answer(model, data, state, line.strip())}), flush=True)


if __name__ == "__main__":
    main()
