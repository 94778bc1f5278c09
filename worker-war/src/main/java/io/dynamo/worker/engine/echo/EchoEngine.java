package io.dynamo.worker.engine.echo;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An engine whose answer is the prompt, token by token at a steady pace; for tests of everything
 * around an engine. It has one rank and caches nothing. Safe for concurrent use; one thread of the
 * pacer sends everything.
 */
public final class EchoEngine implements Engine, LoadReport {
  /**
   * The size and the pace of an echo.
   *
   * @param contextLength positions of one sequence
   * @param blockTokens the block size for the model card; there are no blocks
   * @param maxRunning generations at once; more are refused
   * @param tokenInterval the time between two tokens of a generation
   * @param streamBuffer tokens held per stream without demand
   */
  public record Config(
      int contextLength,
      int blockTokens,
      int maxRunning,
      Duration tokenInterval,
      int streamBuffer) {}

  private final Config config;
  private final Pacer pacer;
  private final RankQueue<Echo> queue;
  private final AtomicLong promptTokens = new AtomicLong();
  private final CancelLog cancels = new CancelLog();
  private final Loop loop = new Loop();
  private volatile Pacer.@Nullable Driven driven;
  private volatile boolean closed; // written under this

  public EchoEngine(Config config, Pacer pacer) {
    this.config = config;
    this.pacer = pacer;
    this.queue = RankQueue.ofGenerations(0, config.maxRunning(), this::wake);
  }

  @Override
  public synchronized EngineDescription start(KvEventSink events) {
    if (driven != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    driven = pacer.drive("echo-engine", loop);
    return new EngineDescription(
        config.contextLength(),
        config.blockTokens(),
        blocks(),
        1,
        config.maxRunning(),
        null,
        false);
  }

  /**
   * Returns the number of KV blocks for the model card: enough for one sequence; none is ever used.
   */
  private int blocks() {
    return (config.contextLength() + config.blockTokens() - 1) / config.blockTokens();
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    if (closed) {
      throw TokenStream.shutDown();
    }
    if (driven == null) {
      throw new IllegalStateException("the engine was not started");
    }
    requireServable(request);
    var echo = new Echo(request, context, config.streamBuffer(), this::wake);
    echo.follow(context.cancellation());
    try {
      queue.submit(echo);
    } catch (WorkerBusyException full) {
      echo.unfollow();
      throw full;
    }
    promptTokens.addAndGet(request.tokenIds().length);
    return echo.stream;
  }

  private void requireServable(GenerateRequest request) {
    int prompt = request.tokenIds().length;
    var most = request.stop().maxTokens();
    if (prompt == 0) {
      throw new InvalidRequestException("the prompt has no tokens");
    }
    if (most != null && most < 0) {
      throw new InvalidRequestException("max_tokens " + most + " is negative");
    }
    if (prompt > config.contextLength()) {
      throw new InvalidRequestException(
          "%d prompt tokens exceed the context of %d tokens"
              .formatted(prompt, config.contextLength()));
    }
    var _ = NamedRank.of(request.routing().rank(), 1);
  }

  private void wake() {
    var by = driven;
    if (by != null) {
      by.wake();
    }
  }

  @Override
  public int running() {
    return queue.live();
  }

  @Override
  public List<RankLoad> ranks() {
    return driven == null
        ? List.of()
        : List.of(new RankLoad(queue.live(), 0, 0, 0, blocks(), 0, promptTokens.get(), 0, 0));
  }

  @Override
  public long cancelled() {
    return cancels.count();
  }

  @Override
  public long lastCancelNanos() {
    return cancels.lastNanos();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    var by = driven;
    if (by != null) {
      by.close();
    }
  }

  /** The engine's loop, driven by the pacer. */
  private final class Loop implements Pacer.Paced {
    private final ArrayList<Echo> running = new ArrayList<>();

    @Override
    public long tick(long now) {
      for (var next = queue.take(); next != null; next = queue.take()) {
        next.beginAt(now);
        running.add(next);
      }
      running.removeIf(
          echo -> {
            var end = echo.advance(now, config.tokenInterval().toNanos());
            if (end == null) {
              return false;
            }
            queue.free();
            if (echo.isGivenUp()) {
              cancels.record();
            }
            end.run();
            return true;
          });
      long wait = IDLE;
      for (var echo : running) {
        wait = Math.min(wait, echo.untilDue(now));
      }
      return wait;
    }

    @Override
    public void end() {
      for (var echo : running) {
        queue.free();
        echo.refuse(TokenStream.shutDown());
      }
      running.clear();
      queue.end();
    }
  }
}
