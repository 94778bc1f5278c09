package io.dynamo.frontend.openai;

import io.dynamo.frontend.postprocess.TextDelta;
import io.dynamo.frontend.preprocess.TokenTable;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.StopConditions;

/** Makes text of one choice's items. For one thread at a time. */
@FunctionalInterface
public interface TextPipe {
  TextDelta accept(EngineOutput item);

  /** Opens pipes. */
  @FunctionalInterface
  interface Factory {
    TextPipe open(
        TokenTable tokens,
        StopConditions stop,
        int[] eosTokenIds,
        boolean includeStop,
        boolean skipSpecialTokens);
  }
}
