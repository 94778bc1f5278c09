package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiException;

/**
 * Fuzz target: any body of a chat or a text completion. It is read, or refused with a client's
 * error; no other exception and no 5xx comes of it.
 */
public final class RequestBodyFuzz {
  private RequestBodyFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    readOrRefuse(() -> ChatRequestReader.read(JsonBody.parse(input)));
    readOrRefuse(() -> CompletionRequestReader.read(JsonBody.parse(input)));
  }

  private static void readOrRefuse(Runnable reading) {
    try {
      reading.run();
    } catch (ApiException refused) {
      if (refused.error().status() >= 500 && refused.error().status() != 501) {
        throw new IllegalStateException(
            "a body is answered with " + refused.error().status(), refused);
      }
    }
  }
}
