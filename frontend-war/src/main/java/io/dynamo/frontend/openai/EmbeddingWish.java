package io.dynamo.frontend.openai;

import io.dynamo.inference.EmbeddingRequest;

/**
 * The embeddings that a client asks for.
 *
 * @param request for a worker
 * @param base64 whether the answer has base64 in the place of numbers
 */
record EmbeddingWish(EmbeddingRequest request, boolean base64) {}
