package io.dynamo.worker.engine.vllm;

import io.dynamo.error.DynamoException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.RenderedSample;
import io.dynamo.worker.engine.remote.AdapterListing;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.Dialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.GuidedForms;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to vLLM's server: token ids in and out over {@code /v1/completions}. */
public final class VllmDialect implements Dialect, AdapterListing, SampleSource, ServerSleep {
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

  private final RemoteWishes wishes;
  private final VllmSleep sleep;
  private volatile @Nullable VllmFacts facts; // of the latest ask

  /** Makes one whose server no other engine of the worker has put to sleep. */
  public VllmDialect(RemoteWishes wishes) {
    this(wishes, new ServerMemory());
  }

  /**
   * @param memory shared by all engines that the worker makes before this server, one after another
   */
  public VllmDialect(RemoteWishes wishes, ServerMemory memory) {
    this.wishes = wishes;
    this.sleep = new VllmSleep(memory, ADAPTERS);
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
    var reported = VllmFacts.ask(http, wishes.model());
    facts = reported;
    if (!reported.priorities()) {
      LOG.log(
          Level.INFO,
          "vLLM at {0} has no priority scheduling: priorities of requests count in the router"
              + " alone",
          http.base());
    }
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
    var adapter = Options.hint(request, "lora_name");
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("model", adapter == null ? known.model() : adapter);
    body.put("prompt", request.tokenIds());
    body.put("add_special_tokens", false);
    body.put("max_tokens", budget);
    body.put("stream", true);
    body.put("stream_options", Map.of("include_usage", true));
    body.put("return_token_ids", true);
    body.put("skip_special_tokens", false);
    Options.addSampling(body, request, wishes.vocabulary());
    Options.put(body, "seed", Options.seed(request));
    var bias = Options.bias(request, wishes.vocabulary());
    if (!bias.isEmpty()) {
      body.put("logit_bias", bias);
    }
    var stop = request.stop();
    body.put("stop_token_ids", Options.stops(request));
    body.put("ignore_eos", stop.ignoreEos());
    Options.put(body, "min_tokens", stop.minTokens());
    Options.put(body, "thinking_token_budget", stop.maxThinkingTokens());
    var alternatives = request.output().logprobs();
    if (alternatives != null) {
      body.put("logprobs", alternatives);
      body.put("return_tokens_as_token_ids", true);
    }
    Options.put(body, "structured_outputs", guided(request.sampling().guided()));
    Options.put(body, "cache_salt", Options.hint(request, "cache_salt"));
    Options.put(body, "kv_transfer_params", transfer(request));
    if (known.priorities()
        && request.routing().passedOn().get("priority") instanceof Number priority) {
      body.put("priority", -priority.longValue()); // vLLM runs lower numbers first
    }
    return new Call(
        "/v1/completions",
        Json.write(body),
        rank == null ? Map.of() : Map.of("X-data-parallel-rank", rank.toString()),
        new VllmReader(Options.clientStops(request), alternatives == null ? 0 : alternatives),
        budget,
        null);
  }

  private static @Nullable Map<String, @Nullable Object> guided(@Nullable GuidedDecoding form) {
    if (form == null) {
      return null;
    }
    GuidedForms.refuseBackend(NAME, form);
    var guided = new LinkedHashMap<String, @Nullable Object>();
    Options.put(guided, "json", form.json());
    Options.put(guided, "regex", form.regex());
    Options.put(guided, "choice", form.choice().isEmpty() ? null : form.choice());
    Options.put(guided, "grammar", form.grammar());
    Options.put(guided, "structural_tag", GuidedForms.asText(form.structuralTag()));
    if (guided.isEmpty()) {
      return null;
    }
    GuidedForms.requireOne(guided.keySet());
    Options.put(guided, "whitespace_pattern", form.whitespacePattern());
    return guided;
  }

  /**
   * Returns the parameters that the prefill worker handed over, or those that the client passes to
   * the connector.
   */
  private static @Nullable Object transfer(GenerateRequest request) {
    var prefill = request.handoff().prefill();
    if (prefill != null && prefill.params() instanceof Map<?, ?> params) {
      return params.get("kv_transfer_params");
    }
    return request.extraArgs().get("kv_transfer_params");
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
    ADAPTERS.load(http, name, directory);
  }

  @Override
  public void unloadAdapter(EngineHttp http, String name) throws IOException, InterruptedException {
    ADAPTERS.unload(http, name);
  }
}
