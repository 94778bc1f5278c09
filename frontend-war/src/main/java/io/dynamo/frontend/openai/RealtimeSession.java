package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.admission.Urgency;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.dispatch.TalkInput;
import io.dynamo.frontend.openai.wire.RealtimeEvent;
import io.dynamo.frontend.socket.CloseReason;
import io.dynamo.frontend.socket.SocketMessage;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One realtime session. Its first thread finds the model and then sends on what the worker says; a
 * second one sends on what the client says.
 */
final class RealtimeSession {
  private static final System.Logger LOG = System.getLogger(RealtimeSession.class.getName());
  private static final Set<String> TYPES = Set.of("Realtime");
  private static final ApiError FAILED = ApiError.of(500, "Internal server error");
  private static final ApiError SHUTDOWN = ApiError.unavailable("Service is shutting down", null);
  private static final ApiError GONE = ApiError.of(new CancelledException("the client left"));

  /** How long a session may last. */
  static final Duration LONGEST = Duration.ofHours(1);

  /** The time in which the client must choose a model. */
  static final Duration CHOICE = Duration.ofSeconds(60);

  private static final CloseReason UNDECIDED =
      new CloseReason(
          CloseReason.POLICY,
          "no session.update chose a model within %d s".formatted(CHOICE.toSeconds()));

  /** How long each side may go on after the other has ended. */
  static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** The silence after which the client is pinged; after two it is given up. */
  static final Duration SILENCE = Duration.ofSeconds(30);

  /** The streams of the upgraded connection, and what ends them from any thread. */
  record Socket(InputStream in, OutputStream out, Runnable closer) {}

  /** The account, the memory and the watch of the session. */
  record Account(RequestAccount account, BodyBudget.Share share, RequestWatch watch) {}

  private final RealtimeService.Parts parts;
  private final IncomingRequest http;
  private final String id;
  private final String queryModel;
  private final Account account;
  private final Cancellation cancellation = new Cancellation();
  private final ClientConnection client;
  private final Deadline deadline = Deadline.after(LONGEST);
  private final AtomicBoolean begun = new AtomicBoolean();
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile @Nullable CloseReason abort; // read when the cancellation is raised

  /**
   * @param queryModel of the address; empty for none
   */
  RealtimeSession(
      RealtimeService.Parts parts,
      IncomingRequest http,
      String id,
      String queryModel,
      Account account) {
    this.parts = parts;
    this.http = http;
    this.id = id;
    this.queryModel = queryModel;
    this.account = account;
    this.client = new ClientConnection(http.local(), http.remote(), cancellation);
  }

  ClientConnection client() {
    return client;
  }

  /** Ends the session with {@code reason}. Safe from any thread. */
  void abort(CloseReason reason) {
    abort = reason;
    cancellation.kill();
  }

  /**
   * Takes the session up.
   *
   * @return false when it was given up or taken up before
   */
  boolean begin() {
    return begun.compareAndSet(false, true);
  }

  /** Ends the session if nothing has taken it up. */
  void giveUp() {
    if (begin()) {
      fail();
    }
  }

  /** Ends a session whose connection did not become a socket. Idempotent. */
  void fail() {
    end(FAILED);
  }

  /** Serves the session to its end. */
  void run(Socket socket) {
    RealtimeSocket talk;
    try {
      talk = new RealtimeSocket(socket, client, account.share(), parts.execution());
    } catch (RejectedExecutionException e) { // the server has stopped
      end(SHUTDOWN);
      socket.closer().run();
      return;
    }
    try (talk) {
      end(outcome(talk)); // before the connection is closed, which may take its time
    }
  }

  private @Nullable ApiError outcome(RealtimeSocket talk) {
    @Nullable ApiError outcome = FAILED;
    try (var _ =
        cancellation.onCancel(
            level -> {
              if (level == Cancellation.Level.KILL) {
                talk.endSoon(abort);
              }
            })) {
      outcome = serve(talk);
    } catch (InterruptedException e) {
      outcome = SHUTDOWN;
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "a session's client is gone", FailureShape.of(e));
      outcome = GONE;
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a session failed unexpectedly", FailureShape.of(e));
    } finally {
      cancellation.kill();
    }
    return outcome;
  }

  private void end(@Nullable ApiError outcome) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    var error = outcome;
    if (client.loss() != ClientConnection.Loss.NONE) {
      account.account().recordDisconnect();
      error = GONE;
    }
    account.share().close();
    account.account().end(error);
    account.watch().end(error);
  }

  /** Returns the error that the session ended with; null for a regular end. */
  private @Nullable ApiError serve(RealtimeSocket socket) throws IOException, InterruptedException {
    socket.send(RealtimeEvent.created());
    RealtimeEvent first;
    ServedModel model;
    try (var _ = socket.limit(CHOICE, UNDECIDED)) {
      do {
        first = socket.nextEvent(RealtimeSession::explain);
        if (first == null) {
          socket.linger();
          return null; // of a lost client, the end is counted as such
        }
        model = choose(first, socket);
      } while (model == null);
    } catch (ApiException noRoom) {
      socket.closeQuietly(new CloseReason(CloseReason.TRY_AGAIN_LATER, noRoom.error().message()));
      socket.linger();
      return noRoom.error();
    }
    try {
      enter(model);
      return talk(model, first, socket);
    } catch (ApiException | DynamoException refusal) {
      var error = account.account().errorFor(refusal);
      if (tellAbort(socket)) {
        return error;
      }
      socket.send(
          RealtimeEvent.error("server_error", error.code(), error.message(), null, first.id()));
      socket.close(
          new CloseReason(
              error.isOverload() || error.status() == 503
                  ? CloseReason.TRY_AGAIN_LATER
                  : CloseReason.SERVER_ERROR,
              error.message()));
      return error;
    }
  }

  /**
   * Closes the socket of an aborted session with its reason, before anything else is said.
   *
   * @return whether the session was aborted
   */
  private boolean tellAbort(RealtimeSocket socket) {
    var reason = abort;
    if (reason == null) {
      return false;
    }
    socket.closeQuietly(reason);
    return true;
  }

  /** The error event for a message that cannot be used before a model is chosen. */
  private static byte[] explain(SocketMessage message) {
    return error(
        message instanceof SocketMessage.Binary ? RealtimeSocket.BINARY : RealtimeSocket.MALFORMED,
        null,
        null);
  }

  private static byte[] error(String message, @Nullable String param, @Nullable String cause) {
    return RealtimeEvent.error("invalid_request_error", "invalid_request", message, param, cause);
  }

  /** Returns the model that an event chooses; null when it chooses none, after an error event. */
  private @Nullable ServedModel choose(RealtimeEvent event, RealtimeSocket socket)
      throws IOException {
    if (!event.isUpdate()) {
      socket.send(
          error("expected session.update before engine is selected", "session.update", event.id()));
      return null;
    }
    var named = event.model();
    var name = named == null ? queryModel : named;
    if (name.isEmpty()) {
      socket.send(error("session.model required", "session.model", event.id()));
      return null;
    }
    var found = parts.catalog().choose(name, new ModelCatalog.Query(TYPES, null, null));
    if (found.isPresent() && found.get().card().takesBodies()) {
      return found.get();
    }
    boolean absent = parts.catalog().find(name).isEmpty() && parts.catalog().isKnown(name);
    socket.send(
        RealtimeEvent.error(
            "invalid_request_error",
            absent ? "model_unavailable" : "model_not_found",
            (absent ? "model is not ready: " : "unknown model: ") + ApiError.shown(name),
            "session.model",
            event.id()));
    return null;
  }

  private void enter(ServedModel model) throws InterruptedException {
    account.account().bodyArrived();
    account.account().setModel(model.name(), true);
    account.watch().setModel(model.name(), true);
    account.account().enter(model.workers(), Urgency.NONE, account.share(), deadline, cancellation);
  }

  /** Sends on what both sides say until one of them ends. */
  private @Nullable ApiError talk(ServedModel model, RealtimeEvent first, RealtimeSocket socket)
      throws IOException, InterruptedException {
    var input = new TalkInput(socket::charge);
    var context =
        new RequestContext(
            id,
            parts.rules().metadata(http.headers()),
            account.watch().forwardedHeaders(CallHeaders.forwarded(http.headers())),
            deadline,
            cancellation);
    try {
      input.offer(first.task(), socket.takeBytes());
      try (var items = parts.talks().open(model, input, context)) {
        parts.execution().blocking().execute(() -> listen(socket, input));
        return say(items, input, socket);
      }
    } finally {
      input.close();
    }
  }

  /** Sends the worker's events to the client; returns the error that ended them. */
  private @Nullable ApiError say(
      AnswerItems<TaskOutput> items, TalkInput input, RealtimeSocket socket)
      throws IOException, InterruptedException {
    try {
      while (!items.ended()) {
        var item = items.poll();
        if (item == null) {
          items.await(Long.MAX_VALUE / 4); // the deadline ends it
        } else {
          input.answered();
          socket.send(RealtimeEvent.write(item));
        }
      }
      socket.close(new CloseReason(CloseReason.NORMAL, "stream complete"));
      input.close(); // who waits to offer more goes on to the client's end
      socket.awaitPeer(LAST_WORDS);
      return null;
    } catch (DynamoException failure) {
      if (tellAbort(socket)) {
        return account.account().errorFor(failure);
      }
      if (socket.isClosing()) {
        return null; // the worker had its time after the client's end
      }
      if (client.loss() != ClientConnection.Loss.NONE) {
        return GONE;
      }
      var error = account.account().errorFor(failure);
      LOG.log(Level.WARNING, "session " + id + " failed", FailureShape.of(failure));
      socket.send(RealtimeEvent.error("server_error", null, error.message(), null, null));
      socket.close(new CloseReason(CloseReason.SERVER_ERROR, error.message()));
      input.close();
      socket.awaitPeer(LAST_WORDS);
      return error;
    }
  }

  /** Sends the client's events to the worker until either ends. */
  private void listen(RealtimeSocket socket, TalkInput input) {
    try {
      while (true) {
        var event = socket.nextEvent(null);
        if (event == null || !input.offer(event.task(), socket.takeBytes())) {
          break;
        }
      }
      if (client.loss() != ClientConnection.Loss.NONE) {
        return;
      }
      input.complete();
      cancellation.stop();
      var _ =
          parts
              .execution()
              .timer()
              .schedule(cancellation::kill, LAST_WORDS.toNanos(), TimeUnit.NANOSECONDS);
      socket.linger();
    } catch (ApiException noRoom) {
      socket.closeQuietly(new CloseReason(CloseReason.TRY_AGAIN_LATER, noRoom.error().message()));
      cancellation.kill();
    } catch (IOException e) {
      cancellation.kill(); // the client is gone
    } catch (InterruptedException e) {
      cancellation.kill();
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a session failed unexpectedly", FailureShape.of(e));
      cancellation.kill();
    } finally {
      socket.peerEnded();
    }
  }
}
