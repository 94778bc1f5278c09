package io.dynamo.config.worker;

import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.atLeast;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DECIMAL;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The settings of single engines, in the order of the documentation. */
public final class EngineKeys {
  private static final KeyList KEYS = new KeyList();
  private static final SettingType<URI> SERVER =
      new SettingType<>(SettingType.HTTP_URL.name(), EngineKeys::server);

  private static final SettingType<List<URI>> SERVERS =
      new SettingType<>("http or https URLs, comma-separated", EngineKeys::servers);

  static final SettingKey<Integer> MOCK_PASS_TOKENS =
      KEYS.key(
          "dynamo.worker.mock.pass-tokens",
          INTEGER,
          "8192",
          atLeast(1),
          "tokens that a pass of the mock engine computes at most, vLLM's"
              + " `max_num_batched_tokens`");
  static final SettingKey<Boolean> MOCK_CHUNKED_PREFILL =
      KEYS.key(
          "dynamo.worker.mock.chunked-prefill",
          BOOLEAN,
          "true",
          none(),
          "whether the mock engine cuts a prompt to fit into a pass");
  static final SettingKey<Boolean> MOCK_PREFIX_CACHING =
      KEYS.key(
          "dynamo.worker.mock.prefix-caching",
          BOOLEAN,
          "true",
          none(),
          "whether the mock engine caches and shares blocks, and reports them to routers");
  static final SettingKey<MockSettings.Preemption> MOCK_PREEMPTION =
      KEYS.key(
          "dynamo.worker.mock.preemption",
          oneOf(MockSettings.Preemption.class),
          "lifo",
          none(),
          "which sequence of the mock engine gives its blocks back when there are none left");
  static final SettingKey<MockSettings.Timing> MOCK_TIMING =
      KEYS.key(
          "dynamo.worker.mock.timing",
          oneOf(MockSettings.Timing.class),
          "linear",
          none(),
          "how long the mock engine's passes take: by the two settings of its pace, or as Dynamo's"
              + " mocker has it");
  static final SettingKey<Double> MOCK_SPEEDUP =
      KEYS.key(
          "dynamo.worker.mock.speedup",
          DECIMAL,
          "1",
          between(0.001, 1e6),
          "divides the time of the mock engine's passes");
  static final SettingKey<Double> MOCK_DECODE_SPEEDUP =
      KEYS.key(
          "dynamo.worker.mock.decode-speedup",
          DECIMAL,
          "1",
          between(0.001, 1e6),
          "divides the time of its decoding once more");
  static final SettingKey<String> MOCK_FAULT_FILE =
      KEYS.key(
          "dynamo.worker.mock.fault-file",
          TEXT,
          "",
          none(),
          "fault injection, for tests only: while this file contains `throws`, `hangs`, `breaks` or"
              + " `poisons`, the mock engine does");
  static final SettingKey<List<URI>> LLAMACPP_URL =
      KEYS.key(
          "dynamo.worker.llamacpp.url",
          SERVERS,
          "http://127.0.0.1:8080",
          none(),
          "where llama.cpp's server is, for the `llamacpp` engine; several with the same model are"
              + " the ranks of one worker");
  static final SettingKey<Duration> LLAMACPP_START_TIMEOUT =
      KEYS.key(
          "dynamo.worker.llamacpp.start-timeout",
          DURATION,
          "60s",
          WAIT,
          "how long the worker's start waits for llama.cpp's server to have loaded its model");
  static final SettingKey<Duration> LLAMACPP_SILENCE_TIMEOUT =
      KEYS.key(
          "dynamo.worker.llamacpp.silence-timeout",
          DURATION,
          "2m",
          WAIT,
          "how long llama.cpp's server may send nothing of an answer; the generation then goes on"
              + " elsewhere");

  static final SettingKey<URI> REMOTE_URL =
      KEYS.key(
          "dynamo.worker.remote.url",
          SERVER,
          "http://127.0.0.1:8000",
          none(),
          "where the engine's server is, for the `vllm`, `sglang`, `trtllm` and `openai` engines");
  static final SettingKey<Path> REMOTE_KEY_FILE =
      KEYS.key(
          "dynamo.worker.remote.key-file",
          PATH,
          "",
          none(),
          "a file with the bearer key that the engine's server asks for");
  static final SettingKey<Path> REMOTE_AUTHORITIES =
      KEYS.key(
          "dynamo.worker.remote.tls.authorities",
          PATH,
          "",
          none(),
          "PEM certificates that sign the engine's server's, for an `https` address; without it"
              + " those of the JVM");
  static final SettingKey<String> REMOTE_MODEL =
      KEYS.key(
          "dynamo.worker.remote.model",
          TEXT,
          "",
          none(),
          "the model's name at the engine's server; without it the first that the server lists");
  static final SettingKey<Duration> REMOTE_START_TIMEOUT =
      KEYS.key(
          "dynamo.worker.remote.start-timeout",
          DURATION,
          "10m",
          WAIT,
          "how long the worker's start waits for the engine's server to have loaded its model");
  static final SettingKey<Duration> REMOTE_SILENCE_TIMEOUT =
      KEYS.key(
          "dynamo.worker.remote.silence-timeout",
          DURATION,
          "2m",
          WAIT,
          "how long the engine's server may send nothing of an answer; the generation then goes on"
              + " elsewhere");
  static final SettingKey<Integer> REMOTE_BLOCK_TOKENS =
      KEYS.key(
          "dynamo.worker.remote.block-tokens",
          INTEGER,
          "",
          between(1, 4096),
          "tokens per KV block of a server that does not report it; where it does, both must"
              + " agree");
  static final SettingKey<Integer> REMOTE_BLOCKS_PER_RANK =
      KEYS.key(
          "dynamo.worker.remote.blocks-per-rank",
          INTEGER,
          "",
          atLeast(1),
          "KV blocks of a rank of a server that does not report them; where it does, both must"
              + " agree");

  static final SettingKey<String> REMOTE_KV_EVENTS =
      KEYS.key(
          "dynamo.worker.remote.kv-events",
          TEXT,
          "",
          none(),
          "`tcp://host:port` where rank 0 of the engine publishes its KV events over ZeroMQ,"
              + " further ranks at the ports behind; without it where the server reports it");
  static final SettingKey<String> REMOTE_KV_REPLAY =
      KEYS.key(
          "dynamo.worker.remote.kv-replay",
          TEXT,
          "",
          none(),
          "`tcp://host:port` where rank 0 repeats KV events that were lost, beside `kv-events`");

  static final SettingKey<String> REMOTE_SECOND_KV_EVENTS =
      KEYS.key(
          "dynamo.worker.remote.second-kv-events",
          TEXT,
          "",
          none(),
          "`tcp://host:port` where a second publisher, such as a manager of tiers below the device,"
              + " sends the KV events of rank 0 over ZeroMQ, further ranks at the ports behind;"
              + " they are merged with the engine's own");
  static final SettingKey<String> REMOTE_SECOND_KV_REPLAY =
      KEYS.key(
          "dynamo.worker.remote.second-kv-replay",
          TEXT,
          "",
          none(),
          "`tcp://host:port` where the second publisher repeats the events of rank 0 that were"
              + " lost, beside `second-kv-events`");

  static final SettingKey<Boolean> REMOTE_TOKEN_ROUTE =
      KEYS.key(
          "dynamo.worker.remote.token-route",
          BOOLEAN,
          "true",
          none(),
          "whether vLLM is asked over `/inference/v1/generate` where it offers that route; `false`"
              + " keeps to `/v1/completions`, which applies the server's own sampling defaults");

  static final SettingKey<String> PROCESS_COMMAND =
      KEYS.key(
          "dynamo.worker.process.command",
          TEXT,
          "",
          none(),
          "starts the engine's server with the worker, and again when it ends, for the engines in"
              + " processes of their own; words in quotes as in a shell, without its expansions;"
              + " without it the server runs already");
  static final SettingKey<Path> PROCESS_LOG =
      KEYS.key(
          "dynamo.worker.process.log",
          PATH,
          "",
          none(),
          "a file to which that server's output is appended; without it the worker's own output");
  static final SettingKey<Duration> PROCESS_STOP_TIMEOUT =
      KEYS.key(
          "dynamo.worker.process.stop-timeout",
          DURATION,
          "30s",
          WAIT,
          "how long that server may take to end before it is killed");

  private EngineKeys() {}

  private static URI server(String text) {
    var url = SettingType.HTTP_URL.parser().apply(text);
    var path = url.getPath();
    if (url.getUserInfo() != null
        || url.getQuery() != null
        || !(path.isEmpty() || path.equals("/"))) {
      throw new IllegalArgumentException("is not http or https, a host and a port, without a path");
    }
    return url;
  }

  private static List<URI> servers(String text) {
    var servers = new ArrayList<URI>();
    for (var one : text.split(",", -1)) {
      var server = server(one.strip());
      if (servers.contains(server)) {
        throw new IllegalArgumentException("names %s twice".formatted(server));
      }
      servers.add(server);
    }
    return List.copyOf(servers);
  }

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
