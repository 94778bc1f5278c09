package io.dynamo.config.worker;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.key.Bound.atLeast;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.NAME;
import static io.dynamo.config.key.SettingType.NAMES;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The settings of a worker, in the order of the documentation. */
public final class WorkerKeys {
  private static final KeyList KEYS = new KeyList();

  public static final SettingKey<List<String>> MODELS =
      KEYS.key(
          "dynamo.worker.models",
          NAMES,
          "",
          none(),
          "several models in one server: `a,b` have `dynamo.worker.models.a.engine` and so on, any"
              + " setting of `dynamo.worker`; one not given is that of `dynamo.worker` itself, but"
              + " `model-name` and `component` are then the name");
  static final SettingKey<String> COMPONENT =
      KEYS.key(
          "dynamo.worker.component",
          NAME,
          "backend",
          none(),
          "second part of the worker's endpoint",
          plain("DYN_COMPONENT"));
  static final SettingKey<String> ENDPOINT =
      KEYS.key(
          "dynamo.worker.endpoint",
          NAME,
          "generate",
          none(),
          "third part of the worker's endpoint");
  static final SettingKey<Set<ModelApi>> APIS =
      KEYS.key(
          "dynamo.worker.endpoint-types",
          apis(),
          "",
          none(),
          "what the worker answers clients with; absent: chat and completions, and with the `llama`"
              + " engine embeddings, too",
          plain("DYN_ENDPOINT_TYPES"));
  static final SettingKey<EngineKind> ENGINE =
      KEYS.key(
          "dynamo.worker.engine",
          oneOf(EngineKind.class),
          "llama",
          none(),
          "what makes the tokens: the model in this process, a simulation, an echo of the prompt,"
              + " or the server of llama.cpp, vLLM, SGLang or TensorRT-LLM, or any with OpenAI's"
              + " API by text");
  static final SettingKey<Path> MODEL_PATH =
      KEYS.key(
          "dynamo.worker.model-path",
          PATH,
          "${server.config.dir}/models/tiny",
          none(),
          "a Hugging Face model directory",
          plain("DYN_MODEL_PATH"));
  static final SettingKey<String> MODEL_NAME =
      KEYS.key(
          "dynamo.worker.model-name",
          TEXT,
          "",
          none(),
          "the name that clients use; absent takes the directory's name",
          plain("DYN_MODEL_NAME"));
  static final SettingKey<String> TOOL_CALL_PARSER =
      KEYS.key(
          "dynamo.worker.tool-call-parser",
          TEXT,
          "",
          none(),
          "how the model writes tool calls, by Dynamo's name of the parser; none leaves them text;"
              + " absent takes what the chat template shows, with engines that run the model",
          plain("DYN_TOOL_CALL_PARSER"));
  static final SettingKey<String> REASONING_PARSER =
      KEYS.key(
          "dynamo.worker.reasoning-parser",
          TEXT,
          "",
          none(),
          "how the model marks its thoughts, by Dynamo's name of the parser; none leaves them text;"
              + " absent takes what the chat template shows, with engines that run the model",
          plain("DYN_REASONING_PARSER"));
  static final SettingKey<Integer> RANKS =
      KEYS.key(
          "dynamo.worker.ranks",
          INTEGER,
          "4",
          between(1, 1024),
          "data-parallel ranks, each with a KV cache of its own");
  static final SettingKey<Integer> BLOCK_TOKENS =
      KEYS.key(
          "dynamo.worker.block-tokens", INTEGER, "16", between(1, 4096), "tokens per KV block");
  static final SettingKey<Integer> BLOCKS_PER_RANK =
      KEYS.key(
          "dynamo.worker.blocks-per-rank",
          INTEGER,
          "2048",
          between(1, 1 << 24),
          "KV blocks that a rank of the mock engine can hold");
  static final SettingKey<Integer> BLOCK_BYTES =
      KEYS.key(
          "dynamo.worker.block-bytes",
          SIZE,
          "4KiB",
          sizeBetween(1, "1B", 1 << 30, "1GiB"),
          "a KV block of the mock engine in host memory");
  static final SettingKey<Duration> TOKEN_INTERVAL =
      KEYS.key(
          "dynamo.worker.token-interval",
          DURATION,
          "5ms",
          WAIT_OR_NEVER,
          "inter-token latency of the mock engine and the echo");
  static final SettingKey<Duration> PREFILL_PER_TOKEN =
      KEYS.key(
          "dynamo.worker.prefill-per-token",
          DURATION,
          "50us",
          WAIT_OR_NEVER,
          "the mock engine's time per prompt token that is not cached");
  static final SettingKey<Integer> MAX_RUNNING =
      KEYS.key(
          "dynamo.worker.max-running",
          INTEGER,
          "256",
          atLeast(1),
          "generations that a rank runs at once");
  static final SettingKey<String> ROUTER_CONFIG =
      KEYS.key(
          "dynamo.worker.router-config",
          TEXT,
          "",
          none(),
          "how routers are to choose among the workers of this model, JSON as `router_config` of a"
              + " model card; absent leaves it to the frontend");
  static final SettingKey<List<String>> TAINTS =
      KEYS.key(
          "dynamo.worker.taints",
          NAMES,
          "",
          none(),
          "what requests may require of the worker, or prefer, by `nvext.routing_constraints`; an"
              + " operator may replace them while it serves");
  static final SettingKey<String> HEALTH_PAYLOAD =
      KEYS.key(
          "dynamo.worker.health-payload",
          TEXT,
          "",
          none(),
          "what probes ask: a request in JSON as `generate` takes it, or `@` and a file with it;"
              + " absent asks for one token",
          plain("DYN_HEALTH_CHECK_PAYLOAD"));
  static final SettingKey<Integer> MAX_LORAS =
      KEYS.key(
          "dynamo.worker.max-loras",
          INTEGER,
          "16",
          between(1, 1024),
          "LoRA adapters loaded at once; none without `dynamo.system.lora-routes`");
  static final SettingKey<Duration> STALL_TIMEOUT =
      KEYS.key(
          "dynamo.worker.stall-timeout",
          DURATION,
          "30s",
          WAIT_OR_NEVER,
          "how long a rank may show no sign of life while somebody waits for its token; then its"
              + " requests go elsewhere and the worker leaves discovery until it answers; 0s for"
              + " ever",
          numbered("DYN_ENGINE_HEALTH_CHECK_TIMEOUT", "s"));
  static final SettingKey<Integer> LLAMA_BLOCKS_PER_RANK =
      KEYS.key(
          "dynamo.worker.llama.blocks-per-rank",
          INTEGER,
          "512",
          between(1, 1 << 24),
          "KV blocks that a rank of the `llama` engine can hold; their bytes follow from the"
              + " model");
  static final SettingKey<Integer> LLAMA_PASS_TOKENS =
      KEYS.key(
          "dynamo.worker.llama.pass-tokens",
          INTEGER,
          "256",
          between(1, 65536),
          "tokens that a forward pass of the `llama` engine computes at most");
  static final SettingKey<String> EMBEDDING_ENDPOINT =
      KEYS.key(
          "dynamo.worker.embedding.endpoint",
          NAME,
          "embed",
          none(),
          "third part of the endpoint of embeddings, where the worker generates too; one that only"
              + " embeds has them at `dynamo.worker.endpoint`");
  static final SettingKey<EmbeddingSettings.Pooling> EMBEDDING_POOLING =
      KEYS.key(
          "dynamo.worker.embedding.pooling",
          oneOf(EmbeddingSettings.Pooling.class),
          "last",
          none(),
          "how the `llama` engine makes one vector of the states of a prompt's tokens; servers of"
              + " other engines have an option of their own");
  static final SettingKey<Boolean> EMBEDDING_UNIT_LENGTH =
      KEYS.key(
          "dynamo.worker.embedding.unit-length",
          BOOLEAN,
          "true",
          none(),
          "whether vectors are scaled to length 1");

  private WorkerKeys() {}

  /** Returns the type of {@link #APIS}: as Dynamo reads them, which takes a plural, too. */
  private static SettingType<Set<ModelApi>> apis() {
    var set = SettingType.setOf(ModelApi.class);
    return new SettingType<>(
        set.name(), text -> set.parser().apply(text.replaceAll("(?i)embeddings", "embedding")));
  }

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
