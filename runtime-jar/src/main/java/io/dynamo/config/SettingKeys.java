package io.dynamo.config;

import static io.dynamo.config.Bound.PORT;
import static io.dynamo.config.Bound.WAIT;
import static io.dynamo.config.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.Bound.atLeast;
import static io.dynamo.config.Bound.between;
import static io.dynamo.config.Bound.none;
import static io.dynamo.config.Bound.sizeBetween;
import static io.dynamo.config.SettingType.BOOLEAN;
import static io.dynamo.config.SettingType.DURATION;
import static io.dynamo.config.SettingType.INTEGER;
import static io.dynamo.config.SettingType.IP_LITERAL;
import static io.dynamo.config.SettingType.NAME;
import static io.dynamo.config.SettingType.NAMES;
import static io.dynamo.config.SettingType.PATH;
import static io.dynamo.config.SettingType.PATHS;
import static io.dynamo.config.SettingType.SIZE;
import static io.dynamo.config.SettingType.TEXT;
import static io.dynamo.config.SettingType.oneOf;
import static io.dynamo.config.SettingType.setOf;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Every setting there is, in the order of the documentation. */
final class SettingKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Set<Role>> ROLES =
      KEYS.key(
          "dynamo.roles",
          setOf(Role.class),
          "frontend,router,worker",
          none(),
          "what this server plays");
  static final SettingKey<String> NAMESPACE =
      KEYS.key("dynamo.namespace", NAME, "dynamo", none(), "first part of every endpoint's name");
  static final SettingKey<String> HTTP_HOST =
      KEYS.key(
          "dynamo.http.host",
          TEXT,
          "127.0.0.1",
          none(),
          "where the HTTP port is bound; off loopback only with `dynamo.http.tls.client-authorities`"
              + " or `dynamo.security.insecure`");
  static final SettingKey<Integer> HTTP_PORT =
      KEYS.key("dynamo.http.port", INTEGER, "8000", PORT, "the HTTP port");
  static final SettingKey<Integer> HTTP_MAX_CONNECTIONS =
      KEYS.key(
          "dynamo.http.max-connections",
          INTEGER,
          "16384",
          between(1, 1_000_000),
          "connections that the HTTP port holds open; more are closed at once");
  static final SettingKey<Path> HTTP_TLS_CERTIFICATE =
      KEYS.key(
          "dynamo.http.tls.certificate",
          PATH,
          "",
          none(),
          "PEM chain of the HTTP port, its own certificate first; the port then speaks TLS and"
              + " nothing else");
  static final SettingKey<Path> HTTP_TLS_KEY =
      KEYS.key(
          "dynamo.http.tls.key",
          PATH,
          "",
          none(),
          "PEM key of the HTTP port's certificate, without a password");
  static final SettingKey<Path> HTTP_TLS_CLIENT_AUTHORITIES =
      KEYS.key(
          "dynamo.http.tls.client-authorities",
          PATH,
          "",
          none(),
          "PEM certificates that clients are checked against; the HTTP port then demands one");
  static final SettingKey<Boolean> INSECURE =
      KEYS.key(
          "dynamo.security.insecure",
          BOOLEAN,
          "false",
          none(),
          "allows addresses off loopback without authentication");
  static final SettingKey<Boolean> OPEN_PLANES =
      KEYS.key(
          "dynamo.security.open-planes",
          BOOLEAN,
          "false",
          none(),
          "allows planes off loopback that do not authenticate their peers, such as ZeroMQ");
  static final SettingKey<Duration> INHIBITED_DURATION =
      KEYS.key(
          "dynamo.runtime.inhibited-duration",
          DURATION,
          "5s",
          WAIT_OR_NEVER,
          "how long an instance is set aside after a failure; 0s never");
  static final SettingKey<Duration> DRAIN_TIMEOUT =
      KEYS.key(
          "dynamo.runtime.drain-timeout",
          DURATION,
          "25s",
          WAIT_OR_NEVER,
          "how long running streams may take to end when the server stops; the server itself waits 30s");
  static final SettingKey<Duration> HANDOVER_AFTER =
      KEYS.key(
          "dynamo.runtime.handover-after",
          DURATION,
          "5s",
          WAIT_OR_NEVER,
          "when a draining worker begins to hand streams that it may not finish within the drain to"
              + " other workers, if there are any");
  static final SettingKey<List<Path>> NATIVE_EXTRACT_DIR =
      KEYS.key(
          "dynamo.native.extract-dir",
          PATHS,
          "${java.io.tmpdir},${server.output.dir}",
          none(),
          "where the native library may be unpacked, tried in order");

  static final SettingKey<DiscoverySettings.Backend> DISCOVERY_BACKEND =
      KEYS.key(
          "dynamo.discovery.backend",
          oneOf(DiscoverySettings.Backend.class),
          "memory",
          none(),
          "who keeps the records of instances and models");
  static final SettingKey<Path> DISCOVERY_FILE_ROOT =
      KEYS.key(
          "dynamo.discovery.file-root",
          PATH,
          "${TMPDIR:/tmp}/dynamo_store_kv",
          none(),
          "the store of the file backend, shared by all processes");
  static final SettingKey<Duration> DISCOVERY_LEASE_TTL =
      KEYS.key(
          "dynamo.discovery.lease-ttl",
          DURATION,
          "10s",
          between(Duration.ofSeconds(2), "2s", Duration.ofHours(1), "1h"),
          "how long a record outlives the last sign of life of its owner; Dynamo's own processes assume 10s");

  static {
    KEYS.addAll(TcpKeys.all());
  }

  static final SettingKey<EventSettings.Plane> EVENT_PLANE =
      KEYS.key(
          "dynamo.event.plane",
          oneOf(EventSettings.Plane.class),
          "zmq",
          none(),
          "how events travel; local stays within this server");
  static final SettingKey<Integer> EVENT_QUEUE_CAPACITY =
      KEYS.key(
          "dynamo.event.queue-capacity",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events held per publisher and per subscription; more are dropped and counted");
  static final SettingKey<Integer> EVENT_QUEUE_BYTES =
      KEYS.key(
          "dynamo.event.queue-bytes",
          SIZE,
          "256MiB",
          sizeBetween(1 << 20, "1MiB", 1 << 30, "1GiB"),
          "bytes of their payloads, per publisher and per subscription; more are dropped and"
              + " counted");
  static final SettingKey<String> EVENT_ZMQ_BIND =
      KEYS.key(
          "dynamo.event.zmq.bind",
          IP_LITERAL,
          "127.0.0.1",
          none(),
          "where publishers are bound; off loopback only with `dynamo.security.open-planes`");
  static final SettingKey<String> EVENT_ZMQ_HOST =
      KEYS.key(
          "dynamo.event.zmq.host",
          TEXT,
          "",
          none(),
          "what others are told to connect to; absent takes the bound address");
  static final SettingKey<Integer> EVENT_ZMQ_HIGH_WATER_MARK =
      KEYS.key(
          "dynamo.event.zmq.high-water-mark",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events held per connection on each side; more are dropped");
  static final SettingKey<Integer> EVENT_ZMQ_MAX_MESSAGE =
      KEYS.key(
          "dynamo.event.zmq.max-message",
          SIZE,
          "16MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "one event on the wire; a publisher that announces more is disconnected");
  static final SettingKey<ZmqBroker> EVENT_ZMQ_BROKER =
      KEYS.key(
          "dynamo.event.zmq.broker",
          new SettingType<>("xsub=tcp://host:port[;…], xpub=tcp://host:port[;…]", ZmqBroker::parse),
          "",
          none(),
          "what events go through: any XSUB/XPUB proxy, several for safety; absent, publishers are"
              + " found through discovery");

  static {
    KEYS.addAll(RouterKeys.all());
  }

  static final SettingKey<Integer> MIGRATION_LIMIT =
      KEYS.key(
          "dynamo.frontend.migration-limit",
          INTEGER,
          "3",
          between(0, 1000),
          "how often one generation may move to another worker");
  static final SettingKey<Integer> FRONTEND_MAX_CONCURRENT_REQUESTS =
      KEYS.key(
          "dynamo.frontend.max-concurrent-requests",
          INTEGER,
          "4096",
          between(1, 1_000_000),
          "requests of all models at once, waiting ones included; more are answered 503");
  static final SettingKey<Integer> BODY_LIMIT =
      KEYS.key(
          "dynamo.frontend.body-limit",
          SIZE,
          "45MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "a request body");
  static final SettingKey<Duration> UPLOAD_TIMEOUT =
      KEYS.key(
          "dynamo.frontend.upload-timeout",
          DURATION,
          "60s",
          WAIT,
          "how long a request body may take to arrive; then it is answered 408");
  static final SettingKey<Duration> REQUEST_TIMEOUT =
      KEYS.key("dynamo.frontend.request-timeout", DURATION, "10m", WAIT, "a generation's deadline");
  static final SettingKey<Duration> FIRST_ITEM_WAIT =
      KEYS.key(
          "dynamo.frontend.first-item-wait",
          DURATION,
          "500ms",
          WAIT_OR_NEVER,
          "how long the status line waits for the first item");
  static final SettingKey<Duration> HEARTBEAT =
      KEYS.key(
          "dynamo.frontend.heartbeat",
          DURATION,
          "500ms",
          WAIT,
          "between comments on a stream without its first token");
  static final SettingKey<Duration> WRITE_STALL =
      KEYS.key(
          "dynamo.frontend.write-stall",
          DURATION,
          "30s",
          WAIT,
          "how long a stream may go without progress of its reader");
  static final SettingKey<Duration> DISCONNECT_POLL =
      KEYS.key(
          "dynamo.frontend.disconnect-poll",
          DURATION,
          "20ms",
          WAIT,
          "between looks at connections whose client may have hung up");
  static final SettingKey<Integer> PREPROCESS_THREADS =
      KEYS.key(
          "dynamo.frontend.preprocess-threads",
          INTEGER,
          "0",
          between(0, 1024),
          "templates and tokenizers at work at once; 0 is one per core");
  static final SettingKey<Integer> PREFIX_CACHE_BYTES =
      KEYS.key(
          "dynamo.frontend.prefix-cache-bytes",
          SIZE,
          "64MiB",
          sizeBetween(0, "0", 1 << 30, "1GiB"),
          "memory for the token ids of parts of prompts, all models together; 0 encodes every prompt whole");
  static final SettingKey<Boolean> REQUEST_LOG =
      KEYS.key(
          "dynamo.frontend.request-log",
          BOOLEAN,
          "true",
          none(),
          "whether each finished request is a line in the log, without its texts");

  static {
    KEYS.addAll(MetricsKeys.all());
    KEYS.addAll(TraceKeys.all());
  }

  static {
    KEYS.addAll(AdmissionKeys.all());
    KEYS.addAll(ApiKeys.all());
  }

  static final SettingKey<List<String>> MODELS =
      KEYS.key(
          "dynamo.worker.models",
          NAMES,
          "",
          none(),
          "several models in one server: `a,b` have `dynamo.worker.models.a.engine` and so on, any"
              + " setting of `dynamo.worker`; one not given is that of `dynamo.worker` itself, but"
              + " `model-name` and `component` are then the name");
  static final SettingKey<String> WORKER_COMPONENT =
      KEYS.key(
          "dynamo.worker.component",
          NAME,
          "backend",
          none(),
          "second part of the worker's endpoint");
  static final SettingKey<String> WORKER_ENDPOINT =
      KEYS.key(
          "dynamo.worker.endpoint",
          NAME,
          "generate",
          none(),
          "third part of the worker's endpoint");
  static final SettingKey<EngineKind> ENGINE =
      KEYS.key(
          "dynamo.worker.engine",
          oneOf(EngineKind.class),
          "llama",
          none(),
          "what makes the tokens: the model in this process, a simulation, an echo of the prompt, or"
              + " llama.cpp's server");
  static final SettingKey<Path> MODEL_PATH =
      KEYS.key(
          "dynamo.worker.model-path",
          PATH,
          "${server.config.dir}/models/tiny",
          none(),
          "a Hugging Face model directory");
  static final SettingKey<String> MODEL_NAME =
      KEYS.key(
          "dynamo.worker.model-name",
          TEXT,
          "",
          none(),
          "the name that clients use; absent takes the directory's name");
  static final SettingKey<String> TOOL_CALL_PARSER =
      KEYS.key(
          "dynamo.worker.tool-call-parser",
          TEXT,
          "",
          none(),
          "how the model writes tool calls, by Dynamo's name of the parser; none leaves them text;"
              + " absent takes what the chat template shows, with the `llama` engine");
  static final SettingKey<String> REASONING_PARSER =
      KEYS.key(
          "dynamo.worker.reasoning-parser",
          TEXT,
          "",
          none(),
          "how the model marks its thoughts, by Dynamo's name of the parser; none leaves them text;"
              + " absent takes what the chat template shows, with the `llama` engine");
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
          "how routers are to choose among the workers of this model, JSON as `router_config` of a model"
              + " card; absent leaves it to the frontend");
  static final SettingKey<String> HEALTH_PAYLOAD =
      KEYS.key(
          "dynamo.worker.health-payload",
          TEXT,
          "",
          none(),
          "what probes ask: a request in JSON as `generate` takes it, or `@` and a file with it;"
              + " absent asks for one token");
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
              + " requests go elsewhere and the worker leaves discovery until it answers; 0s for ever");
  static final SettingKey<Integer> LLAMA_BLOCKS_PER_RANK =
      KEYS.key(
          "dynamo.worker.llama.blocks-per-rank",
          INTEGER,
          "512",
          between(1, 1 << 24),
          "KV blocks that a rank of the `llama` engine can hold; their bytes follow from the model");
  static final SettingKey<Integer> LLAMA_PASS_TOKENS =
      KEYS.key(
          "dynamo.worker.llama.pass-tokens",
          INTEGER,
          "256",
          between(1, 65536),
          "tokens that a forward pass of the `llama` engine computes at most");

  static {
    KEYS.addAll(EngineKeys.all());
    KEYS.addAll(StatusKeys.all());
  }

  private SettingKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
