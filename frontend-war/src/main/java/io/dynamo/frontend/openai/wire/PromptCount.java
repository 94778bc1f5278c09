package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;

/** Writes the number of tokens of a prompt, as UTF-8 JSON. */
public final class PromptCount {
  private PromptCount() {}

  /** The answer of Anthropic's {@code count_tokens}. */
  public static byte[] messages(int tokens) {
    return new ByteText(32).ascii("{\"input_tokens\":").number(tokens).ascii("}").toByteArray();
  }

  /** The answer of OpenAI's {@code input_tokens}. */
  public static byte[] responses(int tokens) {
    return new ByteText(64)
        .ascii("{\"object\":\"response.input_tokens\",\"input_tokens\":")
        .number(tokens)
        .ascii("}")
        .toByteArray();
  }
}
