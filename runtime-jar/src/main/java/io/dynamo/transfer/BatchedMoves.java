package io.dynamo.transfer;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.error.CancelledException;
import io.dynamo.transfer.BlockMover.Move;
import io.dynamo.transfer.BlockMover.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Several moves with one end: completes when all of them have, and is failed by the first that
 * fails, once none of the others runs any more. A bounded number runs at once. Safe for concurrent
 * use.
 */
final class BatchedMoves {
  private static final int MOST_RUNNING = 32;

  private final List<Move> moves;
  private final Function<Move, Transfer> mover;
  private final Transfer whole = new Transfer(this::giveUp);

  // one at a time, so that transfers that end at once do not nest
  private final CoalescedTask steps =
      new CoalescedTask("a batch of moves", Runnable::run, this::step, () -> {});
  private final Set<Transfer> running = new HashSet<>(); // guarded by this, like the rest
  private @Nullable RuntimeException failure;
  private int begun;
  private long moved;

  private BatchedMoves(List<Move> moves, Function<Move, Transfer> mover) {
    this.moves = moves;
    this.mover = mover;
  }

  /**
   * Starts the moves.
   *
   * @param mover starts one of them
   */
  static Transfer start(List<Move> moves, Function<Move, Transfer> mover) {
    var batch = new BatchedMoves(List.copyOf(moves), mover);
    var _ = batch.steps.request();
    return batch.whole;
  }

  private record Interval(long begin, long end, boolean isWritten) {}

  private record Peer(String host, int port, long lease) {}

  /**
   * Checks that the outcome does not depend on the order of the moves.
   *
   * @throws IllegalArgumentException when a byte is written twice, or written and read
   */
  static void requireUnambiguous(List<Move> moves) {
    Map<Object, List<Interval>> touched = new HashMap<>(); // by what holds the bytes
    for (var move : moves) {
      if (move.byteSize() > 0) {
        touch(touched, move.from(), move.byteSize(), false);
        touch(touched, move.to(), move.byteSize(), true);
      }
    }
    for (var intervals : touched.values()) {
      intervals.sort(Comparator.comparingLong(Interval::begin));
      long anyEnd = 0;
      long writtenEnd = 0;
      for (var one : intervals) {
        if (one.begin < (one.isWritten ? anyEnd : writtenEnd)) {
          throw new IllegalArgumentException(
              "bytes at %d are the target of a move, and part of another place of the batch"
                  .formatted(one.begin));
        }
        anyEnd = Math.max(anyEnd, one.end);
        writtenEnd = one.isWritten ? Math.max(writtenEnd, one.end) : writtenEnd;
      }
    }
  }

  private static void touch(
      Map<Object, List<Interval>> touched, Place place, long byteSize, boolean isWritten) {
    Object holder =
        switch (place) {
          case Place.InRegion in -> in.region();
          case Place.OnDisk disk -> disk.space();
          case Place.AtPeer(var to, long _) -> new Peer(to.host(), to.port(), to.lease());
        };
    long offset = place.offset();
    touched
        .computeIfAbsent(holder, _ -> new ArrayList<>())
        .add(new Interval(offset, offset + byteSize, isWritten));
  }

  /** Starts the moves that there is room for, or ends. */
  private void step() {
    for (var next = next(); next != null; next = next()) {
      begin(next);
    }
    RuntimeException why;
    long bytes;
    synchronized (this) {
      if (!running.isEmpty() || (failure == null && begun < moves.size())) {
        return;
      }
      why = failure;
      bytes = moved;
    }
    if (why == null) {
      whole.complete(bytes);
    } else {
      whole.fail(why);
    }
  }

  private synchronized @Nullable Move next() {
    boolean wants = failure == null && begun < moves.size() && running.size() < MOST_RUNNING;
    return wants ? moves.get(begun++) : null;
  }

  private void begin(Move move) {
    Transfer started;
    try {
      started = mover.apply(move);
    } catch (RuntimeException refused) {
      fail(refused);
      return;
    }
    boolean isOver;
    synchronized (this) {
      running.add(started);
      isOver = failure != null;
    }
    if (isOver) { // it failed meanwhile, and this move was not known yet
      started.cancel();
    }
    var _ =
        started
            .outcome()
            .whenComplete(
                (bytes, why) -> {
                  if (why != null) {
                    fail(Transfer.failureOf(why));
                  }
                  synchronized (this) {
                    running.remove(started);
                    moved += why == null ? bytes : 0;
                  }
                  var _ = steps.request();
                });
  }

  private void fail(RuntimeException why) {
    List<Transfer> others;
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = why;
      others = List.copyOf(running);
    }
    others.forEach(Transfer::cancel);
  }

  private void giveUp() {
    fail(new CancelledException("the transfer was cancelled"));
    var _ = steps.request();
  }
}
