package io.dynamo.frontend.openai;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;

/** A plain request and a worker's items for it. */
final class Samples {
  private Samples() {}

  /**
   * A chat request.
   *
   * @param more fields, each with a comma before it
   */
  static String hi(String more) {
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + more
        + "}";
  }

  static EngineOutput said(String text, FinishReason finish, int tokens) {
    return new EngineOutput(new int[tokens], text, finish, null, 0, null);
  }

  static EngineOutput said(String text) {
    return new EngineOutput(new int[1], text, null, null, 0, null);
  }
}
