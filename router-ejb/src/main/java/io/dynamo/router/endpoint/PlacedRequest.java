package io.dynamo.router.endpoint;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.ingest.Placement;
import io.dynamo.router.session.SessionTable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** The decision on one request, until the request ends. Safe for concurrent use. */
final class PlacedRequest implements RouteDecision {
  /** The booking, session and predicted blocks of a request, released when it ends. */
  record Resources(Placement placement, SessionTable.Lease session, RoomIndex.Hold blocks) {
    private void close() {
      placement.close();
      session.close();
      blocks.close();
    }
  }

  private final Instance instance;
  private final WorkerRank rank;
  private final int overlapBlocks;
  private final Resources resources;
  private final RequestMeters meters;
  private final LongSupplier nanoClock;
  private final long arrivedAt;
  private final AtomicBoolean prefilled = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile long generated; // tokens; written by the thread that reports them
  private long lastTokenAt; // used by the thread that reports tokens

  PlacedRequest(
      Instance instance,
      WorkerRank rank,
      int overlapBlocks,
      Resources resources,
      RequestMeters meters,
      LongSupplier nanoClock,
      long arrivedAt) {
    this.instance = instance;
    this.rank = rank;
    this.overlapBlocks = overlapBlocks;
    this.resources = resources;
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
      resources.placement.prefillDone();
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
      resources.placement.generated(tokens);
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      resources.close();
      meters.ended(generated);
    }
  }
}
