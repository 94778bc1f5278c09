package io.dynamo.frontend.warmup;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.config.plane.PoolSettings;
import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.frontend.dispatch.WorkerCalls;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.dynamo.router.KvRouter;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.wire.generate.GenerateCodec;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A worker in this process that makes a token for every stream at each tick, and the caller's side
 * of its request plane: ports of the loopback interface, an event loop and meters of their own.
 * Found by nobody else: it is not in discovery, and its endpoint has a random id.
 */
final class WarmUpWorker implements WorkerCalls, KvRouter, AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long TICK_MILLIS = 1;
  private static final String LOOPBACK = "127.0.0.1";
  private static final int MAX_TOKENS = 256; // of one answer
  private static final int MAX_STREAMS = 256;

  /** An answer that is not finished. Used by the ticking thread, but for its creation. */
  private static final class Answer {
    final ItemStream<EngineOutput> items;
    final int prompt;
    final int tokens;
    int made;

    Answer(GenerateRequest request) {
      var asked = request.stop().maxTokens();
      prompt = request.tokenIds().length;
      tokens = Math.clamp(asked == null ? 1 : asked, 1, MAX_TOKENS);
      items = new ItemStream<>(tokens + 1, () -> {}, () -> {});
    }

    /** Makes a token; returns whether it was the last. */
    boolean tick() {
      int token = WarmUpText.id((char) ('a' + made % 26));
      if (++made < tokens && !items.isCancelled()) {
        items.offer(EngineOutput.ofTokens(token));
        return false;
      }
      items.offer(EngineOutput.finish(FinishReason.LENGTH, new Usage(prompt, made, null), token));
      items.complete();
      return true;
    }
  }

  private final Set<Answer> answers = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("warm-up").factory());
  private final GenerateCodec codec = new GenerateCodec();
  private final EventLoops loops = new EventLoops(1);
  private final TcpEndpointServer server;
  private final TcpEndpointClient client;
  private final Instance instance;

  /**
   * Binds both ports.
   *
   * @throws IllegalStateException when they cannot be bound
   */
  WarmUpWorker(InstanceId id, Metrics metrics) {
    var settings = settings();
    server = new TcpEndpointServer(settings, loops, metrics);
    try {
      client = new TcpEndpointClient(settings, loops, metrics);
      var served = server.serve(WarmUpModel.ENDPOINT, id, this::answer, codec);
      instance =
          new Instance(WarmUpModel.ENDPOINT, id, served.address(), "cpu", PayloadFormat.MSGPACK);
    } catch (RuntimeException e) {
      server.close();
      loops.close();
      ticks.shutdownNow();
      throw e;
    }
    var _ = ticks.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static TcpSettings settings() {
    var clear = new TlsSettings(null, null, null, false, null, PATIENCE, null, null, null);
    return new TcpSettings(
        LOOPBACK,
        LOOPBACK,
        0,
        0,
        1 << 20,
        1 << 20,
        MAX_STREAMS,
        new PoolSettings(2, PATIENCE, 2, false),
        64,
        PayloadFormat.MSGPACK,
        new TcpTimeouts(PATIENCE, PATIENCE, PATIENCE, PATIENCE, Duration.ZERO, PATIENCE),
        new SilenceSettings(PATIENCE, PATIENCE, PATIENCE, Duration.ZERO, PATIENCE),
        new AdmissionSettings(MAX_STREAMS, 0),
        clear);
  }

  private Flow.Publisher<EngineOutput> answer(GenerateRequest request, RequestContext context) {
    var answer = new Answer(request);
    answers.add(answer);
    return answer.items;
  }

  private void tick() {
    answers.removeIf(Answer::tick);
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    return new Decision(instance);
  }

  private record Decision(Instance instance) implements RouteDecision {
    @Override
    public WorkerRank rank() {
      return new WorkerRank(instance.id(), 0);
    }

    @Override
    public int overlapBlocks() {
      return 0;
    }

    @Override
    public void prefillDone() {}

    @Override
    public void generated(int tokens) {}

    @Override
    public void close() {}
  }

  @Override
  public Flow.Publisher<EngineOutput> call(
      Instance to, GenerateRequest request, RequestContext context) {
    return client.call(to, request, codec, context);
  }

  @Override
  public void setAside(EndpointId endpoint, InstanceId worker) {}

  @Override
  public void close() {
    ticks.shutdownNow();
    client.close();
    server.close();
    loops.close();
  }
}
