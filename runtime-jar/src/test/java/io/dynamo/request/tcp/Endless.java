package io.dynamo.request.tcp;

import io.dynamo.inference.EngineOutput;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/** Counts upwards for as long as items are asked for. */
record Endless(AtomicInteger produced, IntFunction<EngineOutput> item)
    implements Flow.Publisher<EngineOutput> {
  Endless(AtomicInteger produced) {
    this(produced, EngineOutput::ofTokens);
  }

  @Override
  public void subscribe(Flow.Subscriber<? super EngineOutput> to) {
    to.onSubscribe(
        new Flow.Subscription() {
          private volatile boolean cancelled;

          @Override
          public synchronized void request(long count) {
            for (long i = 0; i < count && !cancelled; i++) {
              to.onNext(item.apply(produced.getAndIncrement()));
            }
          }

          @Override
          public void cancel() {
            cancelled = true;
          }
        });
  }

  /** Waits until nothing is asked for any more: the count has stood still for a while. */
  static int awaitStandstill(AtomicInteger produced) {
    long patience = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    int seen = -1;
    int still = 0;
    while (still < 10) {
      if (System.nanoTime() - patience > 0) {
        throw new AssertionError("the producer never stops; it is at " + produced.get());
      }
      LockSupport.parkNanos(20_000_000);
      int now = produced.get();
      still = now == seen ? still + 1 : 0;
      seen = now;
    }
    return seen;
  }
}
