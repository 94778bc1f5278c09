package io.dynamo.transfer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An operation against the close of its region: exactly one of them frees, and it is the last. */
@JCStressTest
@Outcome(
    id = "0, 1",
    expect = ACCEPTABLE,
    desc = "the close frees: the operation was over or refused")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the operation frees: it ended after the close")
@Outcome(expect = FORBIDDEN, desc = "freed twice, or never")
@State
public class RegionUseStress {
  private final RegionUse use = new RegionUse();
  private int freedByOperation;
  private int freedByClose;

  /** One operation. */
  @Actor
  public void operation() {
    if (use.enter() && use.leave()) {
      freedByOperation = 1;
    }
  }

  /** The close. */
  @Actor
  public void close() {
    if (use.close()) {
      freedByClose = 1;
    }
  }

  /** Reports which side freed the region. */
  @Arbiter
  public void result(II_Result r) {
    r.r1 = freedByOperation;
    r.r2 = freedByClose;
  }
}
