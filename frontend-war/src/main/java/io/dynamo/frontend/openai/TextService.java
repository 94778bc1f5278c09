package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.FrontendSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.Failed;
import io.dynamo.error.FailureShape;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.SseWriter;
import io.dynamo.frontend.watch.RequestWatch;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Serves the APIs that answer with generated text. Each request has a virtual thread of its own
 * from its body's first byte to its answer's last; it is the only thread that blocks for it. Safe
 * for concurrent use.
 */
public final class TextService {
  private static final System.Logger LOG = System.getLogger(TextService.class.getName());
  static final Api CHAT = new ChatApi();
  static final Api COMPLETIONS = new CompletionApi();
  private static final ApiError INTERNAL = ApiError.of(500, "Internal server error");
  private static final ApiError GONE = ApiError.of(new CancelledException("the client left"));

  private final FrontendSettings settings;
  private final EdgeRules rules;
  private final Intake intake;
  private final Dispatcher dispatcher;
  private final TextPipe.Factory texts;
  private final RequestAdmission admission;
  private final DisconnectWatcher watcher;
  private final Clockwork clockwork;
  private final RequestWatch.WatchFactory watchFactory;
  private final WorkerGauges workers;
  private final Set<Choices> inFlight = ConcurrentHashMap.newKeySet();
  private volatile @Nullable DynamoException aborted; // set before those in flight are told

  /**
   * What makes it run.
   *
   * @param blocking runs each task on a virtual thread of its own
   * @param timer for tasks that never wait
   * @param clock of the times that clients are told
   */
  public record Clockwork(Executor blocking, ScheduledExecutorService timer, InstantSource clock) {}

  public TextService(
      FrontendSettings settings,
      EdgeRules rules,
      ModelCatalog catalog,
      Dispatcher dispatcher,
      Preprocessor preprocessor,
      TextPipe.Factory texts,
      RequestAdmission admission,
      DisconnectWatcher watcher,
      Clockwork clockwork,
      RequestWatch.WatchFactory watchFactory,
      WorkerGauges workers) {
    this.settings = settings;
    this.rules = rules;
    this.intake = new Intake(settings, rules, catalog, preprocessor);
    this.dispatcher = dispatcher;
    this.texts = texts;
    this.admission = admission;
    this.watcher = watcher;
    this.clockwork = clockwork;
    this.watchFactory = watchFactory;
    this.workers = workers;
  }

  /**
   * Takes a request and returns at once; {@code answer} is given on another thread.
   *
   * @throws ApiException when there is no room for it; {@code answer} is not used then
   */
  void serve(Api api, IncomingRequest call, AnswerSink answer) {
    var watch = watchFactory.open(api.endpoint(), call.headers());
    var id = CallHeaders.requestId(call.headers());
    RequestAccount account;
    try {
      account = admission.admit(api.endpoint());
    } catch (ApiException refusal) {
      watch.start(id);
      watch.end(refusal.error());
      throw refusal;
    }
    try {
      var request = new Serving(api, call, answer, id, account, watch);
      clockwork.blocking.execute(() -> run(request));
    } catch (RuntimeException | Error e) {
      var error = account.errorFor(e);
      account.end(error);
      watch.start(id);
      watch.end(error);
      throw e;
    }
  }

  /**
   * Ends every stream under way with {@code cause}, those too that are about to begin, and refuses
   * what waits for its turn; their clients are told.
   */
  public void abortAll(DynamoException cause) {
    aborted = cause;
    admission.refuseWaiting();
    inFlight.forEach(choices -> choices.abort(cause));
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

  private record Begun(RunningTexts running, AnswerFormat format) {}

  /** One request. Touched by its own thread only. */
  private final class Serving {
    private final Api api;
    private final IncomingRequest call;
    private final AnswerSink answer;
    private final RequestAccount account;
    private final RequestWatch watch;
    private final String id;
    private final Cancellation cancellation = new Cancellation();
    private final Deadline deadline = Deadline.after(settings.requestTimeout());
    private final ClientConnection client;
    private final BodyBudget.Share share = admission.bodies().open();
    private final long receivedMillis = clockwork.clock.millis();
    private final long receivedNanos = System.nanoTime();
    private boolean answered;
    private boolean writeFailed;
    private @Nullable DynamoException streamFailure;

    Serving(
        Api api,
        IncomingRequest call,
        AnswerSink answer,
        String id,
        RequestAccount account,
        RequestWatch watch) {
      this.api = api;
      this.call = call;
      this.answer = answer;
      this.account = account;
      this.watch = watch;
      this.id = id;
      account.onFirstToken(watch::recordFirstToken);
      this.client = new ClientConnection(call.local(), call.remote(), cancellation);
    }

    /** Answers; returns null when the client got what it asked for, else what it was told. */
    @Nullable ApiError serve() {
      watch.start(id);
      try {
        return generate();
      } catch (InterruptedException e) {
        try {
          return refuse(ApiError.unavailable("Service is shutting down", null));
        } finally {
          Thread.currentThread().interrupt(); // only now: writing would fail with it
        }
      } catch (ApiException | DynamoException e) {
        report(id, e);
        return refuse(account.errorFor(e));
      }
    }

    /** Ends a request whose serving threw; it is answered if it was not. Returns what was told. */
    ApiError fail(Throwable cause) {
      if (answered && cause instanceof RuntimeException) {
        LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(cause));
        writeFailed = true;
        return GONE;
      }
      LOG.log(Level.ERROR, "request " + id + " failed unexpectedly", FailureShape.of(cause));
      if (!answered) {
        try {
          refuse(INTERNAL);
        } catch (RuntimeException e) {
          LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
        }
      }
      return INTERNAL;
    }

    /**
     * Counts the request. One that was fully answered is a success, whatever its client did next.
     */
    void end(@Nullable ApiError outcome) {
      share.close();
      var error = outcome;
      if (outcome != null && (client.loss() != ClientConnection.Loss.NONE || writeFailed)) {
        account.recordDisconnect();
        error = GONE;
      }
      account.end(error);
      watch.end(error);
    }

    private ApiError refuse(ApiError error) {
      answered = true;
      answer.error(error);
      return error;
    }

    private @Nullable ApiError generate() throws InterruptedException {
      JsonBody.checkContentType(call.contentType());
      var begun = begin();
      if (begun == null) {
        return null;
      }
      try (var running = begun.running) {
        return generate(running, begun.format);
      }
    }

    /**
     * Null when all is said already. What it leaves holds nothing of the body that is not needed.
     */
    private @Nullable Begun begin() throws InterruptedException {
      var prepared =
          intake.take(
              new Intake.ReceivedRequest(
                  api, call, id, deadline, cancellation, account, share, watch));
      var format =
          prepared
              .parsed()
              .answerFormat(
                  prepared.context().id(),
                  clockwork.clock.instant().getEpochSecond(),
                  prepared.model().name(),
                  rules.reasoningField());
      if (prepared.parsed().fields().nvext().asksForRouteOnly()) {
        route(prepared, format);
        return null;
      }
      return new Begun(
          new RunningTexts(prepared, texts, deadline, account, workers, clockwork.timer), format);
    }

    private @Nullable ApiError generate(RunningTexts running, AnswerFormat format)
        throws InterruptedException {
      var choices = running.choices();
      try (var _ =
          cancellation.onCancel(
              level -> choices.abort(new CancelledException("the client left")))) {
        inFlight.add(choices);
        var cause = aborted;
        if (cause == null) {
          running.start(dispatcher);
        } else {
          choices.abort(cause);
        }
        return running.answerContext().fields().stream().events()
            ? events(running, format)
            : unary(running, format);
      } finally {
        inFlight.remove(choices);
        account(running);
      }
    }

    /** Tells what the generations took. */
    private void account(RunningTexts running) {
      var usage = running.choices().usage();
      var cached = usage.cachedTokens();
      if (cached != null) {
        account.recordCachedTokens(cached);
      }
      watch.recordUsage(usage, running.servingWorker());
      watch
          .stages()
          .recordDetokenization(running.choices().detokenizeNanos(), usage.completionTokens());
    }

    /** Says where the first prompt would be served, without a text. */
    private void route(PreparedRequest prepared, AnswerFormat format) {
      var prompt = prepared.prompts().getFirst();
      var trail = dispatcher.route(prepared.model(), prepared.request(0), prepared.context());
      var nvext = NvextText.route(trail, prompt.tokens());
      answered = true;
      if (prepared.parsed().fields().stream().events()) {
        var frames = new ByteText(512);
        format.chunk(frames, 0, "", true, null, null, null, nvext);
        AnswerFormat.done(frames);
        answer.events(frames::writeTo);
      } else {
        answer.json(
            format.unary(
                List.of(new AnswerFormat.CompletedChoice(0, "", null, null, null)), null, nvext));
      }
    }

    private @Nullable ApiError unary(RunningTexts running, AnswerFormat format)
        throws InterruptedException {
      var answerContext = running.answerContext();
      var openings = running.openings();
      var nvext = running.nvext(receivedMillis, receivedNanos);
      var folded = new UnaryAnswer(openings, running.logprobs(format, openings), nvext);
      folded.drain(running.choices());
      var body =
          format.unary(
              folded.best(answerContext.texts(), answerContext.fields().choices()),
              running.choices().hasReason() ? running.choices().usage() : null,
              nvext == null ? null : nvext.whole());
      answered = true;
      answer.json(body);
      return null;
    }

    private @Nullable ApiError events(RunningTexts running, AnswerFormat format)
        throws InterruptedException {
      var choices = running.choices();
      if (choices.await(settings.firstItemWait().toNanos())) {
        choices.peek(); // an early failure still has its status line
      }
      var openings = running.openings();
      var answerContext = running.answerContext();
      var fields = answerContext.fields();
      var sse =
          new SseWriter<>(
              choices,
              new ChunkEncoder(
                  format,
                  choices,
                  fields.stream(),
                  openings,
                  running.logprobs(format, openings),
                  running.nvext(receivedMillis, receivedNanos),
                  Annotations.prelude(
                      fields.nvext(),
                      answerContext.context().id(),
                      answerContext.prompts().getFirst())),
              settings.heartbeat(),
              rules.keepAlive(),
              client);
      answered = true;
      answer.events(
          out -> {
            try {
              streamFailure = sse.writeTo(out);
            } catch (IOException | RuntimeException e) {
              writeFailed = true; // the client left, or stopped reading; nobody to tell
              LOG.log(Level.DEBUG, "a stream could not be written", FailureShape.of(e));
            }
          });
      if (writeFailed) {
        return GONE;
      }
      if (streamFailure == null) {
        return null;
      }
      report(id, streamFailure);
      return account.errorFor(streamFailure);
    }
  }

  static ApiError notReady(String model) {
    return ApiError.unavailable(
        "Model `%s` is not ready to serve requests yet. The deployment may still be starting up or is not fully provisioned. Please retry shortly."
            .formatted(model),
        "model_not_ready");
  }

  /** Logs a failure once, without its texts: these may repeat what a client or a model said. */
  private static void report(String id, RuntimeException failure) {
    if (failure instanceof DeadlineExceededException) {
      LOG.log(Level.INFO, "request {0} was not done within its deadline", id);
    } else if (failure instanceof Failed && !(failure instanceof CancelledException)) {
      LOG.log(Level.WARNING, "request " + id + " failed", FailureShape.of(failure));
    } else if (failure instanceof WorkerLostException lost) {
      LOG.log(Level.WARNING, "request {0} lost its worker: {1}", id, lost.code());
    } else if (LOG.isLoggable(Level.DEBUG)) {
      var error = ApiError.of(failure);
      LOG.log(Level.DEBUG, "request {0} was refused: {1}, {2}", id, error.status(), error.code());
    }
  }
}
