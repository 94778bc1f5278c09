package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.Execution;
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
import io.dynamo.frontend.dispatch.WholeAnswers;
import io.dynamo.frontend.media.MediaIntake;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.watch.RequestWatch;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Serves the APIs that answer with generated text. Each request has a virtual thread of its own
 * from its body's first byte to its answer's last; it is the only thread that blocks for it. Safe
 * for concurrent use.
 */
public final class TextService {
  private static final System.Logger LOG = System.getLogger(TextService.class.getName());

  private static final int MOST_FOLLOW_UPS = 64;
  private static final Duration LONGEST_FOLLOW_UP = Duration.ofSeconds(30);

  static final Api CHAT = new ChatApi();
  static final Api COMPLETIONS = new CompletionApi();
  static final Api RESPONSES = new ResponsesApi(false);
  static final Api RESPONSES_COUNT = new ResponsesApi(true);
  static final Api MESSAGES = new MessagesApi(false);
  static final Api MESSAGES_COUNT = new MessagesApi(true);
  static final Api EMBEDDINGS = new EmbeddingsApi();
  static final Api RERANK = new TaskApi(TaskRequest.Kind.RERANK);
  static final Api CLASSIFY = new TaskApi(TaskRequest.Kind.CLASSIFY);
  static final Api POOLING = new TaskApi(TaskRequest.Kind.POOLING);
  static final Api IMAGES = new TaskApi(TaskRequest.Kind.IMAGES);
  static final Api IMAGE_EDITS = new TaskApi(TaskRequest.Kind.IMAGE_EDITS);
  static final Api VIDEOS = new TaskApi(TaskRequest.Kind.VIDEOS);
  static final Api VIDEO_FRAMES = new TaskApi(TaskRequest.Kind.VIDEO_FRAMES);
  static final Api SPEECH = new TaskApi(TaskRequest.Kind.SPEECH);
  static final Api TOKENIZE = new TokenizeApi();
  static final Api DETOKENIZE = new DetokenizeApi();
  static final Api VLLM_GENERATE = new NativeApi(NativeApi.Engine.VLLM);
  static final Api SGLANG_GENERATE = new NativeApi(NativeApi.Engine.SGLANG);

  private final FollowUps followUps = new FollowUps(MOST_FOLLOW_UPS, LONGEST_FOLLOW_UP);
  private final Gate gate;
  private final ServingParts parts;
  private volatile @Nullable Passage passage;

  /**
   * Requests that another service answers: those with a header whose value is a secret.
   *
   * @param header in lower case
   * @param to null when that service is over: requests that are late are refused, and seen by
   *     nobody
   */
  public record Passage(String header, String secret, @Nullable TextService to) {
    private boolean takes(Map<String, String> headers) {
      var shown = headers.get(header);
      return shown != null
          && MessageDigest.isEqual(
              shown.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** The models and the ways to their workers. */
  public record Models(
      ModelCatalog catalog, Dispatcher dispatcher, WholeAnswers whole, WorkerGauges gauges) {}

  /** The makers of prompts, with their media, and of answers' text. */
  public record TextParts(Preprocessor preprocessor, MediaIntake media, TextPipe.Factory pipes) {}

  /**
   * The parts that see each request come and go.
   *
   * @param watcher notices clients that hang up
   * @param watches measure and log requests
   */
  public record Gate(
      RequestAdmission admission, DisconnectWatcher watcher, RequestWatch.WatchFactory watches) {}

  public TextService(
      FrontendSettings settings,
      EdgeRules rules,
      Gate gate,
      Models models,
      TextParts text,
      ResponseStore responses,
      Execution execution) {
    this.gate = gate;
    this.parts =
        new ServingParts(
            settings,
            rules,
            new Intake(
                settings,
                rules,
                models.catalog(),
                text.preprocessor(),
                text.media(),
                new Continuations(responses, execution.clock(), settings.bodyLimitBytes())),
            models,
            text.pipes(),
            execution,
            new ActiveAnswers(),
            new Windows(settings.coalescing(), execution.timer()));
  }

  /** Lets another service answer the requests of {@code next}. */
  public void passOn(Passage next) {
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
      var to = others.to();
      if (to == null) {
        throw new ApiException(ApiError.unavailable("the service of this request is over", null));
      }
      return to.accept(api, http, answer);
    }
    var watch = gate.watches().open(api.endpoint(), http.headers());
    var id = CallHeaders.requestId(http.headers());
    RequestAccount account;
    try {
      account = gate.admission().admit(api.endpoint());
    } catch (ApiException refusal) {
      watch.start(id);
      watch.end(refusal.error());
      throw refusal;
    }
    var cancellation = new Cancellation();
    var share = gate.admission().bodies().open();
    account.whenDisplaced(share::giveUp);
    try {
      var received =
          new ReceivedRequest(
              api,
              http,
              id,
              deadline(http),
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

  private Deadline deadline(IncomingRequest http) {
    var deadline = Deadline.after(parts.settings().requestTimeout());
    return http.patience() == null ? deadline : deadline.within(http.patience());
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
      try {
        request.end(outcome);
        followUp(request, outcome);
      } finally {
        request.release();
      }
    }
  }

  /** Prefills the next turn, unless clients wait for workers, or many turns are prefilled. */
  private void followUp(TextRequest request, @Nullable ApiError outcome) {
    if (outcome == null && request.hasFollowUp() && !gate.admission().hasWaiting()) {
      var _ = followUps.run(request::followUp);
    }
  }

  private Cancellation.Registration watch(ClientConnection client) {
    return client.remote().equals(IncomingRequest.NO_CONNECTION)
        ? () -> {} // nobody who could hang up
        : gate.watcher().watch(client);
  }

  /**
   * Ends every stream under way, and every one that begins later, with {@code cause}, and refuses
   * waiting requests. Their clients get an error.
   */
  public void abortAll(DynamoException cause) {
    parts.active().abortAll(cause);
    followUps.end();
    gate.admission().refuseWaiting();
  }

  static ApiError notReady(String model) {
    return ApiError.unavailable(
        "Model `%s` is not ready to serve requests yet. The deployment may still be starting up or is not fully provisioned. Please retry shortly."
            .formatted(model),
        "model_not_ready");
  }
}
