package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.session.SessionReplicas;
import io.dynamo.router.session.SessionTable;
import io.dynamo.router.session.SessionTarget;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Sends the requests of a session to the rank of its first request. Safe for concurrent use. */
final class Affinity implements AutoCloseable {
  /**
   * The number of attempts to follow a session that is bound elsewhere during each of them; then
   * the request is placed without its session.
   */
  private static final int TRIES = 8;

  /** The limits that a session puts on one attempt to place a request. */
  static final class Hold {
    /** The hold of a request without a session. */
    static final Hold FREE = new Hold(null, null, null, null, true);

    private final @Nullable SessionTable sessions;
    private final @Nullable String session;
    private final @Nullable SessionTarget known;
    private final @Nullable SessionTarget only;
    private final boolean waits;

    private Hold(
        @Nullable SessionTable sessions,
        @Nullable String session,
        @Nullable SessionTarget known,
        @Nullable SessionTarget only,
        boolean waits) {
      this.sessions = sessions;
      this.session = session;
      this.known = known;
      this.only = only;
      this.waits = waits;
    }

    /** Returns the only target that the request may go to; null is any. */
    @Nullable SessionTarget only() {
      return only;
    }

    /**
     * Whether the request may wait for that target; otherwise it goes there at once or not at all.
     */
    boolean waits() {
      return waits;
    }

    /** Binds the session to {@code rank}; null when it has been bound elsewhere meanwhile. */
    SessionTable.@Nullable Lease lease(WorkerRank rank) {
      return sessions == null || session == null
          ? SessionTable.Lease.NONE
          : sessions.lease(session, rank, known);
    }
  }

  private final SessionTable sessions;
  private final SessionReplicas replicas;
  private final RouterSettings.SessionMode mode;
  private final Eligibility eligibility;

  Affinity(
      SessionTable sessions,
      SessionReplicas replicas,
      RouterSettings.SessionMode mode,
      Eligibility eligibility) {
    this.sessions = sessions;
    this.replicas = replicas;
    this.mode = mode;
    this.eligibility = eligibility;
  }

  /**
   * Places {@code request} on its session's target, and otherwise anywhere.
   *
   * @param admit makes one attempt within the limits of its argument
   * @throws InvalidRequestException when the request is pinned to another worker or rank than its
   *     session's
   */
  RouteDecision route(RouteRequest request, Function<Hold, RouteOutcome> admit) {
    var id = request.hints().sessionId();
    for (int i = 0; id != null && i < TRIES; i++) {
      if (follow(id, request, admit) instanceof RouteOutcome.Routed routed) {
        return routed.decision();
      }
    }
    return decision(admit.apply(Hold.FREE));
  }

  /**
   * Returns the decision on a request without a session, for which {@code SessionMoved} cannot
   * occur.
   */
  static RouteDecision decision(RouteOutcome outcome) {
    return switch (outcome) {
      case RouteOutcome.Routed routed -> routed.decision();
      case RouteOutcome.SessionMoved _ ->
          throw new IllegalStateException("a request without a session has lost its session");
    };
  }

  private RouteOutcome follow(String id, RouteRequest request, Function<Hold, RouteOutcome> admit) {
    var bound = bound(id, request);
    if (bound == null || mode == RouterSettings.SessionMode.HARD) {
      return admit.apply(new Hold(sessions, id, bound, bound, true));
    }
    try {
      return admit.apply(new Hold(sessions, id, bound, bound, false));
    } catch (OverloadedException busy) {
      return admit.apply(new Hold(sessions, id, bound, null, true));
    }
  }

  /**
   * Returns the target that the session is bound to; null when it is not bound, or its target
   * cannot serve any more.
   */
  private @Nullable SessionTarget bound(String id, RouteRequest request) {
    var target = sessions.target(id);
    if (target == null) {
      return null;
    }
    if (!eligibility.canServe(request, target)) {
      sessions.unbind(id, target);
      return null;
    }
    var hints = request.hints();
    if ((hints.pinnedWorker() != null && !hints.pinnedWorker().equals(target.worker()))
        || (hints.pinnedRank() != null
            && target.rank() != null
            && !hints.pinnedRank().equals(target.rank()))) {
      throw new InvalidRequestException(
          "the session is bound to %s, but worker %s is asked for; leave one out"
              .formatted(target, hints.pinnedWorker()));
    }
    return target;
  }

  /** Returns the target that the request's session binds it to now; null is none. */
  @Nullable SessionTarget target(RouteRequest request) {
    var id = request.hints().sessionId();
    return id == null ? null : bound(id, request);
  }

  int size() {
    return sessions.size();
  }

  @Override
  public void close() {
    replicas.close();
  }
}
