package io.dynamo.inference;

import java.util.List;

/**
 * A note from a worker to a client, besides tokens: the name of an event and lines of comment,
 * whose meaning the two agree on.
 */
public record Annotation(String event, List<String> comments) {
  public Annotation {
    comments = List.copyOf(comments);
  }

  /** Returns the number of characters of the event and all comments. */
  public long length() {
    long length = event.length();
    for (var comment : comments) {
      length += comment.length();
    }
    return length;
  }
}
