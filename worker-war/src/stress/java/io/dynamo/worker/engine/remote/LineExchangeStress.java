package io.dynamo.worker.engine.remote;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A delivery and the end of an answer, against the reader that waits for a call. */
@JCStressTest
@Outcome(id = "2, 1, 1", expect = ACCEPTABLE, desc = "both lines, then the end, each announced")
@Outcome(expect = FORBIDDEN, desc = "a line or the end was lost, or nobody was called for it")
@State
public class LineExchangeStress {
  private static final byte[] LINES = "one\ntwo".getBytes(StandardCharsets.US_ASCII);

  private volatile int calls;
  private final LineExchange exchange = new LineExchange(this::called);
  private int lines;
  private int callsAtLastLook;
  private boolean overAtLastLook;

  @SuppressWarnings("NonAtomicVolatileUpdate") // called by the connection's thread only
  private void called() {
    calls++;
  }

  /** Delivers as a connection does. */
  @Actor
  public void client() {
    exchange.content(LINES);
    exchange.ended();
  }

  /** Looks twice without waiting. */
  @Actor
  public void reader() {
    look();
    look();
  }

  private void look() {
    callsAtLastLook = calls; // before the look: a later call leads to another
    try {
      while (exchange.line() != null) {
        lines++;
      }
    } catch (IOException e) {
      lines += 100;
    }
    overAtLastLook = exchange.isOver();
  }

  /** Looks again if a call has come since the last look; what is there then must be the rest. */
  @Arbiter
  public void result(III_Result r) {
    r.r3 = overAtLastLook || calls > callsAtLastLook ? 1 : 0;
    look();
    r.r1 = lines;
    r.r2 = overAtLastLook ? 1 : 0;
  }
}
