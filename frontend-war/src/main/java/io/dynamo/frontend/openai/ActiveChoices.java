package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The choices of all requests under way, so that a shutdown ends them. Safe for concurrent use. */
final class ActiveChoices {
  private final Set<Choices> active = ConcurrentHashMap.newKeySet();
  private volatile @Nullable DynamoException aborted; // set before the active ones are aborted

  /**
   * Adds choices that are about to start.
   *
   * @return the cause to abort them with instead, when {@link #abortAll} was called; else null
   */
  @Nullable DynamoException add(Choices choices) {
    active.add(choices);
    return aborted;
  }

  void remove(Choices choices) {
    active.remove(choices);
  }

  /** Aborts all choices, and those that are added from now on. */
  void abortAll(DynamoException cause) {
    aborted = cause;
    active.forEach(choices -> choices.abort(cause));
  }
}
