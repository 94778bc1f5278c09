package io.dynamo.router.index;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The one writer against a reader without a lock. */
public final class PrefixTableStress {
  private static final int CAPACITY = 1024; // of a new table
  private static final long CONTENT = 7;

  private PrefixTableStress() {}

  /** Content of the prefix of {@code hash} in {@code table}; -1 when it is not there. */
  private static int content(PrefixTable table, long hash) {
    var found = table.find(hash);
    return found == null ? -1 : (int) found.content;
  }

  /** A prefix is added while it is looked up. */
  @JCStressTest
  @Outcome(id = "-1", expect = ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "there, whole")
  @Outcome(expect = FORBIDDEN, desc = "found before its fields were written")
  @State
  public static class AddAgainstFind {
    private final PrefixTable table = new PrefixTable();

    /** Adds. */
    @Actor
    public void writer() {
      table.add(new Prefix(1, CONTENT, null));
    }

    /** Looks up. */
    @Actor
    public void reader(I_Result r) {
      r.r1 = content(table, 1);
    }
  }

  /** The prefix before the one that is looked up, in the same chain of places, is taken away. */
  @JCStressTest
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "found beyond the one that goes")
  @Outcome(expect = FORBIDDEN, desc = "lost with its neighbour")
  @State
  public static class RemoveAgainstFindBeyond {
    private static final long SECOND = second();

    private final PrefixTable table = new PrefixTable();
    private final Prefix first = new Prefix(1, CONTENT, null);

    /** Both are there before the actors start. */
    public RemoveAgainstFindBeyond() {
      table.add(first);
      table.add(new Prefix(SECOND, CONTENT, null));
    }

    /** A hash whose place is that of hash 1. */
    private static long second() {
      long hash = 2;
      while (PrefixTable.home(hash, CAPACITY) != PrefixTable.home(1, CAPACITY)) {
        hash++;
      }
      return hash;
    }

    /** Takes the first away. */
    @Actor
    public void writer() {
      table.remove(first);
    }

    /** Looks the second up. */
    @Actor
    public void reader(I_Result r) {
      r.r1 = content(table, SECOND);
    }
  }

  /** The table moves to a new array while a prefix that stays is looked up. */
  @JCStressTest
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "found in the old array or in the new")
  @Outcome(expect = FORBIDDEN, desc = "lost in the move")
  @State
  public static class RebuildAgainstFind {
    private static final int BEFORE_REBUILD = CAPACITY / 2;

    private final PrefixTable table = new PrefixTable();

    /** As full as a table gets before it moves. */
    public RebuildAgainstFind() {
      for (int hash = 1; hash <= BEFORE_REBUILD; hash++) {
        table.add(new Prefix(hash, CONTENT, null));
      }
    }

    /** Adds one more. */
    @Actor
    public void writer() {
      table.add(new Prefix(BEFORE_REBUILD + 1, CONTENT, null));
    }

    /** Looks up one that was there. */
    @Actor
    public void reader(I_Result r) {
      r.r1 = content(table, BEFORE_REBUILD);
    }
  }
}
