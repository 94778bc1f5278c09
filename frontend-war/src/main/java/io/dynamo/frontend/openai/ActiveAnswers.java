package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The answers under way of all requests, so that a shutdown ends them. Safe for concurrent use. */
final class ActiveAnswers {
  private final Set<PreparedAnswer> active = ConcurrentHashMap.newKeySet();
  private volatile @Nullable DynamoException aborted; // set before the active ones are aborted

  /** Adds an answer that is about to run, and aborts it when {@link #abortAll} was called. */
  void add(PreparedAnswer answer) {
    active.add(answer);
    var cause = aborted;
    if (cause != null) {
      answer.abort(cause);
    }
  }

  void remove(PreparedAnswer answer) {
    active.remove(answer);
  }

  /** Aborts all answers, and those that are added from now on. */
  void abortAll(DynamoException cause) {
    aborted = cause;
    active.forEach(answer -> answer.abort(cause));
  }
}
