package io.dynamo.worker.wiring;

import io.dynamo.config.worker.RemoteSettings;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.sglang.SglangDialect;
import io.dynamo.worker.engine.vllm.VllmDialect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import org.jspecify.annotations.Nullable;

/** Makes engines that call the server of an engine in another process. */
final class RemoteEngines {
  private static final int STREAM_BUFFER = 32;

  private RemoteEngines() {}

  /**
   * @param vocabulary number of token ids of the model
   * @param positions the model's context length
   * @param maxWaiting generations beyond those that run
   * @param events follows the KV events of the server
   */
  static RemoteEngine vllm(
      WorkerSettings settings, int vocabulary, int positions, int maxWaiting, RemoteEvents events) {
    return new RemoteEngine(
        config(settings, vocabulary, positions, maxWaiting),
        new VllmDialect(wishes(settings, vocabulary)),
        events);
  }

  /** Makes one for SGLang; parameters as of {@link #vllm}. */
  static RemoteEngine sglang(
      WorkerSettings settings, int vocabulary, int positions, int maxWaiting, RemoteEvents events) {
    return new RemoteEngine(
        config(settings, vocabulary, positions, maxWaiting),
        new SglangDialect(wishes(settings, vocabulary)),
        events);
  }

  private static RemoteWishes wishes(WorkerSettings settings, int vocabulary) {
    var remote = settings.remote();
    return new RemoteWishes(
        remote.model(),
        remote.blockTokens(),
        remote.blocksPerRank(),
        events(remote),
        settings.maxRunning(),
        vocabulary);
  }

  private static RemoteConfig config(
      WorkerSettings settings, int vocabulary, int positions, int maxWaiting) {
    var remote = settings.remote();
    return new RemoteConfig(
        remote.url(),
        key(remote),
        remote.startTimeout(),
        remote.silenceTimeout(),
        maxWaiting,
        positions,
        vocabulary,
        settings.ranks(),
        STREAM_BUFFER);
  }

  private static @Nullable KvEventEndpoint events(RemoteSettings remote) {
    var events = remote.kvEvents();
    if (events == null) {
      if (remote.kvReplay() != null) {
        throw new IllegalArgumentException(
            "dynamo.worker.remote.kv-replay is %s without dynamo.worker.remote.kv-events; set both or neither"
                .formatted(remote.kvReplay()));
      }
      return null;
    }
    return KvEventEndpoint.of(remote.url().getHost(), events, remote.kvReplay());
  }

  private static @Nullable String key(RemoteSettings remote) {
    var file = remote.keyFile();
    if (file == null) {
      return null;
    }
    try {
      var key = Files.readString(file).strip();
      if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new IllegalArgumentException(
            "%s, which dynamo.worker.remote.key-file names, does not have one line of printable ASCII"
                .formatted(file));
      }
      return key;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read dynamo.worker.remote.key-file " + file, e);
    }
  }
}
