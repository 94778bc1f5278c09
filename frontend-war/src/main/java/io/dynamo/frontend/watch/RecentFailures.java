package io.dynamo.frontend.watch;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The newest requests that ended in an error, for an operator's page, without those that clients
 * gave up. Bounded in number and in the length of each. Safe for concurrent use.
 */
public final class RecentFailures {
  private static final int MOST = 100;
  private static final int LONGEST = 300; // characters of one text

  /**
   * A request that ended in an error.
   *
   * @param endpoint Dynamo's label of the API
   * @param model null when the request named none that exists
   * @param message as its client got it
   * @param worker the worker that served it last, in hexadecimal; null when none was chosen
   */
  public record Failure(
      Instant at,
      String requestId,
      String endpoint,
      @Nullable String model,
      int status,
      String type,
      String message,
      @Nullable String worker,
      @Nullable String traceId) {
    public Failure {
      requestId = cut(requestId);
      message = cut(message);
    }

    private static String cut(String text) {
      return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "\u2026";
    }
  }

  private final Deque<Failure> newest = new ArrayDeque<>(); // first; guarded by this
  private long count; // guarded by this

  /** Keeps a failure in place of the oldest. */
  synchronized void add(Failure failure) {
    newest.addFirst(failure);
    count++;
    if (newest.size() > MOST) {
      newest.removeLast();
    }
  }

  /** Returns the failures that are kept, newest first. */
  public synchronized List<Failure> list() {
    return List.copyOf(newest);
  }

  /** Returns the number of failures since the start. */
  public synchronized long count() {
    return count;
  }
}
