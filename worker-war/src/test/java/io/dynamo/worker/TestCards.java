package io.dynamo.worker;

import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Model cards for tests. */
public final class TestCards {
  private TestCards() {}

  public static ModelCard card(String name, int contextLength, int blockTokens) {
    return new ModelCard(
        name,
        name,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        contextLength,
        blockTokens,
        0,
        Set.of("Chat"),
        "Tokens",
        "aggregated",
        List.of(),
        Map.of());
  }
}
