"""Times `mj_step` on a robot that stands in its `rest` keyframe; speaks JSON lines with tools/peers/src/step.rs.

    python mujoco_step.py MODEL.xml

First it lets the robot settle under the keyframe's controls and prints that state in saltus' coordinates:
{"q", "v", "control", "dt_s", "contacts"}. Then each line on standard input is answered by {"us": microseconds per step}:
the fastest of WINDOWS windows of WINDOW_STEPS steps, each of them one call and from the settled state, warm start
included, so that Python takes no part in the time and the robot does not drift away.
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


def main():
    model = mujoco.MjModel.from_xml_path(sys.argv[1])
    data, state = settle(model)
    print(json.dumps(describe(model, data)), flush=True)
    for _ in sys.stdin:
        window_us(model, data, state)
        fastest = min(window_us(model, data, state) for _ in range(WINDOWS))
        print(json.dumps({"us": fastest}), flush=True)


if __name__ == "__main__":
    main()
