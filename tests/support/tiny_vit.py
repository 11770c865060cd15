"""A very small plain Vision Transformer as ONNX, made with the standard library alone.

32 x 32 pixels, patches of 8, width 24, 2 heads, 2 blocks, MLP of 48: written as PyTorch exports one (a convolution, the
class token expanded to the batch, qkv in one product, gelu by Erf). (N, 3, 32, 32) -> (N, 24).
"""
import math
import random
import struct

from tiny_onnx import _bytes, _ints, _node, _number, _value

IMAGE, PATCH, WIDTH, HEADS, BLOCKS, HIDDEN = 32, 8, 24, 2, 2, 48
TOKENS = (IMAGE // PATCH) ** 2 + 1


def _whole(name, value):
    return _bytes(5, _bytes(1, name) + _number(3, value & (2**64 - 1)) + _number(20, 2))


def _real(name, value):
    return _bytes(5, _bytes(1, name) + b"\x15" + struct.pack("<f", value) + _number(20, 1))


class _Graph:
    def __init__(self, seed):
        self.draw, self.nodes, self.constants, self.count = random.Random(seed), b"", b"", 0

    def node(self, op, inputs, attributes=b""):
        self.count += 1
        name = f"{op.lower()}_{self.count}"
        self.nodes += _node(op, inputs, name, attributes)
        return name

    def tensor(self, dims, values, kind):
        self.count += 1
        name = f"constant_{self.count}"
        raw = struct.pack(f"<{len(values)}{'f' if kind == 1 else 'q'}", *values)
        self.constants += _bytes(5, b"".join(_number(1, d) for d in dims) + _number(2, kind) + _bytes(8, name) +
                                 _bytes(9, raw))
        return name

    def floats(self, dims, centre=0.0, spread=None):
        count = math.prod(dims)
        spread = 1.0 / math.sqrt(dims[0]) if spread is None else spread
        return self.tensor(dims, [centre + self.draw.uniform(-spread, spread) for _ in range(count)], 1)

    def whole(self, *values, dims=None):
        return self.tensor([len(values)] if dims is None else dims, values, 7)

    def scalar(self, value):
        return self.tensor([], [value], 1)

    def norm(self, x):
        return self.node("LayerNormalization", [x, self.floats([WIDTH], 1.0, 0.1), self.floats([WIDTH], 0.0, 0.1)],
                         _whole("axis", -1) + _real("epsilon", 1e-6))

    def linear(self, x, inputs, outputs):
        product = self.node("MatMul", [x, self.floats([inputs, outputs])])
        return self.node("Add", [self.floats([outputs], 0.0, 0.05), product])

    def attention(self, x):
        head = WIDTH // HEADS
        qkv = self.node("Reshape", [self.linear(x, WIDTH, 3 * WIDTH), self.whole(0, TOKENS, 3, HEADS, head)])
        qkv = self.node("Transpose", [qkv], _ints("perm", [2, 0, 3, 1, 4]))
        q, k, v = (self.node("Gather", [qkv, self.whole(i, dims=[])], _whole("axis", 0)) for i in range(3))
        k = self.node("Transpose", [k], _ints("perm", [0, 1, 3, 2]))
        scores = self.node("Mul", [self.node("MatMul", [q, k]), self.scalar(1 / math.sqrt(head))])
        weights = self.node("Softmax", [scores], _whole("axis", -1))
        mixed = self.node("Transpose", [self.node("MatMul", [weights, v])], _ints("perm", [0, 2, 1, 3]))
        return self.linear(self.node("Reshape", [mixed, self.whole(0, TOKENS, WIDTH)]), WIDTH, WIDTH)

    def gelu(self, x):
        erf = self.node("Erf", [self.node("Div", [x, self.scalar(math.sqrt(2))])])
        product = self.node("Mul", [x, self.node("Add", [erf, self.scalar(1.0)])])
        return self.node("Mul", [product, self.scalar(0.5)])


def tiny_vit(seed=1):
    """The bytes of a model; another seed is another backbone."""
    g = _Graph(seed)
    patches = g.node("Conv", ["x", g.floats([WIDTH, 3, PATCH, PATCH], 0.0, 0.1), g.floats([WIDTH], 0.0, 0.05)],
                     _ints("kernel_shape", [PATCH, PATCH]) + _ints("strides", [PATCH, PATCH]))
    patches = g.node("Reshape", [patches, g.whole(0, WIDTH, TOKENS - 1)])
    patches = g.node("Transpose", [patches], _ints("perm", [0, 2, 1]))
    batch = g.node("Gather", [g.node("Shape", ["x"]), g.whole(0)], _whole("axis", 0))
    shape = g.node("Concat", [batch, g.whole(1, WIDTH)], _whole("axis", 0))
    first = g.node("Expand", [g.floats([1, 1, WIDTH], 0.0, 0.2), shape])
    x = g.node("Concat", [first, patches], _whole("axis", 1))
    x = g.node("Add", [x, g.floats([1, TOKENS, WIDTH], 0.0, 0.2)])
    for _ in range(BLOCKS):
        x = g.node("Add", [x, g.attention(g.norm(x))])
        hidden = g.gelu(g.linear(g.norm(x), WIDTH, HIDDEN))
        x = g.node("Add", [x, g.linear(hidden, HIDDEN, WIDTH)])
    x, first = g.norm(x), g.whole(0, dims=[])
    g.nodes += _node("Gather", [x, first], "features", _whole("axis", 1))
    graph = (g.nodes + _bytes(2, "tiny_vit") + g.constants + _value(11, "x", ["N", 3, IMAGE, IMAGE]) +
             _value(12, "features", ["N", WIDTH]))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 17))
