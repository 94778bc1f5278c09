package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The form that the text must have.
 *
 * @param json a JSON schema, as JSON has it
 * @param choice the text is one of these; empty is no such demand
 * @param backend the engine's implementation to use
 * @param structuralTag as JSON has it
 */
public record GuidedDecoding(
    @Nullable Object json,
    @Nullable String regex,
    List<String> choice,
    @Nullable String grammar,
    @Nullable String backend,
    @Nullable String whitespacePattern,
    @Nullable Object structuralTag) {
  public GuidedDecoding {
    choice = List.copyOf(choice);
  }
}
