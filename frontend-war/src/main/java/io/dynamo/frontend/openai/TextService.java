package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.Embedder;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.watch.RequestWatch;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.Map;
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
  static final Api RESPONSES = new ResponsesApi(false);
  static final Api RESPONSES_COUNT = new ResponsesApi(true);
  static final Api MESSAGES = new MessagesApi(false);
  static final Api MESSAGES_COUNT = new MessagesApi(true);
  static final Api EMBEDDINGS = new EmbeddingsApi();
  static final Api TOKENIZE = new TokenizeApi();
  static final Api DETOKENIZE = new DetokenizeApi();
  static final Api VLLM_GENERATE = new NativeApi(NativeApi.Engine.VLLM);
  static final Api SGLANG_GENERATE = new NativeApi(NativeApi.Engine.SGLANG);

  private final RequestAdmission admission;
  private final DisconnectWatcher watcher;
  private final RequestWatch.WatchFactory watchFactory;
  private final ServingParts parts;
  private volatile @Nullable Passage passage;

  /**
   * Requests that another service answers: those with a header whose value is a secret.
   *
   * @param header in lower case
   */
  public record Passage(String header, String secret, TextService to) {
    private boolean takes(Map<String, String> headers) {
      var shown = headers.get(header);
      return shown != null
          && MessageDigest.isEqual(
              shown.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8));
    }
  }

  /**
   * The threads and the clock that requests use.
   *
   * @param blocking runs each task on a virtual thread of its own
   * @param timer for tasks that never wait
   * @param clock of the times in answers
   */
  public record Execution(Executor blocking, ScheduledExecutorService timer, InstantSource clock) {}

  public TextService(
      FrontendSettings settings,
      EdgeRules rules,
      ModelCatalog catalog,
      Dispatcher dispatcher,
      Embedder embedder,
      Preprocessor preprocessor,
      TextPipe.Factory pipes,
      RequestAdmission admission,
      DisconnectWatcher watcher,
      Execution execution,
      RequestWatch.WatchFactory watchFactory,
      WorkerGauges workers,
      ResponseStore responses) {
    this.admission = admission;
    this.watcher = watcher;
    this.watchFactory = watchFactory;
    this.parts =
        new ServingParts(
            settings,
            rules,
            new Intake(
                settings,
                rules,
                catalog,
                preprocessor,
                new Conversations(responses, execution.clock(), settings.bodyLimitBytes())),
            dispatcher,
            embedder,
            pipes,
            workers,
            execution,
            new ActiveChoices(),
            new Windows(settings.coalescing(), execution.timer()));
  }

  /** Lets another service answer the requests of {@code next}; null ends that. */
  public void passOn(@Nullable Passage next) {
    passage = next;
  }

  /** Accepts or refuses a request and returns at once; {@code answer} is used on another thread. */
  void serve(Api api, IncomingRequest http, AnswerSink answer) {
    try {
      var _ = accept(api, http, answer);
    } catch (ApiException refusal) {
      parts.execution().blocking().execute(() -> refuse(answer, refusal.error()));
    }
  }

  /**
   * Accepts a request and returns at once; {@code answer} is used on another thread.
   *
   * @return ends the request when it is cancelled
   * @throws ApiException when there is no room for the request; {@code answer} is not used then
   */
  Cancellation accept(Api api, IncomingRequest http, AnswerSink answer) {
    var others = passage;
    if (others != null && others.takes(http.headers())) {
      return others.to().accept(api, http, answer);
    }
    var watch = watchFactory.open(api.endpoint(), http.headers());
    var id = CallHeaders.requestId(http.headers());
    RequestAccount account;
    try {
      account = admission.admit(api.endpoint());
    } catch (ApiException refusal) {
      watch.start(id);
      watch.end(refusal.error());
      throw refusal;
    }
    var cancellation = new Cancellation();
    var share = admission.bodies().open();
    account.whenDisplaced(share::giveUp);
    try {
      var received =
          new ReceivedRequest(
              api,
              http,
              id,
              Deadline.after(parts.settings().requestTimeout()),
              cancellation,
              account,
              share,
              watch,
              parts.execution().clock().millis(),
              System.nanoTime());
      var request = new TextRequest(parts, received, answer);
      parts.execution().blocking().execute(() -> run(request));
      return cancellation;
    } catch (RuntimeException | Error e) {
      var error = account.errorFor(e);
      account.end(error);
      watch.start(id);
      watch.end(error);
      throw e;
    }
  }

  private static void refuse(AnswerSink answer, ApiError error) {
    try {
      answer.error(error);
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "a refusal could not be written", FailureShape.of(e));
    }
  }

  private void run(TextRequest request) {
    ApiError outcome = TextRequest.INTERNAL;
    try (var _ = watch(request.client())) {
      outcome = request.serve();
    } catch (Throwable e) { // no caller above would answer
      outcome = request.fail(e);
    } finally {
      request.end(outcome);
    }
  }

  private Cancellation.Registration watch(ClientConnection client) {
    return client.remote().equals(IncomingRequest.NO_CONNECTION)
        ? () -> {} // nobody who could hang up
        : watcher.watch(client);
  }

  /**
   * Ends every stream under way, and every one that begins later, with {@code cause}, and refuses
   * waiting requests. Their clients get an error.
   */
  public void abortAll(DynamoException cause) {
    parts.active().abortAll(cause);
    admission.refuseWaiting();
  }

  static ApiError notReady(String model) {
    return ApiError.unavailable(
        "Model `%s` is not ready to serve requests yet. The deployment may still be starting up or is not fully provisioned. Please retry shortly."
            .formatted(model),
        "model_not_ready");
  }
}
