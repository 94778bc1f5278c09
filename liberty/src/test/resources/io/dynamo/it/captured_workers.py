"""Workers on Dynamo's own runtime that play the scripts of the captured requests: captured_workers.py <folder for models>.

A prompt holds its script between `@@` and `@@`, as JSON: `say` is answered one token per item; `items` are the worker's
items, of which `t` is a text, `b` are bytes, `sleep` is waited for in milliseconds and other keys are sent as they are;
`raise` is raised before the item `after`, with a status (`code`) or as an exception of Dynamo (`type`). What a worker got is
printed as `RECEIVED <JSON>`, prompts of more than 8 ids as text; a request that is cancelled as `CANCELLED <model> <kind>`.

The tokenizer has the ids that the captures show; all others are bytes.
"""

import asyncio
import base64
import builtins
import json
import re
import struct
import sys
from pathlib import Path

from dynamo.llm import HttpError, ModelInput, ModelRuntimeConfig, ModelType, WorkerType, exceptions, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker
from tokenizers import Tokenizer

SCRIPT = re.compile(r"@@(\{.*?\})@@", re.DOTALL)
SPECIALS = ["<|pad|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|unknown|>"]
# Tokens of the captures by id; `_` stands for a space.
SEEN = {282: "he", 309: '_"', 321: "lo", 323: "_b", 355: "th", 475: "ab", 533: '":', 1556: "word", 1900: "ay"}
SEEN |= {2431: "hi", 2607: "_there", 2745: '"}', 3016: "user", 3085: "assistant", 3161: "ink", 3222: '{"'}
SEEN |= {2618: "ESP", 5846: "world", 5900: "</"}
# Tokens whose ids nobody saw, only their texts.
SEEN |= {3500 + i: text for i, text in enumerate(["el", "one", "_two", "_three", "_four", "_five", "_six", "alpha", "_t", "_e"])}
TOOLS = """{% if tools %}<|im_start|>system
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}"""
TURNS = """{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}"""
CHAT = TOOLS + TURNS + """{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is false %}<think>

</think>

{% endif %}{% endif %}"""
VECTOR = [0.1, 0.2, 0.3, 0.4]


def byte_letters():
    """The letter of each byte in byte-level vocabularies."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + byte - sum(1 for each in shown if each < byte))
    return letters, shown + [byte for byte in range(256) if byte not in shown]


def vocabulary():
    letters, order = byte_letters()
    vocab = {text: i for i, text in enumerate(SPECIALS)}
    vocab |= {letters[byte]: len(SPECIALS) + i for i, byte in enumerate(order)}
    wanted = {i: text.replace("_", letters[32]) for i, text in SEEN.items()}
    merges, spare = [], 4000
    # A token that begins a word is merged before those within words, and a long one before a short one.
    for i, text in sorted(wanted.items(), key=lambda each: (each[1][0] != letters[32], -len(each[1]), each[0])):
        for end in range(2, len(text) + 1):
            piece = text[:end]
            if piece not in vocab:
                known = next((j for j, each in wanted.items() if each == piece), None)
                spare += known is None
                vocab[piece] = spare if known is None else known
                merges.append([piece[:-1], piece[-1]])
    taken = set(vocab.values())
    vocab |= {f"<unused {i}>": i for i in range(max(taken)) if i not in taken}
    return vocab, merges


def write_model(folder, context):
    folder.mkdir(parents=True)
    vocab, merges = vocabulary()
    added = [
        {"id": i, "content": text, "special": True}
        | dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized"], False)
        for i, text in enumerate(SPECIALS)
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": False},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "max_position_embeddings": context}
    config |= {"eos_token_id": 3, "bos_token_id": 1, "vocab_size": len(vocab)}
    (folder / "config.json").write_text(json.dumps(config))
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": SPECIALS[3], "bos_token": SPECIALS[1]}
    (folder / "tokenizer_config.json").write_text(json.dumps(named | {"chat_template": CHAT}))
    return folder


class Player:
    """Plays the scripts of one model's requests."""

    def __init__(self, name, folder):
        self.name = name
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        letters, order = byte_letters()
        self.bytes = {byte: len(SPECIALS) + i for i, byte in enumerate(order)}

    def text(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def show(self, request, context):
        shown = {key: value for key, value in request.items() if value is not None}
        for group in ["stop_conditions", "sampling_options", "output_options"]:
            if group in shown:
                shown[group] = {key: value for key, value in shown[group].items() if value is not None}
        ids = shown.get("token_ids", [])
        if len(ids) > 8 and isinstance(ids[0], int):
            del shown["token_ids"]
            shown |= {"(prompt_text)": self.text(ids), "(token_count)": len(ids)}
        metadata = getattr(context, "metadata", None)
        if metadata:
            shown["(metadata)"] = dict(metadata)
        print("RECEIVED " + json.dumps(shown), flush=True)

    def items(self, script):
        if "say" in script:
            ids = self.tokenizer.encode(script["say"], add_special_tokens=False).ids
            items = [{"token_ids": [i]} for i in ids]
            if items:
                items[-1]["finish_reason"] = "stop"
            return items
        return script.get("items", [])

    def item(self, given):
        item = {key: value for key, value in given.items() if key not in ("t", "b", "sleep")}
        if "t" in given:
            item["token_ids"] = self.tokenizer.encode(given["t"], add_special_tokens=False).ids
        if "b" in given:
            item["token_ids"] = [self.bytes[byte] for byte in given["b"]]
        return item

    def with_logprobs(self, item, request):
        count = (request.get("output_options") or {}).get("logprobs")
        if count is None:
            return item
        top = [
            [{"rank": k + 1, "token_id": i + 11 * k, "token": None, "logprob": -0.25 - k} for k in range(max(1, count))]
            for i in item["token_ids"]
        ]
        return item | {"log_probs": [-0.25] * len(item["token_ids"]), "top_logprobs": top}

    async def generate(self, request, context):
        self.show(request, context)
        found = SCRIPT.findall(self.text(request["token_ids"]))
        script = json.loads(found[-1]) if found else {"say": "Hello from the scripted worker."}
        items = self.items(script)
        failing = script.get("after", 0) if "raise" in script else None
        left = request["stop_conditions"].get("max_tokens")
        for i, given in enumerate(items):
            if i == failing:
                raise failure(script["raise"])
            if "sleep" in given:
                await asyncio.sleep(given["sleep"] / 1000)
            if context.is_stopped():
                print(f"CANCELLED {self.name} {'killed' if context.is_killed() else 'stopped'}", flush=True)
                return
            item = self.item(given)
            if left is not None and "token_ids" in item and "say" in script:
                left -= 1
                if not left and i < len(items) - 1:
                    yield item | {"finish_reason": "length"}
                    return
            yield self.with_logprobs(item, request)
        if failing is not None and failing >= len(items):
            raise failure(script["raise"])

    async def embed(self, request, context):
        self.show(request, context)
        if not request["token_ids"]:
            raise RuntimeError("no input")
        numbers = VECTOR[: request.get("dimensions") or None]
        vector = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        count = sum(len(ids) for ids in request["token_ids"])
        yield {"embeddings": [vector] * len(request["token_ids"]), "prompt_tokens": count, "total_tokens": count}


def failure(wanted):
    message = wanted.get("message", "")
    if "code" in wanted:
        return HttpError(wanted["code"], message)
    kind = getattr(exceptions, wanted["type"], None) or getattr(builtins, wanted["type"])
    return kind(message)


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    folder = Path(sys.argv[1])
    texts = ModelType.Chat | ModelType.Completions
    models = [
        ("script", texts, 131072, None, None, []),
        ("org/aliased", texts, 131072, None, None, ["ali-1", "x/ready"]),
        ("budget", texts, 256, None, None, []),
        ("hermes", texts, 131072, "hermes", None, []),
        ("r1", texts, 131072, "hermes", "deepseek_r1", []),
        ("qwen3", texts, 131072, "hermes", "qwen3", []),
        ("chatonly", ModelType.Chat, 131072, None, None, []),
        ("emb", ModelType.Embedding, 131072, None, None, []),
    ]
    serving = []
    for name, kind, context, tools, reasoning, aliases in models:
        slug = name.replace("/", "")
        model = write_model(folder / slug, context)
        player = Player(name, model)
        endpoint = runtime.endpoint(f"dynamo.{slug}.generate")
        handler = player.embed if name == "emb" else player.generate
        serving.append(asyncio.ensure_future(endpoint.serve_endpoint(handler)))
        config = ModelRuntimeConfig()
        config.tool_call_parser = tools
        config.reasoning_parser = reasoning
        if name == "budget":
            budget = {"combined_limit": context, "reject_prompt_overflow": True, "reject_total_overflow": True}
            config.set_engine_specific("token_budget", json.dumps(budget))
        await register_model(
            ModelInput.Tokens,
            kind,
            endpoint,
            str(model),
            name,
            worker_type=WorkerType.Aggregated,
            kv_cache_block_size=16,
            runtime_config=config,
            model_aliases=aliases or None,
        )
    await asyncio.gather(*serving)


asyncio.run(main())
