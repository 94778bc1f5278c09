package io.dynamo.arch.planted.kv;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;

/** A tokenizer outside its package. */
public record Tokenizes(HuggingFaceTokenizer tokenizer) {}
