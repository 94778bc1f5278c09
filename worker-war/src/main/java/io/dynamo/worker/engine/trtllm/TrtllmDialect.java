package io.dynamo.worker.engine.trtllm;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Dialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.GuidedForms;
import io.dynamo.worker.engine.remote.Options;
import io.dynamo.worker.engine.remote.PolledEvents;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Speaks to TensorRT-LLM's server, {@code trtllm-serve}: token ids in and out over {@code
 * /v1/completions}, which refuses members that it does not know.
 */
public final class TrtllmDialect implements Dialect, PolledEvents {
  static final String NAME = "TensorRT-LLM";
  static final String COMPLETIONS = "/v1/completions";
  private static final String TRANSFER = "disaggregated_params";
  private static final String PHASE = "request_type";

  private final RemoteWishes wishes;
  private final int modelPositions;
  private volatile @Nullable TrtllmFacts facts; // of the latest ask

  /**
   * @param modelPositions positions of the model by its files, as the server does not say
   */
  public TrtllmDialect(RemoteWishes wishes, int modelPositions) {
    this.wishes = wishes;
    this.modelPositions = modelPositions;
  }

  @Override
  public String engine() {
    return NAME;
  }

  @Override
  public String metricsPath() {
    return "/prometheus/metrics";
  }

  @Override
  public RemoteFacts ask(EngineHttp http) throws IOException, InterruptedException {
    var found = TrtllmFacts.ask(http, wishes);
    facts = found;
    return new RemoteFacts(
        modelPositions,
        wishes.blockTokens(found.blockTokens()),
        wishes.blocksPerRank(found.blocks()),
        1,
        Objects.requireNonNullElse(found.maxRunning(), wishes.maxRunning()),
        null,
        wishes.events(List.of(), 1));
  }

  private TrtllmFacts requireFacts() {
    var known = facts;
    if (known == null) {
      throw new IllegalStateException("the server was not asked yet");
    }
    return known;
  }

  @Override
  public boolean publishesEvents() {
    return requireFacts().events() && wishes.events() == null;
  }

  @Override
  public RemoteEvents.RemoteEventSubscription follow(
      EngineHttp http, RemoteFacts limits, EngineBlocks blocks) {
    var following = new TrtllmEvents(http, limits, blocks);
    following.start();
    return following;
  }

  @Override
  public Call call(GenerateRequest request, int budget, @Nullable Integer rank) {
    refuse("cache_salt", Options.hint(request, "cache_salt") != null);
    refuse("lora_name", Options.hint(request, "lora_name") != null);
    var alternatives = request.output().logprobs();
    refuse("top_logprobs", alternatives != null && alternatives > 0);
    var transfer = transfer(request);
    // the answer to a context phase is not streamed: no message of a stream has its parameters
    boolean context = transfer != null && "context_only".equals(transfer.get(PHASE));
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("model", requireFacts().model());
    body.put("prompt", request.tokenIds());
    body.put("add_special_tokens", false);
    body.put("max_tokens", budget);
    body.put("detokenize", false);
    body.put("skip_special_tokens", false);
    if (!context) {
      body.put("stream", true);
      body.put("stream_options", Map.of("include_usage", true));
    }
    Options.addSampling(body, request, wishes.vocabulary());
    body.replace("top_k", -1, 0); // all tokens
    Options.put(body, "seed", Options.seed(request));
    var bias = Options.bias(request, wishes.vocabulary());
    if (!bias.isEmpty()) {
      body.put(
          "logit_bias",
          bias.entrySet().stream()
              .collect(Collectors.toMap(entry -> entry.getKey().toString(), Map.Entry::getValue)));
    }
    var stop = request.stop();
    body.put("stop_token_ids", Options.stops(request));
    body.put("ignore_eos", stop.ignoreEos());
    Options.put(body, "min_tokens", stop.minTokens());
    Options.put(body, "thinking_token_budget", stop.maxThinkingTokens());
    if (alternatives != null) {
      body.put("logprobs", 1); // 0 would be none
    }
    Options.put(body, "response_format", format(request.sampling().guided()));
    Options.put(body, TRANSFER, transfer);
    return new Call(
        COMPLETIONS,
        Json.write(body),
        Map.of(),
        new TrtllmReader(Options.clientStops(request)),
        budget,
        null);
  }

  private static void refuse(String option, boolean asked) {
    if (asked) {
      throw new InvalidRequestException(
          "%s is set, and trtllm-serve's API cannot follow it: leave it out".formatted(option));
    }
  }

  private static @Nullable Map<String, @Nullable Object> format(@Nullable GuidedDecoding form) {
    if (form == null) {
      return null;
    }
    GuidedForms.refuseBackend(NAME, form);
    GuidedForms.refuse(NAME, "guided_decoding.whitespace_pattern", form.whitespacePattern());
    var forms = new LinkedHashMap<String, Map<String, @Nullable Object>>();
    if (form.json() != null) {
      forms.put("json", typed("json", "schema", object(form.json())));
    }
    if (form.regex() != null) {
      forms.put("regex", typed("regex", "regex", form.regex()));
    }
    if (form.grammar() != null) {
      forms.put("grammar", typed("ebnf", "ebnf", form.grammar()));
    }
    if (!form.choice().isEmpty()) {
      forms.put("choice", typed("regex", "regex", GuidedForms.alternatives(form.choice())));
    }
    if (form.structuralTag() != null) {
      var tag = object(form.structuralTag());
      if (!tag.containsKey("format")) {
        throw new InvalidRequestException(
            "guided_decoding.structural_tag has no member format, which TensorRT-LLM needs");
      }
      forms.put("structural_tag", typed("structural_tag", "format", tag.get("format")));
    }
    GuidedForms.requireOne(forms.keySet());
    return forms.isEmpty() ? null : forms.values().iterator().next();
  }

  private static Map<String, @Nullable Object> typed(
      String type, String member, @Nullable Object value) {
    var format = new LinkedHashMap<String, @Nullable Object>();
    format.put("type", type);
    format.put(member, value);
    return format;
  }

  private static Map<String, @Nullable Object> object(@Nullable Object form) {
    if (form instanceof Map<?, ?> map) {
      return JsonObject.of(map).members();
    }
    try {
      return Json.readObject(String.valueOf(form).getBytes(StandardCharsets.UTF_8)).members();
    } catch (IllegalArgumentException e) {
      throw new InvalidRequestException(
          "a form of guided_decoding is no JSON object: " + e.getMessage());
    }
  }

  /**
   * Returns the parameters that the prefill worker's engine handed over, or those that the client
   * passes on.
   */
  private static @Nullable Map<String, @Nullable Object> transfer(GenerateRequest request) {
    var prefill = request.handoff().prefill();
    if (prefill != null && prefill.params() instanceof Map<?, ?> params) {
      var given = new LinkedHashMap<String, @Nullable Object>();
      given.putAll(JsonObject.of(params).members());
      given.put(PHASE, "generation_only");
      return given;
    }
    return request.extraArgs().get(TRANSFER) instanceof Map<?, ?> params
        ? JsonObject.of(params).members()
        : null;
  }

  @Override
  public DynamoException refusal(int status, byte[] body) {
    return Refusal.of(NAME, status, body);
  }

  @Override
  public void clearCache(EngineHttp http) {
    throw new IllegalStateException("trtllm-serve has no call that clears its cache");
  }

  @Override
  public void loadAdapter(EngineHttp http, String name, Path directory) {
    throw new IllegalArgumentException(
        "trtllm-serve has no call that loads an adapter; %s cannot be served".formatted(name));
  }

  @Override
  public void unloadAdapter(EngineHttp http, String name) {
    // none was loaded
  }
}
