package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The form that the generated text must have.
 *
 * @param json a JSON schema, as a JSON value
 * @param choice the allowed texts; empty for no such constraint
 * @param backend the engine's implementation to use
 * @param structuralTag as a JSON value
 */
public record GuidedDecoding(
    @Nullable Object json,
    @Nullable String regex,
    List<String> choice,
    @Nullable String grammar,
    @Nullable String backend,
    @Nullable String whitespacePattern,
    @Nullable Object structuralTag) {
  private static final int MAX_CHOICES = 1024;
  private static final int MAX_CHOICE_BYTES = 64 << 10; // all choices: bounds a token's cost

  /** No form at all. */
  public static final GuidedDecoding NONE =
      new GuidedDecoding(null, null, List.of(), null, null, null, null);

  public GuidedDecoding {
    choice = List.copyOf(choice);
  }

  /** A copy that demands {@code tag}, a JSON value, in place of the other forms. */
  public GuidedDecoding withStructuralTag(Object tag) {
    return new GuidedDecoding(null, null, List.of(), null, backend, whitespacePattern, tag);
  }

  /** Checks the allowed texts of {@code choices}; returns the fault, or null for none. */
  public static @Nullable String fault(List<String> choices) {
    if (choices.size() > MAX_CHOICES) {
      return "guided_choice has %d choices, at most %d are taken; send fewer"
          .formatted(choices.size(), MAX_CHOICES);
    }
    if (choices.contains("")) {
      return "guided_choice has a choice that is empty";
    }
    int bytes = bytes(choices);
    return bytes <= MAX_CHOICE_BYTES
        ? null
        : "the choices of guided_choice have %d bytes together, at most %d are taken"
            .formatted(bytes, MAX_CHOICE_BYTES);
  }

  /** Returns the size of all choices together in bytes, as UTF-8. */
  public static int bytes(List<String> choices) {
    long bytes = 0;
    for (var choice : choices) {
      for (int i = 0; i < choice.length(); i++) {
        char c = choice.charAt(i);
        bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
      }
    }
    return (int) Math.min(Integer.MAX_VALUE, bytes);
  }
}
