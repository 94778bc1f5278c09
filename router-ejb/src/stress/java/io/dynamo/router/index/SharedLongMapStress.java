package io.dynamo.router.index;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** The one writer against a reader without a lock. */
public final class SharedLongMapStress {
  private SharedLongMapStress() {}

  private static long read(SharedLongMap map, long key) {
    long value = map.get(key);
    return value == SharedLongMap.ABSENT ? -1 : value;
  }

  /** An entry is added while it is looked up. */
  @JCStressTest
  @Outcome(id = "-1", expect = ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "there, with its value")
  @Outcome(expect = FORBIDDEN, desc = "found before its value was written")
  @State
  public static class PutAgainstGet {
    private final SharedLongMap map = new SharedLongMap();

    /** Adds. */
    @Actor
    public void writer() {
      map.put(1, 7);
    }

    /** Looks up. */
    @Actor
    public void reader(J_Result r) {
      r.r1 = read(map, 1);
    }
  }

  /** The map moves to a new array while an entry that stays is looked up. */
  @JCStressTest
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "found in the old array or in the new")
  @Outcome(expect = FORBIDDEN, desc = "lost in the move")
  @State
  public static class RebuildAgainstGet {
    private static final int BEFORE_REBUILD = 8; // half of the first capacity

    private final SharedLongMap map = new SharedLongMap();

    /** As full as a map gets before it moves. */
    public RebuildAgainstGet() {
      for (int key = 1; key <= BEFORE_REBUILD; key++) {
        map.put(key, 7);
      }
    }

    /** Adds one more. */
    @Actor
    public void writer() {
      map.put(BEFORE_REBUILD + 1, 7);
    }

    /** Looks up one that was there. */
    @Actor
    public void reader(J_Result r) {
      r.r1 = read(map, BEFORE_REBUILD);
    }
  }
}
