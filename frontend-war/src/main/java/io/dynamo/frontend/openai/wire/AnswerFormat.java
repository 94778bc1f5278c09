package io.dynamo.frontend.openai.wire;

/** Writes the answer to one request in the format of its API. */
public sealed interface AnswerFormat permits ChunkFormat, BlockFormat, TokenFormat {}
