package io.dynamo.worker.wiring;

import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.RemoteSettings;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.model.ModelDirectory;
import io.dynamo.model.vocabulary.TokenizerFile;
import io.dynamo.net.PemTrust;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.worker.engine.openai.OpenAiDialect;
import io.dynamo.worker.engine.openai.OpenAiEmbeddings;
import io.dynamo.worker.engine.openai.TextVocabulary;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.sglang.SglangDialect;
import io.dynamo.worker.engine.trtllm.TrtllmDialect;
import io.dynamo.worker.engine.vllm.VllmDefaults;
import io.dynamo.worker.engine.vllm.VllmDialect;
import io.dynamo.worker.engine.vllm.VllmDialect.TokenRoute;
import io.dynamo.worker.engine.vllm.VllmEmbeddings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Makes engines that call the server of an engine in another process. */
final class RemoteEngines {
  private static final int STREAM_BUFFER = 32;

  private RemoteEngines() {}

  /**
   * @param loops receive the answers of the server
   * @param model the files of the model that the server serves
   * @param vocabulary number of token ids of the model
   * @param positions the model's context length
   * @param maxWaiting generations beyond those that run
   * @param events follows the KV events of the server
   * @param memory shared by all engines that are made before the same server
   */
  static RemoteEngine vllm(
      EventLoops loops,
      WorkerSettings settings,
      ModelDirectory model,
      int vocabulary,
      int positions,
      int maxWaiting,
      RemoteEvents events,
      ServerMemory memory) {
    return new RemoteEngine(
        loops,
        config(settings, vocabulary, positions, maxWaiting),
        new VllmDialect(
            wishes(settings, vocabulary),
            settings.remote().tokenRoute() ? TokenRoute.IF_OFFERED : TokenRoute.NEVER,
            VllmDefaults.of(model.path()),
            memory),
        events,
        secondEvents(settings.remote()));
  }

  /** Makes one for SGLang; parameters as of {@link #vllm}. */
  static RemoteEngine sglang(
      EventLoops loops,
      WorkerSettings settings,
      int vocabulary,
      int positions,
      int maxWaiting,
      RemoteEvents events,
      ServerMemory memory) {
    return new RemoteEngine(
        loops,
        config(settings, vocabulary, positions, maxWaiting),
        new SglangDialect(wishes(settings, vocabulary), memory),
        events,
        secondEvents(settings.remote()));
  }

  /** Makes one for TensorRT-LLM; parameters as of {@link #vllm}. */
  static RemoteEngine trtllm(
      EventLoops loops,
      WorkerSettings settings,
      int vocabulary,
      int positions,
      int maxWaiting,
      RemoteEvents events) {
    return new RemoteEngine(
        loops,
        config(settings, vocabulary, positions, maxWaiting),
        new TrtllmDialect(wishes(settings, vocabulary), positions),
        events,
        secondEvents(settings.remote()));
  }

  /**
   * Makes one for any server with OpenAI's API; other parameters as of {@link #vllm}.
   *
   * @param model the files of the model that the server serves
   * @throws IllegalArgumentException when its vocabulary cannot spell every text, or a second
   *     publisher of KV events is set
   */
  static RemoteEngine openAi(
      EventLoops loops,
      WorkerSettings settings,
      ModelDirectory model,
      int vocabulary,
      int positions,
      int maxWaiting) {
    if (secondEvents(settings.remote()) != null) {
      throw new IllegalArgumentException(
          "dynamo.worker.remote.second-kv-events is %s, and the engine openai follows no KV events; leave it out"
              .formatted(settings.remote().secondKvEvents()));
    }
    return new RemoteEngine(
        loops,
        config(settings, vocabulary, positions, maxWaiting),
        new OpenAiDialect(
            wishes(settings, vocabulary),
            positions,
            settings.blockTokens(),
            texts(Path.of(model.tokenizer().path()))),
        null);
  }

  /**
   * Makes one that embeds, with a server of vLLM or any with OpenAI's API.
   *
   * @param maxRequests requests that run and wait
   * @throws IllegalArgumentException when the engine of the settings has no embeddings
   */
  static RemoteEmbedder embedder(
      EventLoops loops,
      WorkerSettings settings,
      ModelDirectory model,
      int vocabulary,
      int positions,
      int maxRequests) {
    var remote = settings.remote();
    var dialect =
        settings.engine() == EngineKind.VLLM
            ? new VllmEmbeddings(remote.model(), vocabulary)
            : new OpenAiEmbeddings(
                remote.model(), positions, vocabulary, texts(Path.of(model.tokenizer().path())));
    return new RemoteEmbedder(
        loops,
        new RemoteEmbedder.Config(
            remote.url(),
            "dynamo.worker.remote.url",
            key(remote),
            tls(remote, "dynamo.worker.remote.url", remote.url()),
            remote.startTimeout(),
            remote.silenceTimeout(),
            settings.maxRunning(),
            maxRequests,
            settings.embedding().unitLength()),
        dialect);
  }

  private static TextVocabulary texts(Path tokenizer) {
    try {
      return TextVocabulary.of(TokenizerFile.read(tokenizer));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenizer, e);
    }
  }

  /** Returns how the names of the server's own metrics begin; null for one of no known kind. */
  static @Nullable String metricsPrefix(EngineKind engine) {
    return switch (engine) {
      case VLLM -> "vllm:";
      case SGLANG -> "sglang:";
      case TRTLLM -> "trtllm_";
      case LLAMACPP -> "llamacpp:";
      case MOCK, LLAMA, ECHO, OPENAI -> null;
    };
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
        tls(remote, "dynamo.worker.remote.url", remote.url()),
        remote.startTimeout(),
        remote.silenceTimeout(),
        maxWaiting,
        positions,
        vocabulary,
        settings.ranks(),
        STREAM_BUFFER);
  }

  private static @Nullable KvEventEndpoint events(RemoteSettings remote) {
    return events(remote, "", remote.kvEvents(), remote.kvReplay());
  }

  private static @Nullable KvEventEndpoint secondEvents(RemoteSettings remote) {
    return events(remote, "second-", remote.secondKvEvents(), remote.secondKvReplay());
  }

  private static @Nullable KvEventEndpoint events(
      RemoteSettings remote, String prefix, @Nullable String events, @Nullable String replay) {
    if (events != null) {
      return KvEventEndpoint.of(remote.url().getHost(), events, replay);
    }
    if (replay != null) {
      throw new IllegalArgumentException(
          "dynamo.worker.remote.%skv-replay is %s without dynamo.worker.remote.%skv-events; set both or neither"
              .formatted(prefix, replay, prefix));
    }
    return null;
  }

  /**
   * Returns how to trust a server; null for the JVM's way.
   *
   * @param setting the setting that has its address
   * @throws IllegalArgumentException when certificates are given for an address without TLS
   */
  static @Nullable SSLContext tls(RemoteSettings remote, String setting, URI url) {
    var file = remote.authorities();
    if (file == null) {
      return null;
    }
    if (!"https".equals(url.getScheme())) {
      throw new IllegalArgumentException(
          "dynamo.worker.remote.tls.authorities is %s and %s %s: nothing would be checked; use an https address, or leave the certificates out"
              .formatted(file, setting, url));
    }
    try {
      return PemTrust.context(file);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "dynamo.worker.remote.tls.authorities %s cannot be used: %s; name a PEM file"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  /**
   * Returns the bearer key of the engine's server; null for none.
   *
   * @throws IllegalArgumentException when its file has none
   */
  static @Nullable String key(RemoteSettings remote) {
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
