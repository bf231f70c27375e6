"""Holds what saltus reads from MJCF against MuJoCo: masses, mass matrices, pairs, limits, motors, keyframes.

    python tools/peers/mjcf.py EVALUATE [FILE...]
    python tools/peers/mjcf.py --figures EVALUATE FILE > FILE.json
    python tools/peers/mjcf.py --closures FILE > FILE.json
    python tools/peers/mjcf.py --dump OUT.json

EVALUATE is the program of loaders/examples/evaluate.rs. Without files it goes through all MJCF in gymnasium and in
dm_control's suite. Prints {"loaded", "disagree": [...], "refused": [{"file", "reason"}]}. The dump is MuJoCo's side alone,
for `cargo xtask peers --loaders`.
"""

import glob
import json
import os
import subprocess
import sys
import zlib

import mujoco
import numpy as np

TOLERANCE = 1e-9


def suites():
    """All MJCF files of gymnasium and dm_control's suite."""
    import importlib.util

    def folder(package):
        return os.path.dirname(importlib.util.find_spec(package).origin)

    gym = glob.glob(os.path.join(folder("gymnasium"), "envs/mujoco/assets/*.xml"))
    suite = glob.glob(os.path.join(folder("dm_control"), "suite/*.xml"))
    return sorted(gym) + sorted(suite)


def difference(ours, peer):
    """Largest deviation, relative to the largest number."""
    ours, peer = np.asarray(ours, float), np.asarray(peer, float)
    if ours.shape != peer.shape:
        return float("inf")
    if peer.size == 0:
        return 0.0
    both = np.isfinite(ours) & np.isfinite(peer)
    if not np.array_equal(ours[~both], peer[~both]):
        return float("inf")
    scale = max(np.abs(peer[both]).max(initial=0.0), 1e-12)
    return float(np.abs(ours[both] - peer[both]).max(initial=0.0) / scale)


def quaternion_starts(model):
    """Where quaternions start in q."""
    starts = []
    for joint in range(model.njnt):
        at = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            starts.append(at + 3)
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            starts.append(at)
    return starts


def reordered(q, starts, order):
    q = np.array(q, float)
    for at in starts:
        q[at : at + 4] = q[at : at + 4][order]
    return q


def to_mujoco(q, starts):
    """(x, y, z, w) to (w, x, y, z)."""
    return reordered(q, starts, [3, 0, 1, 2])


def from_mujoco(q, starts):
    return reordered(q, starts, [1, 2, 3, 0])


def velocity_map(model, data):
    """qvel = X v: the linear velocity of a free joint is along the body's axes in saltus."""
    x = np.eye(model.nv)
    for joint in range(model.njnt):
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            at = model.jnt_dofadr[joint]
            x[at : at + 3, at : at + 3] = data.xmat[model.jnt_bodyid[joint]].reshape(3, 3)
    return x


def moving(model):
    """Bodies that are neither welded to the world nor moved by hand (mocap)."""
    fixed = {body for body in range(model.nbody) if model.body_mocapid[body] >= 0} | {0}
    return [body for body in range(1, model.nbody) if int(model.body_weldid[body]) not in fixed]


def dense_mass_matrix(model, data):
    m = np.zeros((model.nv, model.nv))
    if model.nv:
        try:
            mujoco.mj_fullM(model, data, m)
        except TypeError:
            mujoco.mj_fullM(model, m, data.qM)
    return m


def compare_states(model, data, ours, result):
    starts = quaternion_starts(model)
    bodies = moving(model)
    mass = model.body_mass[bodies].sum()
    result["mass"] = difference(ours["mass"], mass)
    for state in ours["states"] if bodies else []:
        data.qpos[:] = to_mujoco(state["q"], starts)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        m = dense_mass_matrix(model, data)
        x = velocity_map(model, data)
        m = x.T @ m @ x
        com = (model.body_mass[bodies] @ data.xipos[bodies]) / mass
        result["com"] = max(result.get("com", 0.0), difference(state["com"], com))
        mine = np.reshape(state["mass_matrix"], (model.nv, model.nv))
        result["mass matrix"] = max(result.get("mass matrix", 0.0), difference(mine, m))


def compare_parameters(model, ours, result):
    result["gravity"] = difference(ours["gravity"], model.opt.gravity) if model.opt.disableflags == 0 else 0.0
    springs = [np.zeros(model.nv), np.zeros(model.nv)]
    limits = np.tile([-np.inf, np.inf], (model.nq, 1))
    for joint in range(model.njnt):
        if int(model.jnt_type[joint]) in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)):
            dof = model.jnt_dofadr[joint]
            springs[0][dof] = np.ravel(model.jnt_stiffness[joint])[0]
            springs[1][dof] = model.qpos_spring[model.jnt_qposadr[joint]]
            if model.jnt_limited[joint]:
                limits[model.jnt_qposadr[joint]] = model.jnt_range[joint]
    damping = np.reshape(model.dof_damping, (model.nv, -1))[:, 0] if model.nv else np.zeros(0)
    peer = np.stack([model.dof_armature, damping, model.dof_frictionloss, *springs], axis=1)
    mine = np.array(ours["dofs"], float).reshape(model.nv, 5)
    for name, k in [("armature", 0), ("damping", 1), ("friction", 2), ("stiffness", 3), ("spring reference", 4)]:
        result[name] = difference(mine[:, k], peer[:, k])
    mine = np.array([[-np.inf if a is None else a, np.inf if b is None else b] for a, b in ours["limits"]])
    if not model.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_LIMIT):
        result["limits"] = difference(mine.reshape(-1, 2), limits)


def compare_actuators(model, ours, result):
    tendons = model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON
    kept = [k for k in range(model.nu) if not tendons[k]]
    if len(kept) != ours["nu"]:
        result["nu"] = float("inf")
        return
    for index, k in enumerate(kept):
        it = ours["actuators"][index]
        affine = model.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_AFFINE
        bias = model.actuator_biasprm[k][:3] if affine else np.zeros(3)
        pairs = [(it["gain"], model.actuator_gainprm[k][0]), (it["bias"], bias)]
        if model.actuator_ctrllimited[k]:
            pairs.append((it["control_range"], model.actuator_ctrlrange[k]))
        if model.actuator_forcelimited[k]:
            pairs.append((it["force_range"], model.actuator_forcerange[k]))
        for mine, peer in pairs:
            result["actuators"] = max(result.get("actuators", 0.0), difference(mine, peer))


def expected_pairs(model):
    """The pairs that MuJoCo's filters let through, with friction."""
    def weld_parent(body):
        return model.body_weldid[model.body_parentid[model.body_weldid[body]]]

    excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    found = {}
    for a in range(model.ngeom):
        for b in range(a + 1, model.ngeom):
            body_a, body_b = model.geom_bodyid[a], model.geom_bodyid[b]
            weld_a, weld_b = model.body_weldid[body_a], model.body_weldid[body_b]
            meets = (model.geom_contype[a] & model.geom_conaffinity[b]) or (
                model.geom_contype[b] & model.geom_conaffinity[a])
            related = weld_a and weld_b and (weld_parent(body_a) == weld_b or weld_parent(body_b) == weld_a)
            pair = (min(body_a, body_b), max(body_a, body_b))
            if weld_a == weld_b or not meets or related or pair in excluded:
                continue
            if int(model.geom_type[a]) == int(model.geom_type[b]) == int(mujoco.mjtGeom.mjGEOM_PLANE):
                continue
            if int(mujoco.mjtGeom.mjGEOM_HFIELD) in (int(model.geom_type[a]), int(model.geom_type[b])):
                continue
            if model.geom_priority[a] == model.geom_priority[b]:
                friction = max(model.geom_friction[a][0], model.geom_friction[b][0])
                dimensions = max(model.geom_condim[a], model.geom_condim[b])
            else:
                chosen = a if model.geom_priority[a] > model.geom_priority[b] else b
                friction, dimensions = model.geom_friction[chosen][0], model.geom_condim[chosen]
            found[(a, b)] = 0.0 if dimensions == 1 else friction
    for k in range(model.npair):
        both = tuple(sorted((int(model.pair_geom1[k]), int(model.pair_geom2[k]))))
        found[both] = 0.0 if model.pair_dim[k] == 1 else model.pair_friction[k][0]
    return found


def compare_pairs(model, ours, result):
    if model.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        result["pairs"] = float(len(ours["pairs"]))
        return

    def name(geom):
        return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or ""

    peer = sorted((*sorted((name(a), name(b))), friction) for (a, b), friction in expected_pairs(model).items())
    mine = sorted((*sorted(pair[:2]), pair[2]) for pair in ours["pairs"])
    same = len(peer) == len(mine) and all(p[:2] == m[:2] and abs(p[2] - m[2]) < 1e-12 for p, m in zip(peer, mine))
    result["pairs"] = 0.0 if same else float("inf")


def compare_keyframes(model, ours, result):
    starts = quaternion_starts(model)
    peer = [from_mujoco(model.key_qpos[k], starts) for k in range(model.nkey)]
    peer = [q for k, q in enumerate(peer) if k < len(ours["keyframes"]) - 1]
    peer.append(from_mujoco(model.qpos0, starts))
    data = mujoco.MjData(model)
    for k, (key, q) in enumerate(zip(ours["keyframes"], peer)):
        result["keyframes"] = max(result.get("keyframes", 0.0), difference(key["q"], q))
        if k < len(ours["keyframes"]) - 1:
            data.qpos[:] = model.key_qpos[k]
            mujoco.mj_kinematics(model, data)
            qvel = velocity_map(model, data) @ np.array(key["v"], float)
            result["keyframe velocities"] = max(result.get("keyframe velocities", 0.0),
                                                difference(qvel, model.key_qvel[k]))


def compare(path, evaluate):
    output = subprocess.run([evaluate, path], capture_output=True, text=True)
    if output.returncode != 0:
        return {"file": path, "disagree": "the program failed: " + output.stderr[-300:]}
    ours = json.loads(output.stdout)
    if "refused" in ours:
        return {"file": path, "refused": ours["refused"]}
    model = mujoco.MjModel.from_xml_path(path)
    if (ours["nq"], ours["nv"]) != (model.nq, model.nv):
        return {"file": path, "disagree": f"nq, nv = {ours['nq']}, {ours['nv']}; MuJoCo {model.nq}, {model.nv}"}
    result = {}
    compare_states(model, mujoco.MjData(model), ours, result)
    compare_parameters(model, ours, result)
    compare_actuators(model, ours, result)
    compare_pairs(model, ours, result)
    compare_keyframes(model, ours, result)
    wrong = {name: value for name, value in result.items() if not value <= TOLERANCE}
    report = {"file": path, "worst": max(result.values(), default=0.0), "warnings": ours["warnings"]}
    return report | ({"disagree": wrong} if wrong else {})


def state_figures(model, data, q):
    """Centre of mass and mass matrix at a configuration of saltus, in its coordinates."""
    bodies = moving(model)
    data.qpos[:] = to_mujoco(q, quaternion_starts(model))
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    x = velocity_map(model, data)
    m = x.T @ dense_mass_matrix(model, data) @ x
    mass = float(model.body_mass[bodies].sum())
    com = (model.body_mass[bodies] @ data.xipos[bodies] / mass).tolist() if bodies else None
    return {"mass": mass, "com": com, "mass_matrix": m.ravel().tolist()}


def figures(path, evaluate):
    """MuJoCo's figures at the configurations that saltus draws, for a test to keep."""
    ours = json.loads(subprocess.run([evaluate, path], capture_output=True, text=True, check=True).stdout)
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    states = [{"q": state["q"]} | state_figures(model, data, state["q"]) for state in ours["states"]]
    by = f"MuJoCo {mujoco.__version__}, by tools/peers/mjcf.py --figures"
    return {"figures": by, "mass": states[0]["mass"], "states": states}


def closure_figures(path):
    """World placements, at qpos0, of the two frames that each active connect or weld between two moving parts holds."""
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    closures = []
    for k in range(model.neq):
        point, weld = (model.eq_type[k] == kind for kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD))
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        sites = model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE
        bodies = [int(model.site_bodyid[end]) for end in ends] if sites else ends
        as_one = model.body_weldid[bodies[0]] == model.body_weldid[bodies[1]]
        if not model.eq_active0[k] or not (point or weld) or as_one:
            continue
        numbers = model.eq_data[k]
        positions, axes = (data.site_xpos, data.site_xmat) if sites else (data.xpos, data.xmat)
        rotations = [axes[end].reshape(3, 3).copy() for end in ends]
        positions = [positions[end].copy() for end in ends]
        if not sites:
            anchors = [numbers[0:3], numbers[3:6]] if point else [numbers[3:6], numbers[0:3]]
            positions = [p + r @ anchor for p, r, anchor in zip(positions, rotations, anchors)]
        if weld and not sites:
            relative = np.zeros(9)
            mujoco.mju_quat2Mat(relative, numbers[6:10])
            rotations[0] = rotations[0] @ relative.reshape(3, 3)
        closure = {"rows": 3 if point else 6, "positions": np.ravel(positions).tolist()}
        closures.append(closure | ({"rotations": np.ravel(rotations).tolist()} if weld else {}))
    return {"figures": f"MuJoCo {mujoco.__version__}, by tools/peers/mjcf.py --closures", "closures": closures}


def random_configuration(model, rng):
    """In saltus's coordinates: any number will do for a joint, and any unit quaternion."""
    q = rng.uniform(-1.0, 1.0, model.nq)
    for at in quaternion_starts(model):
        q[at : at + 4] = rng.normal(size=4)
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q


def dump_case(path, states=3):
    """MuJoCo's side of one file. Joints have MuJoCo's order, which is that of the model."""
    case = {"file": "/".join(path.split(os.sep)[-2:]), "path": path, "format": "mjcf", "free_flyer": False}
    case["same_order"] = True
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return case | {"error": str(error)}
    data = mujoco.MjData(model)
    rng = np.random.default_rng(zlib.crc32(case["file"].encode()))
    ends = [*model.jnt_qposadr[1:].tolist(), model.nq], [*model.jnt_dofadr[1:].tolist(), model.nv]
    spans = [(f"#{k}", int(model.jnt_qposadr[k]), ends[0][k], int(model.jnt_dofadr[k]), ends[1][k])
             for k in range(model.njnt)]
    case["joints"] = [{"name": name, "first_v": v, "nv": v_end - v} for name, _, _, v, v_end in spans]
    case["states"] = []
    for _ in range(states):
        q = random_configuration(model, rng)
        by_joint = {name: q[start:end].tolist() for name, start, end, _, _ in spans}
        case["states"].append({"q": by_joint} | state_figures(model, data, q))
    return case


def main():
    if sys.argv[1] == "--figures":
        print(json.dumps(figures(sys.argv[3], sys.argv[2])))
        return 0
    if sys.argv[1] == "--closures":
        print(json.dumps(closure_figures(sys.argv[2])))
        return 0
    if sys.argv[1] == "--dump":
        os.makedirs(os.path.dirname(sys.argv[2]) or ".", exist_ok=True)
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            cases = [dump_case(path) for path in suites()]
            json.dump({"versions": {"mujoco": mujoco.__version__}, "cases": cases}, out)
        return 0
    evaluate, *files = sys.argv[1:]
    reports = []
    for path in files or suites():
        try:
            reports.append(compare(path, evaluate))
        except ValueError as error:
            reports.append({"file": path, "refused": f"by MuJoCo: {error}"})
    refused = [{"file": os.path.basename(r["file"]), "reason": r["refused"]} for r in reports if "refused" in r]
    disagree = [{"file": r["file"], "what": r["disagree"]} for r in reports if "disagree" in r]
    loaded = len(reports) - len(refused)
    worst = max((r["worst"] for r in reports if "worst" in r and "disagree" not in r), default=0.0)
    print(json.dumps({"loaded": loaded, "disagree": disagree, "refused": refused, "worst": worst}, indent=1))
    return 1 if disagree else 0


if __name__ == "__main__":
    sys.exit(main())
