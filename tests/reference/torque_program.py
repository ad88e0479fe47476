"""Optima of direct damping's linear programs by an independent solver (HiGHS, through scipy).

    python3 tests/reference/torque_program.py > tests/reference/torque_program.json      (needs numpy, scipy; seconds)

Impulses p_i at places x_i, sum zero. minimise sum |c_i|_1 subject to sum c_i = 0 and sum x_i x (p_i + c_i) = 0
(Optimized paper, Eq. 12 to 14). tests/damping/direct_program.rs compares the optima, which are unique where solutions are not.
"""
import json
import numpy as np
from scipy.optimize import linprog

SKEW = lambda a: np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def case(rng, n, scale, origin):
    x = np.round(rng.uniform(-1, 1, (n, 3)) * scale + origin, 6)
    p = np.round(rng.normal(size=(n, 3)), 6)
    p[0] = np.round(p[0] - p.sum(axis=0), 6)
    arms = x - x.mean(axis=0)
    a = np.hstack([np.vstack([np.eye(3), SKEW(r)]) for r in arms])
    b = np.concatenate([np.zeros(3), -sum(np.cross(r, q) for r, q in zip(arms, p))])
    kept = np.linalg.svd(a)[1] > 1e-9  # a body in a plane or on a line leaves equations that say nothing
    u = np.linalg.svd(a)[0][:, kept]
    # scipy's tolerance is 1e-7 of the right-hand side: bring it to one
    size = max(np.abs(b).max(), 1e-300)
    solved = linprog(np.ones(6 * n), A_eq=np.hstack([u.T @ a, -u.T @ a]), b_eq=u.T @ b / size, bounds=(0, None),
                     method="highs-ds", options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
    assert solved.status == 0, solved.message
    return {"x": x.tolist(), "p": p.tolist(), "optimum": solved.fun * size}


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    shapes = [(4, [1, 1, 1])] * 8 + [(3, [1, 1, 1]), (2, [1, 1, 1]), (6, [1, 1, 0]), (6, [1, 0, 0]), (8, [1, 0.1, 0.01])]
    shapes += [(8, [1, 1, 1])] * 3 + [(20, [1, 1, 1])] * 3 + [(20, [1, 1, 1e-3]), (60, [1, 1, 1]), (60, [1, 0.2, 0.1])]
    cases = [case(rng, n, np.array(scale, float), rng.uniform(-2, 2, 3)) for n, scale in shapes]
    print(json.dumps(cases))
