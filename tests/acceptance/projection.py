"""Engram's random numbers from their published recipe (engine/projection.h, platform/philox.h), in numpy.

Shares no code with Engram: Philox4x32-10 by counter, so that both sides of a comparison judge the same projection
and the same 80:20 splits.
"""
import numpy as np

SIGNS, GAUSSIAN, SPLIT = 0, 1, 2  # the last word of the counter


def philox(counter, key):
    """counter: four uint32 arrays of one shape; returns four uint32 arrays."""
    c = [np.asarray(x, np.uint64) for x in counter]
    low = np.uint64(0xFFFFFFFF)
    k0, k1 = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return c


def weights(kind, features, hidden, seed):
    """W (features, hidden), float32."""
    if kind == "bipolar":
        rows = (features + 31) // 32
        m, k = np.meshgrid(np.arange((hidden + 3) // 4), np.arange(rows))
        words = np.stack(philox((m, k, 0 * m, 0 * m + SIGNS), seed), axis=-1).reshape(rows, -1)[:, :hidden]
        bits = words[:, None, :] >> np.arange(32, dtype=np.uint64)[None, :, None] & np.uint64(1)
        return bits.reshape(-1, hidden)[:features].astype(np.float32) * 2 - 1
    m, l = np.meshgrid(np.arange((hidden + 1) // 2), np.arange(features))
    c = philox((m, l, 0 * m, 0 * m + GAUSSIAN), seed)
    u = (((c[1] << np.uint64(32) | c[0]) >> np.uint64(11)).astype(float) + 1) * 2.0 ** -53
    v = ((c[3] << np.uint64(32) | c[2]) >> np.uint64(11)).astype(float) * 2.0 ** -53
    r = np.sqrt(-2 * np.log(u))
    pairs = np.stack((r * np.cos(2 * np.pi * v), r * np.sin(2 * np.pi * v)), axis=-1)
    return pairs.reshape(features, -1)[:, :hidden].astype(np.float32)


def split_order(count, seed, task):
    """The first int(0.8 count) of this order of 0..count-1 are learned, the rest judges lambda."""
    i = np.arange(count)
    c = philox((i, 0 * i + task, 0 * i, 0 * i + SPLIT), seed)
    draws = (c[1] << np.uint64(32) | c[0]) % (i + 1).astype(np.uint64)
    order = list(range(count))
    for k in range(count - 1, 0, -1):
        j = int(draws[k])
        order[k], order[j] = order[j], order[k]
    return np.array(order)
