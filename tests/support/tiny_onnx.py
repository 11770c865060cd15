"""A very small ONNX network and PNG pictures, made with the standard library alone.

The network: 8x8 convolution to 64 channels with fixed pseudo-random weights, ReLU, global average: (N, 3, 64, 64) ->
(N, 64). It tells colours and coarse patterns apart, which is all that tests of the program need.
"""
import random
import struct
import zlib

SIZE = 64


def _varint(value):
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _ints(name, values):
    return _bytes(5, _bytes(1, name) + b"".join(_number(8, v) for v in values) + _number(20, 7))


def _node(op, inputs, output, attributes=b""):
    return _bytes(1, b"".join(_bytes(1, i) for i in inputs) + _bytes(2, output) + _bytes(3, output) + _bytes(4, op) + attributes)


def _value(field, name, dims):
    shape = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _number(1, d)) for d in dims)
    return _bytes(field, _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, shape))))


def tiny_onnx(seed=1, channels=64, relative=False):
    """The bytes of a model; another seed is another backbone. relative: to the picture's brightness, NaN if it is black."""
    draw = random.Random(seed)
    weights = struct.pack(f"<{channels * 192}f", *(draw.uniform(-0.1, 0.1) for _ in range(channels * 192)))
    tensor = b"".join(_number(1, d) for d in (channels, 3, 8, 8)) + _number(2, 1) + _bytes(8, "w") + _bytes(9, weights)
    graph = (_node("Conv", ["x", "w"], "c", _ints("kernel_shape", [8, 8]) + _ints("strides", [8, 8])) +
             _node("Relu", ["c"], "r") + _node("GlobalAveragePool", ["r"], "p") + _node("Flatten", ["p"], "f" if relative else "features") +
             (_node("ReduceMean", ["x"], "b", _ints("axes", [1, 2, 3])) + _node("Flatten", ["b"], "m") +
              _node("Div", ["f", "m"], "features") if relative else b"") +
             _bytes(2, "tiny") + _bytes(5, tensor) + _value(11, "x", ["N", 3, SIZE, SIZE]) +
             _value(12, "features", ["N", channels]))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))


def png(width, height, pixel):
    """The bytes of an RGB PNG; pixel(x, y) gives (r, g, b)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


COLOURS = {"red": (200, 40, 40), "green": (40, 190, 60), "blue": (50, 60, 210), "yellow": (210, 200, 40)}


def colour_picture(colour, number):
    """A picture of one colour with noise and a bright spot; `number` chooses which."""
    draw = random.Random(f"{colour} {number}")
    base = COLOURS[colour]
    left, top = draw.randrange(48), draw.randrange(32)

    def pixel(x, y):
        spot = 40 if left <= x < left + 16 and top <= y < top + 16 else 0
        return tuple(max(0, min(255, v + spot + draw.randrange(-25, 26))) for v in base)
    return png(72, 64, pixel)
