package io.dynamo.worker.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.dynamo.inference.EngineOutput;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An engine that finds a stream full, against the subscriber that takes from it. */
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "there was room, or the engine was woken")
@Outcome(
    expect = FORBIDDEN,
    desc = "an item was lost, or the engine waits for a wake that was lost")
@State
public class TokenStreamStress {
  /** Counts what arrives; called by one thread at a time. */
  private static final class Counting implements Flow.Subscriber<EngineOutput> {
    Flow.@Nullable Subscription subscription;
    int items;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public void onNext(EngineOutput item) {
      items++;
    }

    @Override
    public void onError(Throwable cause) {
      items += 100;
    }

    @Override
    public void onComplete() {}

    void ask(long count) {
      var from = subscription;
      if (from != null) {
        from.request(count);
      }
    }
  }

  private static final EngineOutput ITEM = EngineOutput.ofTokens(1);

  private final Counting counting = new Counting();
  private volatile boolean woken;
  private boolean waits;
  private final TokenStream stream = new TokenStream(2, this::wake, () -> {});

  /** Subscribed before the actors start. */
  public TokenStreamStress() {
    stream.subscribe(counting);
  }

  private void wake() {
    woken = true;
  }

  /** Fills the buffer and looks for more room. */
  @Actor
  public void engine() {
    stream.offer(ITEM);
    stream.offer(ITEM);
    waits = !stream.hasRoom();
  }

  /** Takes both. */
  @Actor
  public void requester() {
    counting.ask(1);
    counting.ask(1);
  }

  /** Whether the engine waits for ever. */
  @Arbiter
  public void result(II_Result r) {
    r.r1 = counting.items;
    r.r2 = waits && !woken ? 1 : 0;
  }
}
