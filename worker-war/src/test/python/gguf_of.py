"""Writes a Llama model of a Hugging Face directory as a GGUF file.  usage: gguf_of.py DIRECTORY FILE

For models as small as those of tests: one safetensors file of fp16 tensors, a byte-level BPE tokenizer.
"""

import json
import struct
import sys
from pathlib import Path

import numpy

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
TENSOR_F32, TENSOR_F16 = 0, 1
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}[kind], value)


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value_of(kind, value)


def pair_of_many(key, kind, values):
    head = text(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(value_of(kind, value) for value in values)


def tensors_of(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    start = 8 + length
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            assert entry["dtype"] == "F16", name
            begin, end = entry["data_offsets"]
            flat = numpy.frombuffer(data[start + begin : start + end], numpy.float16)
            yield name, flat.reshape(entry["shape"])


def interleaved(weights, heads):
    """Hugging Face rotates halves of a head, GGUF neighbours."""
    rows, columns = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def gguf_name(name):
    if not name.startswith("model.layers."):
        return {
            "model.embed_tokens.weight": "token_embd.weight",
            "model.norm.weight": "output_norm.weight",
            "lm_head.weight": "output.weight",
        }[name]
    layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    short = {
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }[part]
    return f"blk.{layer}.{short}.weight"


def vocabulary_of(tokenizer, size):
    names, kinds = [f"[unused{i}]" for i in range(size)], [CONTROL] * size
    for name, token in tokenizer["model"]["vocab"].items():
        names[token], kinds[token] = name, NORMAL
    for added in tokenizer["added_tokens"]:
        names[added["id"]] = added["content"]
        kinds[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    return names, kinds


def metadata_of(config, generation, tokenizer):
    heads = config["num_attention_heads"]
    head = config.get("head_dim") or config["hidden_size"] // heads
    names, kinds = vocabulary_of(tokenizer, config["vocab_size"])
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    ends = generation.get("eos_token_id", config.get("eos_token_id"))
    rope = config.get("rope_theta") or config.get("rope_parameters", {}).get("rope_theta", 10000.0)
    return [
        pair("general.architecture", STRING, "llama"),
        pair("general.name", STRING, "test"),
        pair("general.file_type", U32, 1),
        pair("llama.context_length", U32, config["max_position_embeddings"]),
        pair("llama.embedding_length", U32, config["hidden_size"]),
        pair("llama.block_count", U32, config["num_hidden_layers"]),
        pair("llama.feed_forward_length", U32, config["intermediate_size"]),
        pair("llama.attention.head_count", U32, heads),
        pair("llama.attention.head_count_kv", U32, config["num_key_value_heads"]),
        pair("llama.attention.key_length", U32, head),
        pair("llama.attention.value_length", U32, head),
        pair("llama.attention.layer_norm_rms_epsilon", F32, config["rms_norm_eps"]),
        pair("llama.rope.dimension_count", U32, head),
        pair("llama.rope.freq_base", F32, rope),
        pair("llama.vocab_size", U32, config["vocab_size"]),
        pair("tokenizer.ggml.model", STRING, "gpt2"),
        pair("tokenizer.ggml.pre", STRING, "qwen2"),
        pair_of_many("tokenizer.ggml.tokens", STRING, names),
        pair_of_many("tokenizer.ggml.token_type", I32, kinds),
        pair_of_many("tokenizer.ggml.merges", STRING, merges),
        pair("tokenizer.ggml.eos_token_id", U32, ends[0] if isinstance(ends, list) else ends),
        pair("tokenizer.ggml.add_bos_token", BOOL, False),
    ]


def padded(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def main(directory, target):
    folder = Path(directory)
    config = json.loads((folder / "config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    pairs = metadata_of(config, generation, tokenizer)
    infos, bodies, offset = [], [], 0
    for name, weights in tensors_of(folder / "model.safetensors"):
        if name.endswith("q_proj.weight"):
            weights = interleaved(weights, config["num_attention_heads"])
        elif name.endswith("k_proj.weight"):
            weights = interleaved(weights, config["num_key_value_heads"])
        kind = TENSOR_F16 if weights.ndim == 2 else TENSOR_F32
        body = numpy.ascontiguousarray(weights if kind == TENSOR_F16 else weights.astype(numpy.float32)).tobytes()
        shape = weights.shape[::-1]
        infos.append(
            text(gguf_name(name))
            + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
            + struct.pack("<IQ", kind, offset)
        )
        bodies.append(padded(body))
        offset += len(bodies[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(pairs)) + b"".join(pairs) + b"".join(infos)
    Path(target).write_bytes(padded(head) + b"".join(bodies))


if __name__ == "__main__":
    main(*sys.argv[1:])
