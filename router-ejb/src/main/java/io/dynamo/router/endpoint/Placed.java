package io.dynamo.router.endpoint;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.ingest.Placement;
import io.dynamo.router.session.SessionTable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** A request on its rank. */
final class Placed implements RouteDecision {
  private final Instance instance;
  private final WorkerRank rank;
  private final int overlapBlocks;
  private final Placement placement;
  private final SessionTable.Lease session;
  private final RoomIndex.Hold held;
  private final RequestMeters meters;
  private final LongSupplier nanoClock;
  private final long arrivedAt;
  private final AtomicBoolean prefilled = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile long generated; // tokens; written by who tells of them
  private long lastTokenAt; // touched by who tells of tokens

  Placed(
      Instance instance,
      WorkerRank rank,
      int overlapBlocks,
      Placement placement,
      SessionTable.Lease session,
      RoomIndex.Hold held,
      RequestMeters meters,
      LongSupplier nanoClock,
      long arrivedAt) {
    this.instance = instance;
    this.rank = rank;
    this.overlapBlocks = overlapBlocks;
    this.placement = placement;
    this.session = session;
    this.held = held;
    this.meters = meters;
    this.nanoClock = nanoClock;
    this.arrivedAt = arrivedAt;
  }

  @Override
  public Instance instance() {
    return instance;
  }

  @Override
  public WorkerRank rank() {
    return rank;
  }

  @Override
  public int overlapBlocks() {
    return overlapBlocks;
  }

  @Override
  public void prefillDone() {
    if (prefilled.compareAndSet(false, true)) {
      placement.prefillDone();
      meters.firstToken(nanoClock.getAsLong() - arrivedAt);
    }
  }

  @Override
  public void generated(int tokens) {
    if (tokens > 0) {
      long now = nanoClock.getAsLong();
      long before = generated;
      if (before > 0) {
        meters.nextTokens(now - lastTokenAt, tokens);
      }
      lastTokenAt = now;
      generated = before + tokens;
      placement.generated(tokens);
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      placement.close();
      session.close();
      held.close();
      meters.ended(generated);
    }
  }
}
