package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Execution;
import io.dynamo.config.frontend.ApiSettings;
import io.dynamo.config.frontend.Coalescing;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.discovery.EndpointId;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.Embedder;
import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.frontend.dispatch.WholeAnswers;
import io.dynamo.frontend.media.MediaFixture;
import io.dynamo.frontend.postprocess.TextAssembler;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.TaskOutput;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.LoraAdapter;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.request.RequestContext;
import io.dynamo.trace.Tracing;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A frontend with one model, {@code script}, whose worker sends scripted items. */
final class FrontendFixture implements AutoCloseable, Dispatcher, Embedder, ModelCatalog {
  static final InetSocketAddress CLIENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);

  /** The answer to one request. */
  static class Recorded implements AnswerSink {
    int status;
    @Nullable ApiError error;
    final ByteArrayOutputStream body = new ByteArrayOutputStream();
    OutputStream wire = body;
    boolean events;
    String contentType = "";
    boolean isCut; // in the middle of a stream of parts
    @Nullable String metadata;
    Runnable afterBody = () -> {};

    @Override
    public void error(ApiError failure) {
      once(failure.status());
      error = failure;
      body.writeBytes(failure.body());
    }

    @Override
    public void json(byte[] json) {
      once(200);
      body.writeBytes(json);
    }

    @Override
    public void whole(WholeBody answer) {
      once(answer.status());
      contentType = answer.contentType();
      metadata = answer.metadata();
      body.writeBytes(answer.bytes());
    }

    @Override
    public void parts(String type, PartsBody parts) {
      once(200);
      contentType = type;
      try {
        isCut = !parts.writeTo(wire);
        afterBody.run();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void events(StreamBody stream) {
      once(200);
      events = true;
      try {
        stream.writeTo(wire);
        afterBody.run();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void once(int with) {
      if (status != 0) {
        throw new AssertionError("answered twice: " + status + " and " + with);
      }
      status = with;
    }

    String text() {
      return body.toString(StandardCharsets.UTF_8);
    }
  }

  /** Settings without any rule of the operator. */
  static final ApiSettings NO_RULES = rules(DispatchEvents.NONE);

  /** Settings without any rule of the operator but further events of streams. */
  static ApiSettings rules(DispatchEvents dispatches) {
    return new ApiSettings(
        false,
        false,
        true,
        "x-dynamo-meta-",
        null,
        null,
        Duration.ZERO,
        ApiSettings.ReasoningField.REASONING_CONTENT,
        dispatches,
        true,
        null,
        Duration.ZERO,
        null,
        null,
        null);
  }

  /** Settings of a frontend that stores no responses. */
  static final ResponsesSettings NOT_STORED =
      new ResponsesSettings(
          Storing.OFF,
          null,
          null,
          null,
          Path.of("none"),
          Duration.ofDays(1),
          1,
          1,
          1,
          1,
          new ConversationBounds(100, 1 << 20));

  final ResponseStore stored;
  final Metrics metrics = new Metrics();
  final Stages stages;
  final BodyBudget bodies;
  boolean allBusy;
  final RequestAdmission admission;
  final DisconnectWatcher watcher;
  private final Preprocessor preprocessor = new Preprocessor(1, 4);
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  final TextService completions;
  final FakeLoads loads = new FakeLoads();
  final WorkerGauges workers = new WorkerGauges(loads, _ -> true, metrics);

  @Nullable Dispatcher through; // instead of the scripts
  int migrationLimit;

  /** The name of the adapter; null for a model itself. */
  @Nullable LoraAdapter lora;

  boolean tinyTokens; // ids mean what they meant in the captures
  @Nullable TokenTable table; // of the model, instead of code points
  Api api = TextService.CHAT;
  int promptTokens = 5;
  int maxTokenChars = 1000;
  int tokenCopies = 1; // of a character in its token
  int @Nullable [] promptIds; // instead of so many zeros
  long createdSeconds = 1_795_217_895;
  List<EngineOutput> items = List.of();
  @Nullable DynamoException failure; // after the items; null completes
  boolean endless; // after the items, nothing
  boolean endlessFirst; // the first text's worker says no more
  boolean workerCancelled;
  int delivered; // items of the last request
  boolean ready = true;
  Set<String> modelTypes = Set.of("Chat", "Completions");
  Map<String, @Nullable Object> runtimeConfig = Map.of();
  Runnable whileRendering = () -> {};
  @Nullable RuntimeException templateFault;
  @Nullable RuntimeException tokenizerFault;
  boolean interrupts; // the request's thread, while the prompt is rendered
  final CountDownLatch renderEnds = new CountDownLatch(1); // when it interrupts
  @Nullable Error workerError;
  final Thread server = Thread.currentThread();
  @Nullable ChatPrompt prompt;
  @Nullable String encoded; // the text of the last prompt
  @Nullable GenerateRequest asked; // last
  @Nullable EmbeddingRequest askedForEmbeddings; // last
  Function<EmbeddingRequest, EmbeddingOutput> embeds = _ -> new EmbeddingOutput(List.of(), 0);
  String modelInput = "Tokens";
  String modelName = "script";
  Map<String, @Nullable Object> tensorConfig = Map.of();
  @Nullable TensorRequest askedTensors; // last
  Function<TensorRequest, List<TensorResponse>> tensors = _ -> List.of();
  @Nullable BodyTask askedTask; // last
  Function<BodyTask, TaskOutput> tasks = _ -> new TaskOutput(null);
  @Nullable List<TaskOutput> taskItems; // instead of the one of tasks
  @Nullable DynamoException taskFailure; // after the items; null completes
  final List<GenerateRequest> allAsked = new ArrayList<>();
  final List<RequestContext> contexts = new ArrayList<>();
  List<List<EngineOutput>> scripts = List.of(); // of the texts in turn; empty is items for all
  @Nullable RequestContext context;

  FrontendFixture() {
    this(Tracing.OFF);
  }

  FrontendFixture(Tracing tracing) {
    this(
        Duration.ofSeconds(30),
        FakeHangUps.unwatched(),
        4096,
        FrontendAdmission.STANDARD,
        Runnable::run,
        NO_RULES,
        tracing,
        NOT_STORED);
  }

  /** A frontend that stores responses. */
  FrontendFixture(ResponsesSettings responses) {
    this(
        Duration.ofSeconds(30),
        FakeHangUps.unwatched(),
        4096,
        FrontendAdmission.STANDARD,
        Runnable::run,
        NO_RULES,
        Tracing.OFF,
        responses);
    stored.start();
  }

  FrontendFixture(Duration requestTimeout, DisconnectWatcher watcher) {
    this(requestTimeout, watcher, 4096);
  }

  FrontendFixture(Duration requestTimeout, DisconnectWatcher watcher, int bodyLimit) {
    this(requestTimeout, watcher, bodyLimit, FrontendAdmission.STANDARD, Runnable::run);
  }

  FrontendFixture(ApiSettings rules) {
    this(
        Duration.ofSeconds(30),
        FakeHangUps.unwatched(),
        4096,
        FrontendAdmission.STANDARD,
        Runnable::run,
        rules,
        Tracing.OFF,
        NOT_STORED);
  }

  FrontendFixture(
      Duration requestTimeout,
      DisconnectWatcher watcher,
      int bodyLimit,
      FrontendAdmission bounds,
      Executor blocking) {
    this(requestTimeout, watcher, bodyLimit, bounds, blocking, NO_RULES, Tracing.OFF, NOT_STORED);
  }

  /** A frontend that holds tokens to send them together. */
  FrontendFixture(Coalescing coalescing) {
    this(
        Duration.ofSeconds(30),
        FakeHangUps.unwatched(),
        4096,
        FrontendAdmission.STANDARD,
        Runnable::run,
        NO_RULES,
        Tracing.OFF,
        NOT_STORED,
        coalescing,
        RequestRecords.OFF);
  }

  /** A frontend that stores responses and records requests. */
  FrontendFixture(ResponsesSettings responses, RequestRecords records) {
    this(
        Duration.ofSeconds(30),
        FakeHangUps.unwatched(),
        4096,
        FrontendAdmission.STANDARD,
        Runnable::run,
        NO_RULES,
        Tracing.OFF,
        responses,
        Coalescing.NONE,
        records);
    stored.start();
  }

  FrontendFixture(
      Duration requestTimeout,
      DisconnectWatcher watcher,
      int bodyLimit,
      FrontendAdmission bounds,
      Executor blocking,
      ApiSettings rules,
      Tracing tracing,
      ResponsesSettings responses) {
    this(
        requestTimeout,
        watcher,
        bodyLimit,
        bounds,
        blocking,
        rules,
        tracing,
        responses,
        Coalescing.NONE,
        RequestRecords.OFF);
  }

  private FrontendFixture(
      Duration requestTimeout,
      DisconnectWatcher watcher,
      int bodyLimit,
      FrontendAdmission bounds,
      Executor blocking,
      ApiSettings rules,
      Tracing tracing,
      ResponsesSettings responses,
      Coalescing coalescing,
      RequestRecords records) {
    this.stages = new Stages(metrics, tracing);
    this.stored =
        new ResponseStore(responses, () -> Instant.ofEpochSecond(createdSeconds), metrics);
    this.watcher = watcher;
    bodies = new BodyBudget(new BodyBudget.Limits(64L * bodyLimit, 16L * bodyLimit, 1024));
    admission = new RequestAdmission(64, bounds, bodies, _ -> allBusy, metrics);
    var settings =
        new FrontendSettings(
            3,
            4,
            bodyLimit,
            Duration.ofSeconds(60),
            requestTimeout,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            Duration.ofHours(1),
            Duration.ofHours(1),
            1,
            0,
            bounds,
            true,
            responses,
            coalescing,
            MediaFixture.SETTINGS,
            Duration.ZERO);
    completions =
        new TextService(
            settings,
            new EdgeRules(rules),
            new TextService.Gate(
                admission, watcher, new RequestWatch.WatchFactory(stages, true, records)),
            new TextService.Models(
                this, this, new WholeAnswers(this, this::open, this::openTensors), workers),
            new TextService.TextParts(
                preprocessor,
                MediaFixture.intake(blocking, timer, metrics),
                (tokens, stop, eos, include, skip) ->
                    new TextAssembler(tokens, stop, eos, include, skip)::accept),
            stored,
            new Execution(blocking, timer, () -> Instant.ofEpochSecond(createdSeconds)));
    admission.open();
  }

  Recorded post(byte[] body, Map<String, String> headers) {
    return post(body, headers, new Recorded());
  }

  Recorded post(byte[] body, Map<String, String> headers, Recorded answer) {
    return post(new ByteArrayInputStream(body), body.length, headers, answer);
  }

  Recorded post(InputStream body, long length, Map<String, String> headers, Recorded answer) {
    completions.serve(
        api,
        new IncomingRequest(
            headers.getOrDefault("content-type", "application/json"),
            length,
            headers,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 8000),
            CLIENT,
            body),
        answer);
    return answer;
  }

  Recorded post(String body) {
    return post(body.getBytes(StandardCharsets.UTF_8), Map.of());
  }

  @Override
  public List<ServedModel> models() {
    return List.of(model());
  }

  @Override
  public Optional<ServedModel> find(String name) {
    return ready && name.equals(modelName) ? Optional.of(model()) : Optional.empty();
  }

  @Override
  public List<ServedModel> sets(String name) {
    return find(name).stream().toList();
  }

  @Override
  public Optional<ServedModel> choose(String name, Query query) {
    return find(name).filter(model -> query.takes(model.card()));
  }

  @Override
  public List<ServedModel> successors(ServedModel lost) {
    return List.of();
  }

  @Override
  public boolean isKnown(String name) {
    return name.equals(modelName);
  }

  @Override
  public SequencedMap<String, Set<String>> waiting() {
    return new TreeMap<>(ready ? Map.of() : Map.of(modelName, modelTypes));
  }

  @Override
  public Optional<Readiness> readiness(String name) {
    return isKnown(name)
        ? Optional.of(
            new Readiness(
                List.of(
                    new Readiness.Namespace(
                        "dynamo",
                        ready ? null : "no worker is live",
                        List.of(new Readiness.WorkerType("aggregated", ready ? 1 : 0, List.of())),
                        List.of()))))
        : Optional.empty();
  }

  private ServedModel model() {
    var card =
        TestCard.named(modelName)
            .contextLength(1000)
            .migrationLimit(migrationLimit)
            .modelTypes(modelTypes)
            .modelInput(modelInput)
            .tensorConfig(tensorConfig)
            .runtimeConfig(runtimeConfig)
            .build();
    return new ServedModel(
        lora == null ? card : card.of(lora),
        new EndpointId("dynamo", modelName, "generate"),
        new CodePoints(this),
        17);
  }

  @Override
  public EmbeddingOutput embed(ServedModel model, EmbeddingRequest request, RequestContext given) {
    askedForEmbeddings = request;
    context = given;
    return embeds.apply(request);
  }

  private AnswerItems<TaskOutput> open(ServedModel model, BodyTask task, RequestContext given) {
    askedTask = task;
    return new ScriptedItems<>(
        taskItems == null ? List.of(tasks.apply(task)) : taskItems, taskFailure, endless);
  }

  private AnswerItems<TensorResponse> openTensors(
      ServedModel model, TensorRequest request, RequestContext given) {
    askedTensors = request;
    contexts.add(given);
    return new ScriptedItems<>(tensors.apply(request), taskFailure, endless);
  }

  @Override
  public RouteTrace route(ServedModel model, GenerateRequest request, RequestContext given) {
    asked = request;
    return through == null ? new RouteTrace() : through.route(model, request, given);
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(
      ServedModel model, GenerateRequest request, RequestContext given, RouteTrace trail) {
    if (through != null) {
      return through.generate(model, request, given, trail);
    }
    if (workerError != null) {
      throw workerError;
    }
    asked = request;
    allAsked.add(request);
    context = given;
    contexts.add(given);
    delivered = 0;
    var says = scripts.isEmpty() ? items : scripts.get((allAsked.size() - 1) % scripts.size());
    return subscriber -> subscriber.onSubscribe(new Script(subscriber, says));
  }

  private final class Script implements Flow.Subscription {
    private final Flow.Subscriber<? super EngineOutput> to;
    private final List<EngineOutput> items;
    private final boolean hangs = endless || (endlessFirst && allAsked.size() == 1);
    private int at;
    private long demand;
    private boolean emitting;
    private boolean over;

    Script(Flow.Subscriber<? super EngineOutput> to, List<EngineOutput> items) {
      this.to = to;
      this.items = items;
    }

    @Override
    public void request(long count) {
      demand = demand + count < 0 ? Long.MAX_VALUE : demand + count;
      if (emitting) {
        return;
      }
      emitting = true;
      while (!over && at < items.size() && demand > 0) {
        demand--;
        delivered++;
        to.onNext(items.get(at++));
      }
      if (!over && at == items.size() && !hangs) {
        over = true;
        if (failure == null) {
          to.onComplete();
        } else {
          to.onError(failure);
        }
      }
      emitting = false;
    }

    @Override
    public void cancel() {
      if (!over) {
        over = true;
        workerCancelled = true;
      }
    }
  }

  /** The cancellation of the last request to a worker. */
  Cancellation cancellation() {
    if (context == null) {
      throw new AssertionError("no worker was asked");
    }
    return context.cancellation();
  }

  @Override
  public void close() {
    preprocessor.close();
    watcher.close();
    timer.shutdownNow();
    stored.close();
  }

  /** Waits until all requests have ended, and closes the frontend. */
  void closeIdle() {
    assertThat(admission.admitted()).as("requests that never ended").isZero();
    assertThat(metrics.level(FrontendMetrics.INFLIGHT, new Label("model", modelName)).value())
        .isZero();
    close();
  }
}
