"""Embeddings of a Llama model in NumPy, in double precision.  usage: embeddings_of.py MODEL_DIRECTORY GOLDEN_JSON > embeddings.json

Written from the architecture's equations, without any of the project's code: the reference for the states after the
final norm, pooled and not scaled. Each prompt of the golden file is checked first: the likeliest next token must be
PyTorch's. `embeddings.json` beside `golden.json` is what it printed for the model that ships along.
"""

import json
import struct
import sys

import numpy as np

CASES = ("capital", "repeat-word", "count", "tool-call")


def tensors(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kinds = {"F16": np.float16, "F32": np.float32}
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], kinds[entry["dtype"]])
        .reshape(entry["shape"])
        .astype(np.float64)
        for name, entry in head.items()
        if name != "__metadata__"
    }


def norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rotated(x, theta):
    half = x.shape[-1] // 2
    angle = np.outer(np.arange(x.shape[0]), theta ** (-np.arange(half) / half))[:, None, :]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


def states(weights, config, ids):
    heads, groups, dims = (config[k] for k in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    epsilon, theta, length = config["rms_norm_eps"], config["rope_theta"], len(ids)
    x = weights["model.embed_tokens.weight"][ids]
    future = np.triu(np.full((length, length), -np.inf), 1)
    for layer in range(config["num_hidden_layers"]):
        w = {k.split(".", 3)[3]: v for k, v in weights.items() if k.startswith(f"model.layers.{layer}.")}
        y = norm(x, w["input_layernorm.weight"], epsilon)
        q = rotated((y @ w["self_attn.q_proj.weight"].T).reshape(length, heads, dims), theta)
        k = rotated((y @ w["self_attn.k_proj.weight"].T).reshape(length, groups, dims), theta)
        v = (y @ w["self_attn.v_proj.weight"].T).reshape(length, groups, dims)
        out = np.empty((length, heads, dims))
        for head in range(heads):
            group = head * groups // heads
            scores = q[:, head] @ k[:, group].T / np.sqrt(dims) + future
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ v[:, group]
        x = x + out.reshape(length, -1) @ w["self_attn.o_proj.weight"].T
        y = norm(x, w["post_attention_layernorm.weight"], epsilon)
        gate = y @ w["mlp.gate_proj.weight"].T
        x = x + gate / (1 + np.exp(-gate)) * (y @ w["mlp.up_proj.weight"].T) @ w["mlp.down_proj.weight"].T
    return norm(x, weights["model.norm.weight"], epsilon)


def main(directory, golden):
    weights = tensors(directory + "/model.safetensors")
    config = json.load(open(directory + "/config.json"))
    cases = []
    for case in json.load(open(golden)):
        found = states(weights, config, case["prompt_ids"])
        assert int(np.argmax(weights["model.embed_tokens.weight"] @ found[-1])) == case["output_ids"][0], case["name"]
        if case["name"] in CASES:
            shown = {name: [float(f"{n:.7g}") for n in v] for name, v in (("last", found[-1]), ("mean", found.mean(0)))}
            cases.append({"name": case["name"], "prompt_ids": case["prompt_ids"], **shown})
    print("{\"cases\":[" + ",\n".join(json.dumps(case) for case in cases) + "]}")


main(*sys.argv[1:])
