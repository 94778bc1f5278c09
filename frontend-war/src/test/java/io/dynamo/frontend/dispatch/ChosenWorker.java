package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;

/** A decision for the first rank of a worker that nothing is known of. For one thread. */
public final class ChosenWorker implements RouteDecision {
  private final Instance instance;
  private final int overlapBlocks;
  private final Runnable onClose;
  private boolean open = true;

  /**
   * @param onClose run once
   */
  public ChosenWorker(RouteRequest request, InstanceId worker, Runnable onClose) {
    this(request, worker, 0, onClose);
  }

  /**
   * @param overlapBlocks of the prompt that it holds
   * @param onClose run once
   */
  public ChosenWorker(
      RouteRequest request, InstanceId worker, int overlapBlocks, Runnable onClose) {
    this.overlapBlocks = overlapBlocks;
    this.instance =
        new Instance(
            request.endpoint(),
            worker,
            new TransportAddress.Tcp("127.0.0.1:1", "p"),
            null,
            PayloadFormat.JSON);
    this.onClose = onClose;
  }

  @Override
  public Instance instance() {
    return instance;
  }

  @Override
  public WorkerRank rank() {
    return new WorkerRank(instance.id(), 0);
  }

  @Override
  public int overlapBlocks() {
    return overlapBlocks;
  }

  @Override
  public void prefillDone() {}

  @Override
  public void generated(int tokens) {}

  @Override
  public void close() {
    if (open) {
      open = false;
      onClose.run();
    }
  }
}
