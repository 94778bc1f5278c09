package io.dynamo.inference;

import java.util.List;

/**
 * A note from a worker to a client beside its tokens: the name of an event and lines of comment,
 * whose meaning is between the two.
 */
public record Annotation(String event, List<String> comments) {
  public Annotation {
    comments = List.copyOf(comments);
  }

  /** How many characters it has in all. */
  public long length() {
    long length = event.length();
    for (var comment : comments) {
      length += comment.length();
    }
    return length;
  }
}
