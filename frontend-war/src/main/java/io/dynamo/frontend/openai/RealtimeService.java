package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Execution;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.dispatch.Talks;
import io.dynamo.frontend.socket.CloseReason;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Serves OpenAI's realtime sessions: each takes a place of the admission from its handshake to its
 * end. Safe for concurrent use.
 */
public final class RealtimeService {
  static final String ENDPOINT = "realtime";

  /** The time in which a connection must have become a socket. */
  private static final Duration UPGRADE = Duration.ofSeconds(30);

  private final TextService.Gate gate;
  private final Parts parts;
  private final Set<RealtimeSession> sessions = ConcurrentHashMap.newKeySet();
  private volatile boolean aborted;

  /** The parts that all sessions share. Each is safe for concurrent use. */
  record Parts(EdgeRules rules, ModelCatalog catalog, Talks talks, Execution execution) {}

  public RealtimeService(
      EdgeRules rules,
      TextService.Gate gate,
      ModelCatalog catalog,
      Talks talks,
      Execution execution) {
    this.gate = gate;
    this.parts = new Parts(rules, catalog, talks, execution);
  }

  /**
   * Lets a session in, whose connection becomes a socket next.
   *
   * @throws ApiException when there is no room for it
   */
  RealtimeSession admit(IncomingRequest http, String queryModel) {
    var watch = gate.watches().open(ENDPOINT, http.headers());
    var id = CallHeaders.requestId(http.headers());
    watch.start(id);
    RequestAccount account;
    try {
      account = gate.admission().admit(ENDPOINT);
    } catch (ApiException refusal) {
      watch.end(refusal.error());
      throw refusal;
    }
    var share = gate.admission().bodies().open();
    var session =
        new RealtimeSession(
            parts, http, id, queryModel, new RealtimeSession.Account(account, share, watch));
    account.whenDisplaced(
        () ->
            session.abort(
                new CloseReason(CloseReason.TRY_AGAIN_LATER, "the server is full; retry later")));
    try {
      var _ =
          parts
              .execution()
              .timer()
              .schedule(session::giveUp, UPGRADE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException stopped) {
      session.giveUp();
      throw new ApiException(ApiError.unavailable("Service is shutting down", null));
    }
    return session;
  }

  /** Serves a session on a thread of its own; returns at once. */
  void start(RealtimeSession session, RealtimeSession.Socket socket) {
    if (!session.begin()) {
      socket.closer().run();
      return;
    }
    try {
      parts.execution().blocking().execute(() -> run(session, socket));
    } catch (RejectedExecutionException stopped) {
      session.fail();
      socket.closer().run();
    }
  }

  private void run(RealtimeSession session, RealtimeSession.Socket socket) {
    sessions.add(session);
    try (Cancellation.Registration _ = gate.watcher().watch(session.client())) {
      if (aborted) {
        session.abort(goingAway());
      }
      session.run(socket);
    } finally {
      sessions.remove(session);
    }
  }

  private static CloseReason goingAway() {
    return new CloseReason(CloseReason.GOING_AWAY, "the server is shutting down");
  }

  /** Ends all sessions, and those that begin later. */
  public void abortAll() {
    aborted = true;
    sessions.forEach(session -> session.abort(goingAway()));
  }
}
