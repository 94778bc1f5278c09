"""Trains a small tokenizer of each kind on a text of our own and writes src/test/resources/tokenizers/<kind>.json, then records what
Hugging Face's `tokenizers` makes of a set of texts in src/test/resources/tokenizers/expected.json: ids without added special tokens, and
the ids decoded with special tokens and without. Needs the package `tokenizers`; run it from the module's folder. With the argument
`expected` the tokenizers are kept and only the second half runs."""

import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = """the a of to and in is that it was for on are as with his they at be this from have or by one had not but what all were when
we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two
like him see time could no make than first been its who now people my made over did down only way find use may water long little very after
words called just where most know get through back much before go good new write our used me man too any day same right look think also
around another came come work three word must because does part even place well such here take why things help put years different away
again off went old number great tell men say small every found still between name should home big give air line set own under read last
never us left end along while might next sound below saw something thought both few those always looked show large often together asked
house don't world going want school important until form food keep children feet land side without boy once animals life enough took
four head above kind began almost live page got earth need far hand high year mother light parts country father let night following
Straße naïve café Zürich français señor Привет мир как дела 漢字 かな 交じり 文章 日本語 مرحبا नमस्ते דבר 안녕하세요 🙂 🚀""".split()
SPECIALS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "[INST]"]
TEXTS = [
    "", " ", "Hello world", " leading", "trailing ", "  two  spaces  ", "a\nb\n\n\tc\r\nd", "The quick, brown fox. Isn't it? Don't! we 've 's ' x",
    "Ünïcödé straße naïve", "漢字とかな交じり文", "Привет, мир", "مرحبا بالعالم", "नमस्ते दुनिया", "🙂👩‍👩‍👧‍👦🏴 🇩🇪", "<s>Hello</s>", "<s> Hello </s> world",
    "<|im_start|>user\nhi there<|im_end|>\n<|im_start|>assistant\n", "x<|im_end|>y <|im_end|> z", "[INST] say it [/INST] said", "1234567 3.14 0x1F",
    "if (x == 1) {\n    return y;\n}\n", "\u00a0nbsp\u3000ideographic\u200bzero", "e\u0301 combining", "▁under▁scores", "<0x41> spelled", "##ing prefix", "<think>no</think>",
    "\ufffd replaced", "a" * 60, "\u2028line", "<|im_start|><|im_end|><|im_start|>", "<|im_start", "unbelievable antidisestablishmentarianism",
]


def corpus():
    rng = random.Random(7)
    for _ in range(3000):
        yield " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 14))) + rng.choice([".", "!", "?", ",", ""])


def added(normalized=False):
    return [AddedToken(token, special=True, normalized=normalized) for token in SPECIALS]


def train(tokenizer, trainer, more=()):
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens(added())
    tokenizer.add_tokens(list(more))
    return tokenizer


def bytes_():
    return [f"<0x{b:02X}>" for b in range(256)]


def byte_level():
    """As Llama 3 and Qwen: a split by regex, then bytes; `<think>` is added but not special."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    split = Regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(split, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    return train(tokenizer, trainer, [AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False)])


def byte_level_prefix():
    """As RoBERTa and DeepSeek: a space before the first word of each piece; added tokens that count as normalised."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS[:3]])
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=True) for token in SPECIALS[3:]])
    tokenizer.add_tokens([AddedToken("<think>", normalized=True), AddedToken("</think>", normalized=True)])
    return tokenizer


def sentencepiece():
    """As Llama 2: a space is put before every piece, bytes for what the vocabulary lacks, one space taken from the decoded start."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)  # for the training only
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<unk>", "<s>", "</s>"] + bytes_(), show_progress=False)
    train(tokenizer, trainer)
    tokenizer.pre_tokenizer = None
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def metaspace_first():
    """As newer conversions of SentencePiece: only the very first piece gets a space; `[INST]` swallows the space after it."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<unk>", "<s>", "</s>"] + bytes_(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False, rstrip=token == "[INST]") for token in SPECIALS])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def unigram():
    """As T5 and ALBERT: scores, normalised text, the decoder of the same name; `</s>` swallows the space before it."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(vocab_size=500, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False, lstrip=token == "</s>") for token in SPECIALS])
    return tokenizer


def wordpiece():
    """As BERT."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=["<unk>"], show_progress=False)
    return train(tokenizer, trainer)


KINDS = [byte_level, byte_level_prefix, sentencepiece, metaspace_first, unigram, wordpiece]


def main():
    out = pathlib.Path(__file__).resolve().parents[1] / "resources/tokenizers"
    out.mkdir(exist_ok=True)
    cases = []
    for kind in KINDS:
        file = out / f"{kind.__name__}.json"
        if "expected" not in sys.argv:
            file.write_text(json.dumps(json.loads(kind().to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        tokenizer = Tokenizer.from_file(str(file))
        for text in TEXTS:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append({"tokenizer": kind.__name__, "text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False),
                          "decoded_without_special": tokenizer.decode(ids, skip_special_tokens=True)})
    (out / "expected.json").write_text("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")
    print(f"{len(cases)} cases of {len(KINDS)} tokenizers in {out}")


if __name__ == "__main__":
    main()
