package io.dynamo.worker.engine.vllm;

import io.dynamo.error.DynamoException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.RenderedSample;
import io.dynamo.worker.engine.remote.AdapterListing;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.Dialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource;
import io.dynamo.worker.engine.remote.Options;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.SampleSource;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerSleep;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Speaks to vLLM's server: token ids in and out over {@code /inference/v1/generate} where it is
 * offered, else over {@code /v1/completions}.
 */
public final class VllmDialect
    implements Dialect, AdapterListing, SampleSource, ServerSleep, LoadSource {
  static final String NAME = "vLLM";
  private static final System.Logger LOG = System.getLogger(VllmDialect.class.getName());
  private static final AdapterRoutes ADAPTERS =
      new AdapterRoutes(
          NAME,
          "/v1/load_lora_adapter",
          "/v1/unload_lora_adapter",
          "start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=true");
  private static final Duration COMMAND = Duration.ofSeconds(60);
  private static final Duration CLEARING = Duration.ofSeconds(5); // while requests end
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
  private static final Duration RENDERING = Duration.ofSeconds(10);
  private static final String TOKENIZE = "/tokenize";

  /** Whether the route without text is used where the server offers it. */
  public enum TokenRoute {
    IF_OFFERED,
    NEVER
  }

  private final RemoteWishes wishes;
  private final TokenRoute route;
  private final VllmRequests requests;
  private final ServerMemory memory;
  private final VllmSleep sleep;
  private volatile @Nullable VllmFacts facts; // of the latest ask

  /** Makes one whose server no other engine of the worker has put to sleep. */
  public VllmDialect(RemoteWishes wishes) {
    this(wishes, TokenRoute.IF_OFFERED, Map.of(), new ServerMemory());
  }

  /**
   * @param defaults of sampling options, by their names, where the server's route has none
   * @param memory shared by all engines that the worker makes before this server, one after another
   */
  public VllmDialect(
      RemoteWishes wishes, TokenRoute route, Map<String, Number> defaults, ServerMemory memory) {
    this.wishes = wishes;
    this.route = route;
    this.requests = new VllmRequests(wishes.vocabulary(), defaults);
    this.memory = memory;
    this.sleep = new VllmSleep(memory, ADAPTERS);
  }

  @Override
  public List<ServerLoad> load(EngineHttp http) throws IOException, InterruptedException {
    var known = facts;
    return known == null ? List.of() : VllmLoads.ask(http, known.ranks());
  }

  @Override
  public String engine() {
    return NAME;
  }

  @Override
  public String metricsPath() {
    return "/metrics";
  }

  @Override
  public RemoteFacts ask(EngineHttp http) throws IOException, InterruptedException {
    http.requireOk("/health");
    sleep.wake(http); // asleep it would answer nothing
    var reported = VllmFacts.ask(http, wishes.model(), route);
    facts = reported;
    if (!reported.priorities()) {
      LOG.log(
          Level.INFO,
          "vLLM at {0} has no priority scheduling: priorities of requests count in the router"
              + " alone",
          http.base());
    }
    LOG.log(
        Level.DEBUG,
        "vLLM at {0} is asked over {1}",
        http.base(),
        reported.tokenRoute() ? VllmFacts.TOKENS : VllmFacts.COMPLETIONS);
    return new RemoteFacts(
        reported.positions(),
        wishes.blockTokens(reported.blockTokens()),
        wishes.blocksPerRank(reported.blocksPerRank()),
        reported.ranks(),
        wishes.maxRunning(),
        null,
        wishes.events(reported.events(), reported.ranks()));
  }

  private VllmFacts requireFacts() {
    var known = facts;
    if (known == null) {
      throw new IllegalStateException("the server was not asked yet");
    }
    return known;
  }

  @Override
  public Call call(GenerateRequest request, int budget, @Nullable Integer rank) {
    var known = requireFacts();
    var alternatives = request.output().logprobs();
    boolean tokensOnly = known.tokenRoute() && VllmRequests.fitsTokens(request);
    return new Call(
        tokensOnly ? VllmFacts.TOKENS : VllmFacts.COMPLETIONS,
        tokensOnly
            ? requests.tokens(request, known, budget)
            : requests.completion(request, known, budget),
        rank == null ? Map.of() : Map.of("X-data-parallel-rank", rank.toString()),
        new VllmReader(Options.clientStops(request), alternatives == null ? 0 : alternatives),
        budget,
        null);
  }

  /** {@inheritDoc} A text where the server has no chat template. */
  @Override
  public @Nullable RenderedSample sample(EngineHttp http) throws IOException, InterruptedException {
    var model = requireFacts().model();
    var chat = JsonObject.ordered("model", model, "messages", RenderedSample.MESSAGES);
    var answer = http.post(TOKENIZE, Json.write(chat), RENDERING);
    if (answer.statusCode() == 200) {
      return RenderedSample.ofConversation(tokens(answer.body()));
    }
    var text =
        JsonObject.ordered(
            "model", model, "prompt", RenderedSample.TEXT, "add_special_tokens", false);
    answer = http.post(TOKENIZE, Json.write(text), RENDERING);
    return answer.statusCode() == 200 ? RenderedSample.ofText(tokens(answer.body())) : null;
  }

  private static List<?> tokens(byte[] answer) {
    return Json.readObject(answer).list("tokens");
  }

  @Override
  public DynamoException refusal(int status, byte[] body) {
    return Refusal.of(NAME, status, body);
  }

  /**
   * {@inheritDoc} The server clears nothing while a request holds blocks, one that was cancelled a
   * moment ago among them, so it is asked again for some seconds.
   */
  @Override
  public void clearCache(EngineHttp http) throws IOException, InterruptedException {
    long until = System.nanoTime() + CLEARING.toNanos();
    while (!clearOnce(http)) {
      if (System.nanoTime() - until >= 0) {
        throw new IllegalStateException(
            "vLLM has not cleared its cache within %s: it does so only while no request runs; try again when there are none"
                .formatted(CLEARING));
      }
      Thread.sleep(BETWEEN_TRIES);
    }
  }

  /** Returns whether the cache is clear; older servers do not say. */
  private static boolean clearOnce(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.post("/reset_prefix_cache", new byte[0], COMMAND);
    if (answer.statusCode() != 200) {
      throw new IllegalStateException(
          "vLLM answers %d to /reset_prefix_cache; start it with VLLM_SERVER_DEV_MODE=1"
              .formatted(answer.statusCode()));
    }
    return answer.body().length == 0
        || !Boolean.FALSE.equals(Json.readObject(answer.body()).members().get("success"));
  }

  @Override
  public void sleep(EngineHttp http, boolean weightsToo) throws IOException, InterruptedException {
    sleep.sleep(http, weightsToo);
  }

  @Override
  public Map<String, Path> adapters(EngineHttp http) throws IOException, InterruptedException {
    return ADAPTERS.list(http);
  }

  @Override
  public void loadAdapter(EngineHttp http, String name, Path directory)
      throws IOException, InterruptedException {
    ADAPTERS.load(http, memory.adapters(), name, directory);
  }

  @Override
  public void unloadAdapter(EngineHttp http, String name) throws IOException, InterruptedException {
    ADAPTERS.unload(http, memory.adapters(), name);
  }
}
