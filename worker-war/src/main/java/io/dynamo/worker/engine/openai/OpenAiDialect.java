package io.dynamo.worker.engine.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Dialect;
import io.dynamo.worker.engine.remote.EngineAnswer;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.Options;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Speaks to any server with {@code /v1/completions}: text in and out, without token ids. */
public final class OpenAiDialect implements Dialect {
  static final String NAME = "OpenAI";
  private static final String MODELS = "/v1/models";
  private static final String COMPLETIONS = "/v1/completions";
  private static final int IDS_PER_TOKEN = 64; // a token of another vocabulary, spelled in this one
  private static final Duration PROBE = Duration.ofSeconds(60); // the first pass may compile

  private final RemoteWishes wishes;
  private final int modelPositions;
  private final int defaultBlockTokens;
  private final TextVocabulary vocabulary;
  private volatile @Nullable ProbedModel served; // of the latest ask

  /**
   * The model of the server, and the results of a probe of it.
   *
   * @param model name of the model at the server
   * @param ignoresEos whether it accepts {@code ignore_eos}, which is not of OpenAI's API
   */
  private record ProbedModel(String model, boolean ignoresEos) {}

  /**
   * @param modelPositions positions of the model, where the server does not say
   * @param defaultBlockTokens tokens per block by which routers count, without a setting
   * @param vocabulary of the model that the server serves
   */
  public OpenAiDialect(
      RemoteWishes wishes, int modelPositions, int defaultBlockTokens, TextVocabulary vocabulary) {
    this.wishes = wishes;
    this.modelPositions = modelPositions;
    this.defaultBlockTokens = defaultBlockTokens;
    this.vocabulary = vocabulary;
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
    var first = served(http, wishes.model());
    var name = first.text("id");
    served = new ProbedModel(name, probe(http, name));
    var positions = first.optionalCount("max_model_len");
    int context = positions == null ? modelPositions : positions;
    int blockTokens = Objects.requireNonNullElse(wishes.blockTokens(), defaultBlockTokens);
    long room = (long) context * wishes.maxRunning() / blockTokens;
    var blocks = wishes.blocksPerRank();
    return new RemoteFacts(
        context,
        blockTokens,
        blocks == null ? Math.clamp(room, 1, Integer.MAX_VALUE) : blocks,
        1,
        wishes.maxRunning(),
        null,
        List.of());
  }

  /**
   * Returns the server's entry of a model.
   *
   * @param wanted null takes its first
   * @throws IllegalArgumentException when it does not serve that one
   */
  static JsonObject served(EngineHttp http, @Nullable String wanted)
      throws IOException, InterruptedException {
    var models = http.get(MODELS);
    requireUsable(MODELS, models);
    var names = new ArrayList<String>();
    for (var one : Json.readObject(models.body()).optionalObjects("data")) {
      names.add(one.text("id"));
      if (wanted == null || wanted.equals(names.getLast())) {
        return one;
      }
    }
    throw new IllegalArgumentException(
        wanted == null
            ? "it serves no model"
            : "it serves %s, dynamo.worker.remote.model is %s".formatted(names, wanted));
  }

  /**
   * Generates one token; returns whether {@code ignore_eos} is accepted.
   *
   * @throws IllegalArgumentException when the server does not answer with text
   */
  private static boolean probe(EngineHttp http, String name)
      throws IOException, InterruptedException {
    var body =
        JsonObject.ordered("model", name, "prompt", "a", "max_tokens", 1, "ignore_eos", true);
    var answer = http.post(COMPLETIONS, Json.write(body), PROBE);
    boolean accepted = answer.statusCode() != 400 && answer.statusCode() != 422;
    if (!accepted) {
      body.remove("ignore_eos");
      answer = http.post(COMPLETIONS, Json.write(body), PROBE);
    }
    requireUsable(COMPLETIONS, answer);
    var choices = Json.readObject(answer.body()).optionalObjects("choices");
    if (choices.isEmpty() || !(choices.getFirst().members().get("text") instanceof String)) {
      throw new IllegalArgumentException("/v1/completions answers without text");
    }
    return accepted;
  }

  /** Waits for a server that is loading or busy, and gives up on one that refuses. */
  private static void requireUsable(String path, EngineAnswer answer)
      throws EngineHttp.NotReadyException {
    int status = answer.statusCode();
    if (status == 429 || status == 503) {
      throw new EngineHttp.NotReadyException(path + " answers " + status);
    }
    if (status != 200) {
      throw new IllegalArgumentException(
          "%s answers %d: %s%s"
              .formatted(
                  path,
                  status,
                  EngineHttp.shown(answer.body()),
                  status == 401 || status == 403 ? "; see dynamo.worker.remote.key-file" : ""));
    }
  }

  @Override
  public Call call(GenerateRequest request, int budget, @Nullable Integer rank) {
    var known = served;
    if (known == null) {
      throw new IllegalStateException("the server was not asked yet");
    }
    refuseIds(request);
    var prompt = vocabulary.promptText(request.tokenIds());
    if (prompt.isEmpty()) {
      throw new InvalidRequestException(
          "the prompt's %d tokens have no text, and the server is asked by text"
              .formatted(request.tokenIds().length));
    }
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("model", known.model());
    body.put("prompt", prompt);
    body.put("max_tokens", budget);
    body.put("stream", true);
    body.put("stream_options", Map.of("include_usage", true));
    Options.addSampling(body, request, wishes.vocabulary());
    Options.put(body, "seed", Options.seed(request));
    if (request.stop().ignoreEos()) {
      if (known.ignoresEos()) {
        body.put("ignore_eos", true);
      } else if (budget > 1) { // the only token of a probe may be the end
        throw new InvalidRequestException(
            "ignore_eos is set, and this model's server refuses it: leave it out");
      }
    }
    Options.put(body, "min_tokens", request.stop().minTokens());
    return new Call(
        COMPLETIONS, Json.write(body), Map.of(), new OpenAiReader(vocabulary), most(budget), null);
  }

  /** Returns how many ids may stand for {@code budget} tokens of the server's vocabulary. */
  private static int most(int budget) {
    return (int) Math.min(Integer.MAX_VALUE, (long) IDS_PER_TOKEN * budget);
  }

  /** Refuses options that only a server driven by token ids can follow. */
  private void refuseIds(GenerateRequest request) {
    refuse("stop_token_ids", Options.clientStops(request).length > 0);
    refuse("logprobs", request.output().logprobs() != null);
    refuse("logit_bias", !Options.bias(request, wishes.vocabulary()).isEmpty());
    refuse("guided_decoding", request.sampling().guided() != null);
    refuse("max_thinking_tokens", request.stop().maxThinkingTokens() != null);
  }

  private static void refuse(String option, boolean asked) {
    if (asked) {
      throw new InvalidRequestException(
          "%s is set, and this model's server is asked by text, without token ids: leave it out"
              .formatted(option));
    }
  }

  @Override
  public DynamoException refusal(int status, byte[] body) {
    return Refusal.of(NAME, status, body);
  }

  @Override
  public void clearCache(EngineHttp http) {
    throw new IllegalStateException("OpenAI's API has no call that clears a server's cache");
  }

  @Override
  public void loadAdapter(EngineHttp http, String name, Path directory) {
    throw new IllegalArgumentException(
        "OpenAI's API has no call that loads an adapter; load %s at the server".formatted(name));
  }

  @Override
  public void unloadAdapter(EngineHttp http, String name) {
    // none was loaded
  }
}
