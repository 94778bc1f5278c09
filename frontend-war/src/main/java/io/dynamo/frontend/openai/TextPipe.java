package io.dynamo.frontend.openai;

import io.dynamo.frontend.postprocess.TextDelta;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.StopConditions;
import io.dynamo.model.vocabulary.TokenTable;

/** Turns the items of one choice into text. For one thread at a time. */
@FunctionalInterface
public interface TextPipe {
  TextDelta accept(EngineOutput item);

  /** Opens the pipe of each choice. */
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
