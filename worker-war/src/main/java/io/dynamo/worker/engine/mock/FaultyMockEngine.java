package io.dynamo.worker.engine.mock;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.AdapterHost;
import io.dynamo.worker.engine.CacheControl;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.mock.FaultSwitch.Fault;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A {@link MockEngine} for fault injection: it breaks the rules of {@link Engine} while a {@link
 * FaultSwitch} names a fault, and keeps them before and after. Safe for concurrent use.
 */
public final class FaultyMockEngine
    implements Engine, LoadReport, PassReport, CacheControl, AdapterHost {
  private static final int NO_TOKEN = Integer.MAX_VALUE;

  private final MockEngine engine;
  private final FaultSwitch faults;

  /** Takes ownership of {@code engine}. */
  public FaultyMockEngine(MockEngine engine, FaultSwitch faults) {
    this.engine = engine;
    this.faults = faults;
  }

  @Override
  public EngineDescription start(KvEventSink events) {
    return engine.start(events);
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    if (faults.now() == Fault.THROWS) {
      throw broken();
    }
    var answer = engine.generate(request, context);
    return next -> answer.subscribe(new FaultSubscriber(next));
  }

  private static IllegalStateException broken() {
    return new IllegalStateException("an injected fault");
  }

  /** Forwards signals as far as the current fault allows; called as a subscriber is. */
  private final class FaultSubscriber extends ForwardingSubscriber<EngineOutput> {
    private Flow.@Nullable Subscription engineSide;
    private boolean dead; // no signal follows, even when the fault ends

    FaultSubscriber(Flow.Subscriber<? super EngineOutput> next) {
      super(next);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      engineSide = subscription;
      next.onSubscribe(subscription);
    }

    @Override
    public void onNext(EngineOutput item) {
      if (dead) {
        return;
      }
      switch (faults.now()) {
        case NONE, THROWS -> next.onNext(item);
        case HANGS -> dead = true;
        case BREAKS -> {
          dead = true;
          var from = engineSide;
          if (from != null) {
            from.cancel();
          }
          next.onError(broken());
        }
        case POISONS -> next.onNext(EngineOutput.ofTokens(NO_TOKEN));
      }
    }

    @Override
    public void onError(Throwable cause) {
      if (!dead) {
        next.onError(cause);
      }
    }

    @Override
    public void onComplete() {
      if (!dead) {
        next.onComplete();
      }
    }
  }

  @Override
  public int running() {
    return engine.running();
  }

  @Override
  public List<RankLoad> ranks() {
    return engine.ranks();
  }

  @Override
  public long cancelled() {
    return engine.cancelled();
  }

  @Override
  public long lastCancelNanos() {
    return engine.lastCancelNanos();
  }

  @Override
  public void reportPassesTo(PassReport.Listener listener) {
    engine.reportPassesTo(
        (rank, pass) -> {
          if (faults.now() != Fault.HANGS) {
            listener.passed(rank, pass);
          }
        });
  }

  @Override
  public void clearCache() {
    engine.clearCache();
  }

  @Override
  public void loadAdapter(String name, Path directory) {
    engine.loadAdapter(name, directory);
  }

  @Override
  public void unloadAdapter(String name) {
    engine.unloadAdapter(name);
  }

  @Override
  public void close() {
    engine.close();
  }
}
