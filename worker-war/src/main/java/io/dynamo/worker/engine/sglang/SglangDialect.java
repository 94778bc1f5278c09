package io.dynamo.worker.engine.sglang;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
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
import io.dynamo.worker.engine.remote.LoadSource;
import io.dynamo.worker.engine.remote.Options;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.SampleSource;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerSleep;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Speaks to SGLang's server: token ids in and out over {@code /generate}. */
public final class SglangDialect
    implements Dialect, AdapterListing, SampleSource, ServerSleep, LoadSource {
  static final String NAME = "SGLang";
  private static final Duration RENDERING = Duration.ofSeconds(10);
  private static final Duration COMMAND = Duration.ofSeconds(60);
  private static final AdapterRoutes ADAPTERS =
      new AdapterRoutes(
          NAME, "/load_lora_adapter", "/unload_lora_adapter", "start it with --enable-lora");

  private final RemoteWishes wishes;
  private final ServerMemory memory;
  private final SglangSleep sleep;
  private volatile @Nullable SglangFacts facts; // of the latest ask

  /** Makes one whose server no other engine of the worker has put to sleep. */
  public SglangDialect(RemoteWishes wishes) {
    this(wishes, new ServerMemory());
  }

  /**
   * @param memory shared by all engines that the worker makes before this server, one after another
   */
  public SglangDialect(RemoteWishes wishes, ServerMemory memory) {
    this.wishes = wishes;
    this.memory = memory;
    this.sleep = new SglangSleep(memory, ADAPTERS);
  }

  @Override
  public List<ServerLoad> load(EngineHttp http) throws IOException, InterruptedException {
    var known = facts;
    return known == null ? List.of() : SglangLoads.ask(http, known.ranks());
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
    var reported = SglangFacts.ask(http, wishes.model());
    facts = reported;
    return new RemoteFacts(
        reported.positions(),
        wishes.blockTokens(reported.blockTokens()),
        wishes.blocksPerRank(reported.blocksPerRank()),
        reported.ranks(),
        Objects.requireNonNullElse(reported.maxRunning(), wishes.maxRunning()),
        reported.passTokens(),
        wishes.events(reported.events(), reported.ranks()));
  }

  @Override
  public Call call(GenerateRequest request, int budget, @Nullable Integer rank) {
    var known = facts;
    if (known == null) {
      throw new IllegalStateException("the server was not asked yet");
    }
    var id = UUID.randomUUID().toString();
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("rid", id);
    body.put("input_ids", request.tokenIds());
    body.put("sampling_params", sampling(request, budget));
    body.put("stream", true);
    var alternatives = request.output().logprobs();
    if (alternatives != null) {
      body.put("return_logprob", true);
      body.put("top_logprobs_num", alternatives);
    }
    Options.put(body, "lora_path", Options.hint(request, "lora_name"));
    Options.put(body, "extra_key", Options.hint(request, "cache_salt"));
    Options.put(body, "routed_dp_rank", rank);
    Options.put(body, "data_parallel_rank", rank); // its name in earlier versions
    if (known.priority() != 0
        && request.routing().passedOn().get("priority") instanceof Number priority) {
      body.put("priority", known.priority() * priority.longValue());
    }
    var meeting = request.handoff().bootstrap();
    if (meeting != null) {
      body.put("bootstrap_host", meeting.host());
      body.put("bootstrap_port", meeting.port());
      body.put("bootstrap_room", meeting.room());
    }
    return new Call(
        "/generate",
        Json.write(body),
        Map.of(),
        new SglangReader(Options.clientStops(request), alternatives == null ? 0 : alternatives),
        budget,
        new Abort("/abort_request", Json.write(Map.of("rid", id))));
  }

  private Map<String, @Nullable Object> sampling(GenerateRequest request, int budget) {
    var sampling = new LinkedHashMap<String, @Nullable Object>();
    sampling.put("max_new_tokens", budget);
    Options.addSampling(sampling, request, wishes.vocabulary());
    Options.put(sampling, "sampling_seed", Options.seed(request));
    var bias = Options.bias(request, wishes.vocabulary());
    if (!bias.isEmpty()) {
      sampling.put(
          "logit_bias",
          bias.entrySet().stream()
              .collect(Collectors.toMap(entry -> entry.getKey().toString(), Map.Entry::getValue)));
    }
    var stop = request.stop();
    sampling.put("stop_token_ids", Options.stops(request));
    sampling.put("ignore_eos", stop.ignoreEos());
    Options.put(sampling, "min_new_tokens", stop.minTokens());
    if (stop.maxThinkingTokens() != null) {
      throw new InvalidRequestException(
          "max_thinking_tokens is %d; SGLang has no such limit, so leave it out"
              .formatted(stop.maxThinkingTokens()));
    }
    sampling.put("skip_special_tokens", false);
    addForm(sampling, request.sampling().guided());
    return sampling;
  }

  private static void addForm(Map<String, @Nullable Object> to, @Nullable GuidedDecoding form) {
    if (form == null) {
      return;
    }
    GuidedForms.refuseBackend(NAME, form);
    GuidedForms.refuse(NAME, "guided_decoding.whitespace_pattern", form.whitespacePattern());
    var forms = new LinkedHashMap<String, @Nullable Object>();
    Options.put(forms, "json_schema", text(form.json()));
    Options.put(forms, "regex", form.regex());
    Options.put(forms, "ebnf", form.grammar());
    Options.put(forms, "structural_tag", text(form.structuralTag()));
    if (!form.choice().isEmpty()) {
      forms.put("choice", form.choice());
    }
    GuidedForms.requireOne(forms.keySet());
    if (forms.remove("choice") != null) {
      forms.put("regex", GuidedForms.alternatives(form.choice()));
    }
    to.putAll(forms);
  }

  /** Returns a JSON value as text; text itself unchanged. */
  private static @Nullable String text(@Nullable Object value) {
    return switch (GuidedForms.asText(value)) {
      case null -> null;
      case String text -> text;
      default ->
          throw new InvalidRequestException(
              "a form of guided_decoding is neither an object nor text");
    };
  }

  /** {@inheritDoc} A text, as the server renders no conversation without an answer. */
  @Override
  public @Nullable RenderedSample sample(EngineHttp http) throws IOException, InterruptedException {
    var known = facts;
    var body =
        JsonObject.ordered(
            "model",
            known == null ? "" : known.model(),
            "prompt",
            RenderedSample.TEXT,
            "add_special_tokens",
            false);
    var answer = http.post("/v1/tokenize", Json.write(body), RENDERING);
    return answer.statusCode() == 200
        ? RenderedSample.ofText(Json.readObject(answer.body()).list("tokens"))
        : null;
  }

  @Override
  public DynamoException refusal(int status, byte[] body) {
    return Refusal.of(NAME, status, body);
  }

  @Override
  public void clearCache(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.post("/flush_cache", new byte[0], COMMAND);
    if (answer.statusCode() != 200) {
      throw new IllegalStateException(
          "SGLang answers %d to /flush_cache: %s; it flushes only while no request runs"
              .formatted(answer.statusCode(), EngineHttp.shown(answer.body())));
    }
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
