"""Trains a small vocabulary of ranks on a text of our own and writes src/test/resources/tokenizers/tiktoken/: `tiktoken.model`,
`tokenizer_config.json`, `config.json`, and in `expected.json` what OpenAI's `tiktoken` makes of a set of texts with the pattern of the
Kimi models. Writes the classes of characters that this pattern asks for, as `tiktoken` has them, to kimi-classes.txt beside the encoder. Needs
the packages `tiktoken` and `tokenizers`; run it from the module's folder."""

import base64
import json
import pathlib
import random

import tiktoken
from tiktoken._educational import bpe_train

from make_tokenizers import TEXTS, WORDS

PATTERN = "|".join([
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
])
TRAINING = r"\p{Han}+| ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+"  # the trainer's engine knows no intersections
CLASSES = {  # a letter and what it stands for
    "H": r"\p{Han}",
    "U": r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]",
    "D": r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]",
    "L": r"\p{L}",
    "N": r"\p{N}",
    "S": r"\s",
}
NAMED = {0: "[BOS]", 1: "[EOS]", 2: "<|im_end|>", 3: "<|im_user|>", 4: "<|im_middle|>", 9: "<think>", 10: "<|tool_calls_section_begin|>"}
PLAIN = {9, 10}  # added, but not special
RESERVED = 256
SIZE = 1500
MORE = [
    "It's JOHN'S and we'LL, I'VE 'd 'ſ don'T X'S x'tx", "HTMLParser parseHTML ABCdefGHI aB Ab AB ab", "ǅungla ǅǅ ʰʰa aʰB Aʰ ʰ",
    "ab" * 40, "A" * 300, "a" * 300, "ЖЖж'd ẞß", "1 12 123 1234 12345 ٣٤٥٦ Ⅷ ½ 〇一二 1〇2", "中文字符，标点。 中 文\n中文abc中文ABC 1中2", "⺀⺀ ⺀中 々〆〇〡 !⺀! 。⺀",
    "가나다 กขค ไทย नि ি́ ́a ́ A ́́B", " \t\n \r\n\r\n  x\n\n\n", "\n\n a", "   a   B   1   !   ", "x   \n  \n   y", "\u00a0\u3000\u2028 \u0085 a",
    "🙂🙂 👩‍👩‍👧 🏳️‍🌈 ❤️ #️⃣", "!!!\n\n??", "a!\r\n\r\n!b", "...'s 's", "<|im_user|>user<|im_middle|>你好<|im_end|>", "<|reserved_token_1600|>x<|reserved_token_9|>",
    "[BOS][EOS]<think>\nso</think>", "<|im_end", "<|im_end|><|im_end|>", "only-whole wholly", "\x01\x7f\u0080", "\U0010ffff\ue000\u0378",
]


def classes(alphabet):
    characters = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    lines = []
    for name, pattern in CLASSES.items():
        finder = tiktoken.Encoding("class", pat_str=pattern, mergeable_ranks=alphabet, special_tokens={})
        found = []
        for at in range(0, len(characters), 4096):
            text = "".join(map(chr, characters[at:at + 4096]))
            found += map(ord, finder.decode(finder.encode_ordinary(text)))
        ranges = []
        for c in found:
            if ranges and ranges[-1][1] == c - 1:
                ranges[-1][1] = c
            else:
                ranges.append([c, c])
        lines.append(" ".join([name] + [f"{first:x}-{last:x}" for first, last in ranges]) + "\n")
    return "".join(lines)


def corpus(rng):
    words = WORDS + "The And HTML JSON İstanbul 中文 文字 模型 你好 世界 don't it's we'll 12 345 2024 -- ... == () {}".split()
    syllables = "ba re ti on ing str ou ph est al 数 据 学 习 生 成 жи во на가나다".split()
    words += ["".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))) for _ in range(700)]
    return "".join(rng.choice(words) + rng.choice([" ", " ", " ", ", ", ".\n", "\n\n", "  "]) for _ in range(5000))


def scraps(rng):
    """Texts of what patterns quarrel about, and of all of Unicode."""
    parts = list(" \n\r\t'’.!#_aAzZéÉßǅʰªा́中文〇⺀々1٣½ⅧЖжก가🙂\u00a0\u3000\u200d") + ["'s", "'LL", "  ", "\r\n", "the", "THE", "中文", "<|im_end|>", "12"]
    for _ in range(500):
        yield "".join(rng.choice(parts) for _ in range(rng.randint(1, 24)))
    for _ in range(150):
        yield "".join(chr(rng.choice([c for c in (rng.randrange(0x3000), rng.randrange(0x11000), rng.randrange(0x2000, 0x32000)) if c and not 0xD800 <= c < 0xE000] or [97]))
                      for _ in range(rng.randint(1, 24)))


def main():
    rng = random.Random(11)
    alphabet = {bytes([b]): b for b in range(256)}
    main_resources = pathlib.Path("src/main/resources/io/dynamo/frontend/preprocess/bpe")
    (main_resources / "kimi-classes.txt").write_text(classes(alphabet))

    ranks = bpe_train(data=corpus(rng), vocab_size=SIZE - 1, pat_str=TRAINING, visualise=None)
    ranks[b" wholly"] = SIZE - 1  # that no merges lead to unless the others do
    if len(ranks) != SIZE:
        raise SystemExit(f"{len(ranks)} ranks instead of {SIZE}")
    folder = pathlib.Path("src/test/resources/tokenizers/tiktoken")
    folder.mkdir(exist_ok=True)
    (folder / "tiktoken.model").write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    added = {SIZE + i: {"content": content, "special": i not in PLAIN} for i, content in NAMED.items()}
    config = {"added_tokens_decoder": added, "bos_token": "[BOS]", "eos_token": "[EOS]", "chat_template": "{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    (folder / "config.json").write_text(json.dumps({"model_type": "kimi_k2", "max_position_embeddings": 4096, "vocab_size": SIZE + RESERVED}) + "\n")

    specials = {f"<|reserved_token_{id}|>": id for id in range(SIZE, SIZE + RESERVED) if id - SIZE not in NAMED}
    specials.update((content, SIZE + i) for i, content in NAMED.items())
    encoding = tiktoken.Encoding("small", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=specials)
    texts = TEXTS + MORE + list(scraps(rng))
    cases = [{"text": text, "ids": encoding.encode(text, allowed_special="all")} for text in texts]
    (folder / "expected.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
