package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.FrontendSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.Failed;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.Admission;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.openai.wire.ChatAnswer;
import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.Inbox;
import io.dynamo.frontend.sse.SseWriter;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Serves chat completions. Each request has a virtual thread of its own from its body's first byte
 * to its answer's last; it is the only thread that blocks for it. Safe for concurrent use.
 */
public final class ChatCompletions {
  private static final System.Logger LOG = System.getLogger(ChatCompletions.class.getName());
  private static final String ENDPOINT = "chat_completions";
  private static final int INBOX_ITEMS = 64;
  private static final ApiError INTERNAL = ApiError.of(500, "Internal server error");
  private static final ApiError GONE = ApiError.of(new CancelledException("the client left"));

  private final FrontendSettings settings;
  private final ModelCatalog catalog;
  private final Dispatcher dispatcher;
  private final Preprocessor preprocessor;
  private final TextPipe.Factory texts;
  private final Admission admission;
  private final DisconnectWatcher watcher;
  private final Executor blocking;
  private final InstantSource clock;
  private final Set<Inbox<EngineOutput>> inFlight = ConcurrentHashMap.newKeySet();

  /**
   * @param blocking runs each task on a virtual thread of its own
   */
  public ChatCompletions(
      FrontendSettings settings,
      ModelCatalog catalog,
      Dispatcher dispatcher,
      Preprocessor preprocessor,
      TextPipe.Factory texts,
      Admission admission,
      DisconnectWatcher watcher,
      Executor blocking,
      InstantSource clock) {
    this.settings = settings;
    this.catalog = catalog;
    this.dispatcher = dispatcher;
    this.preprocessor = preprocessor;
    this.texts = texts;
    this.admission = admission;
    this.watcher = watcher;
    this.blocking = blocking;
    this.clock = clock;
  }

  /**
   * Takes a request and returns at once; {@code answer} is given on another thread.
   *
   * @throws ApiException when there is no room for it; {@code answer} is not used then
   */
  public void serve(ChatCall call, Answer answer) {
    var account = admission.admit(ENDPOINT);
    try {
      var request = new Serving(call, answer, account);
      blocking.execute(() -> run(request));
    } catch (RuntimeException | Error e) {
      account.end(ApiError.of(e));
      throw e;
    }
  }

  /** Ends every stream under way with {@code cause}; their clients are told. */
  public void abortAll(DynamoException cause) {
    inFlight.forEach(inbox -> inbox.abort(cause));
  }

  private void run(Serving request) {
    ApiError outcome = INTERNAL;
    try (var _ = watcher.watch(request.client)) {
      outcome = request.serve();
    } catch (Throwable e) { // nobody above would answer
      outcome = request.fail(e);
    } finally {
      request.end(outcome);
    }
  }

  /**
   * What a body asks for.
   *
   * @param request with the prompt in tokens
   */
  private record Asked(
      ServedModel model,
      GenerateRequest request,
      RequestContext context,
      boolean stream,
      boolean includeUsage,
      boolean continuousUsage,
      boolean includeStop,
      boolean skipSpecialTokens) {}

  /** One request. Touched by its own thread only. */
  private final class Serving {
    private final ChatCall call;
    private final Answer answer;
    private final RequestAccount account;
    private final Cancellation cancellation = new Cancellation();
    private final Deadline deadline = Deadline.after(settings.requestTimeout());
    private final ClientConnection client;
    private boolean answered;
    private boolean writeFailed;
    private @Nullable DynamoException streamFailure;

    Serving(ChatCall call, Answer answer, RequestAccount account) {
      this.call = call;
      this.answer = answer;
      this.account = account;
      this.client = new ClientConnection(call.localPort(), call.remote(), cancellation);
    }

    /** Answers; returns null when the client got what it asked for, else what it was told. */
    @Nullable ApiError serve() {
      Inbox<EngineOutput> inbox = new Inbox<>(INBOX_ITEMS);
      try (var _ =
          cancellation.onCancel(level -> inbox.abort(new CancelledException("the client left")))) {
        inFlight.add(inbox);
        return generate(inbox);
      } catch (InterruptedException e) {
        try {
          return refuse(ApiError.unavailable("Service is shutting down", null));
        } finally {
          Thread.currentThread().interrupt(); // only now: writing would fail with it
        }
      } catch (ApiException | DynamoException e) {
        report(e);
        return refuse(ApiError.of(e));
      } finally {
        inFlight.remove(inbox);
        inbox.cancel();
      }
    }

    /** Ends a request whose serving threw; it is answered if it was not. Returns what was told. */
    ApiError fail(Throwable cause) {
      if (answered && cause instanceof RuntimeException) {
        LOG.log(Level.DEBUG, "an answer could not be written", cause);
        writeFailed = true;
        return GONE;
      }
      LOG.log(Level.ERROR, "a request failed unexpectedly", cause);
      if (!answered) {
        try {
          refuse(INTERNAL);
        } catch (RuntimeException e) {
          LOG.log(Level.DEBUG, "an answer could not be written", e);
        }
      }
      return INTERNAL;
    }

    /**
     * Counts the request. One that was fully answered is a success, whatever its client did next.
     */
    void end(@Nullable ApiError outcome) {
      if (outcome != null && (client.loss() != ClientConnection.Loss.NONE || writeFailed)) {
        account.disconnected();
        account.end(GONE);
      } else {
        account.end(outcome);
      }
    }

    private ApiError refuse(ApiError error) {
      answered = true;
      answer.error(error);
      return error;
    }

    private @Nullable ApiError generate(Inbox<EngineOutput> inbox) throws InterruptedException {
      JsonBody.checkContentType(call.contentType());
      var asked = ask();
      var request = asked.request();
      var text =
          texts.open(
              asked.model().text().tokens(),
              request.stop(),
              request.eosTokenIds(),
              asked.includeStop(),
              asked.skipSpecialTokens());
      var stream = new ChatStream(inbox, text, request.tokenIds().length, deadline, account);
      dispatcher.generate(asked.model(), request, asked.context()).subscribe(inbox);
      var writer =
          new ChatAnswer(
              asked.context().id(), clock.instant().getEpochSecond(), asked.model().name());
      return asked.stream() ? events(asked, stream, writer) : unary(stream, writer);
    }

    /** Reads, checks and tokenises. The body and all that was made of it is garbage afterwards. */
    private Asked ask() throws InterruptedException {
      try (var share = admission.bodies().open()) {
        var body =
            JsonBody.parse(
                JsonBody.read(
                    call.body(), call.contentBytes(), settings.bodyLimitBytes(), deadline, share));
        var metadata = CallHeaders.metadata(call.headers());
        var name = ChatRequestReader.model(body);
        var found = catalog.find(name);
        account.shape(ChatRequestReader.asksForStream(body));
        if (found.isEmpty() && catalog.isKnown(name)) {
          throw new ApiException(notReady(name));
        }
        found.ifPresent(it -> account.serving(it.name(), ChatRequestReader.asksForStream(body)));
        var chat = ChatRequestReader.read(body);
        var model = found.orElseThrow(() -> new ApiException(ApiError.modelNotFound(name)));
        var context =
            new RequestContext(
                CallHeaders.requestId(call.headers()),
                metadata,
                CallHeaders.forwarded(call.headers()),
                deadline,
                cancellation);
        int[] prompt =
            preprocessor.encode(model.text(), Generations.prompt(chat), deadline, cancellation);
        return new Asked(
            model,
            Generations.of(chat, model, prompt),
            context,
            chat.stream(),
            chat.includeUsage(),
            chat.continuousUsage(),
            chat.includeStop(),
            !Boolean.FALSE.equals(chat.skipSpecialTokens()));
      }
    }

    private @Nullable ApiError unary(ChatStream stream, ChatAnswer writer)
        throws InterruptedException {
      var body = ChatFold.fold(stream, writer);
      answered = true;
      answer.json(body);
      return null;
    }

    private @Nullable ApiError events(Asked asked, ChatStream stream, ChatAnswer writer)
        throws InterruptedException {
      if (stream.await(settings.firstItemWait().toNanos())) {
        stream.peek(); // an early failure still has its status line
      }
      var sse =
          new SseWriter<>(
              stream,
              new ChatChunks(writer, stream, asked.includeUsage(), asked.continuousUsage()),
              settings.heartbeat(),
              client);
      answered = true;
      answer.events(
          out -> {
            try {
              streamFailure = sse.writeTo(out);
            } catch (IOException e) {
              writeFailed = true; // the client left, or stopped reading; nobody to tell
            }
          });
      if (writeFailed) {
        return GONE;
      }
      if (streamFailure == null) {
        return null;
      }
      report(streamFailure);
      return ApiError.of(streamFailure);
    }
  }

  static ApiError notReady(String model) {
    return ApiError.unavailable(
        "Model `%s` is not ready to serve requests yet. The deployment may still be starting up or is not fully provisioned. Please retry shortly."
            .formatted(model),
        "model_not_ready");
  }

  private static void report(RuntimeException failure) {
    if (failure instanceof Failed && !(failure instanceof CancelledException)) {
      LOG.log(Level.WARNING, "a generation failed: " + failure.getMessage(), failure);
    } else if (failure instanceof WorkerLostException) {
      LOG.log(Level.WARNING, "a generation was lost: {0}", failure.getMessage());
    } else {
      LOG.log(Level.DEBUG, "a request was refused: {0}", failure.getMessage());
    }
  }
}
