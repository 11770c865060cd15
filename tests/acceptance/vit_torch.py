"""A plain Vision Transformer with the three methods of Phase 1 in PyTorch, written from the papers: the yardstick for
gradients, steps and time of `engram adapt`. Names of parameters are those of engine/adapt_parameters.h.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F


def random_weights(image=28, patch=7, width=48, heads=3, blocks=3, hidden=96, seed=1):
    """A small ViT with LayerScale whose every part matters: what a check that runs anywhere needs."""
    g = torch.Generator().manual_seed(seed)
    normal = lambda *size, scale=1.0: scale * torch.randn(*size, generator=g)
    tokens = (image // patch) ** 2 + 1
    linear = lambda out, into: (normal(out, into, scale=into ** -0.5), normal(out, scale=0.1))
    norm = lambda: (1 + normal(width, scale=0.1), normal(width, scale=0.1))
    w = {"patch": linear(width, 3 * patch * patch), "cls": normal(1, width), "positions": normal(tokens, width),
         "norm": norm(), "blocks": [
             {"norm1": norm(), "qkv": linear(3 * width, width), "proj": linear(width, width), "scale1": 0.5 + normal(width, scale=0.1),
              "norm2": norm(), "fc1": linear(hidden, width), "fc2": linear(width, hidden), "scale2": 0.5 + normal(width, scale=0.1)}
             for _ in range(blocks)]}
    return {"image": image, "patch": patch, "width": width, "heads": heads, "epsilon": 1e-6, "weights": w}


class Vit(torch.nn.Module):
    """Frozen weights, and the parameters of a method: {name: tensor}; dropout is off."""

    def __init__(self, model, method=None, parameters=None, branch_scale=0.1):
        super().__init__()
        self.model, self.method, self.branch_scale = model, method, branch_scale
        self.parameters_of_method = parameters or {}

    def adjusted(self, name, y):  # SSF
        if self.method != "ssf":
            return y
        return y * self.parameters_of_method[name + ".scale"] + self.parameters_of_method[name + ".shift"]

    def norm(self, name, x, weights):
        return self.adjusted(name, F.layer_norm(x, (self.model["width"],), *weights, eps=self.model["epsilon"]))

    def attention(self, name, x, block):
        pictures, tokens, width = x.shape
        heads = self.model["heads"]
        qkv = self.adjusted(name + ".qkv", F.linear(x, *block["qkv"]))
        q, k, v = qkv.reshape(pictures, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        shares = ((q * (width // heads) ** -0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        x = (shares @ v).transpose(1, 2).reshape(pictures, tokens, width)
        return self.adjusted(name + ".proj", F.linear(x, *block["proj"]))

    def block(self, name, x, block):
        p, tokens = self.parameters_of_method, x.shape[1]
        if self.method == "vpt":
            x = torch.cat([x, p[name + ".prompts"].expand(x.shape[0], -1, -1)], dim=1)
        x = x + block["scale1"] * self.attention(name, self.norm(name + ".norm1", x, block["norm1"]), block)
        hidden = F.gelu(self.adjusted(name + ".fc1", F.linear(self.norm(name + ".norm2", x, block["norm2"]), *block["fc1"])))
        out = x + block["scale2"] * self.adjusted(name + ".fc2", F.linear(hidden, *block["fc2"]))
        if self.method == "adaptformer":
            down = F.relu(F.linear(x, p[name + ".down.weight"], p[name + ".down.bias"].flatten()))
            out = out + self.branch_scale * F.linear(down, p[name + ".up.weight"], p[name + ".up.bias"].flatten())
        return out[:, :tokens]

    def forward(self, pictures):
        w, patch = self.model["weights"], self.model["patch"]
        weight, bias = w["patch"]
        x = F.conv2d(pictures, weight.reshape(-1, 3, patch, patch), bias, stride=patch).flatten(2).transpose(1, 2)
        x = self.adjusted("patch", x)
        x = torch.cat([w["cls"].expand(x.shape[0], -1, -1), x], dim=1) + w["positions"]
        for i, block in enumerate(w["blocks"]):
            x = self.block(f"blocks.{i}", x, block)
        return self.norm("norm", x, w["norm"])[:, 0]


def loss_of(vit, pictures, labels):
    p = vit.parameters_of_method
    cosines = F.linear(F.normalize(vit(pictures)), F.normalize(p["head.weight"]))
    return F.cross_entropy(p["head.sigma"] * cosines, labels)


def train(vit, epochs, rate=0.01, momentum=0.9, decay=5e-4):
    """Yields the mean loss of each epoch. epochs: a list of batches (pictures, labels) each."""
    parameters = list(vit.parameters_of_method.values())
    sgd = torch.optim.SGD(parameters, lr=rate, momentum=momentum, weight_decay=decay)
    for epoch, batches in enumerate(epochs):
        for group in sgd.param_groups:
            group["lr"] = rate * (1 + math.cos(math.pi * epoch / len(epochs))) / 2
        losses = []
        for pictures, labels in batches:
            sgd.zero_grad()
            loss = loss_of(vit, pictures, labels)
            loss.backward()
            sgd.step()
            losses.append(loss.item() * len(labels))
        yield sum(losses) / sum(len(labels) for _, labels in batches)


def from_onnx(path):
    """The DINOv2 encoder of `engram model add dinov2-vits14`, by the names its exporter gave. Needs onnx."""
    import onnx
    from onnx import numpy_helper
    graph = onnx.load(path).graph
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            values[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        if node.op_type == "Cast" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]]
    tensor = lambda name: torch.from_numpy(np.array(values[name], np.float32))
    matrices = [n.input[1] for n in graph.node
                if n.op_type in ("Gemm", "MatMul") and n.input[1] in values and values[n.input[1]].ndim == 2]
    positions = next(torch.from_numpy(np.array(v, np.float32)) for v in values.values() if v.ndim == 3 and v.shape[1] > 1)
    prefix = next(n for n in values if n.endswith("cls_token"))[:-len("cls_token")]
    pair = lambda name: (tensor(f"{prefix}{name}.weight"), tensor(f"{prefix}{name}.bias"))
    blocks = []
    for i in range(len(matrices) // 4):
        of = f"{prefix}blocks.{i}."
        linear = lambda j, name: (tensor(matrices[4 * i + j]).T.contiguous(), tensor(f"{of}{name}.bias"))
        blocks.append({"norm1": pair(f"blocks.{i}.norm1"), "qkv": linear(0, "attn.qkv"), "proj": linear(1, "attn.proj"),
                       "scale1": tensor(of + "ls1.gamma"), "norm2": pair(f"blocks.{i}.norm2"), "fc1": linear(2, "mlp.fc1"),
                       "fc2": linear(3, "mlp.fc2"), "scale2": tensor(of + "ls2.gamma")})
    patch, width = pair("patch_embed.proj"), positions.shape[2]
    size = patch[0].shape[-1]
    side = int(math.isqrt(positions.shape[1] - 1))
    return {"image": side * size, "patch": size, "width": width, "heads": width // 64, "epsilon": 1e-6,
            "weights": {"patch": (patch[0].flatten(1), patch[1]), "cls": tensor(prefix + "cls_token").reshape(1, width),
                        "positions": positions[0], "norm": pair("norm"), "blocks": blocks}}
