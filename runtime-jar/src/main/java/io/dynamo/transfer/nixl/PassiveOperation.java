package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.nixl.NixlException.Reason;
import io.dynamo.transfer.nixl.OperationStatus.Step;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Memory on offer: it is complete when the other process says that it has read or written it, and
 * fails when it has not in time.
 */
public abstract sealed class PassiveOperation extends NixlOperation
    permits ReadableOperation, WritableOperation {
  private final String key = UUID.randomUUID().toString();
  private final CompletableFuture<RdmaMetadata> metadata = new CompletableFuture<>();

  PassiveOperation(
      Connector connector, OperationKind kind, List<Descriptor> local, Deadline lease) {
    super(connector, kind, local, lease);
    step(Step.OFFERED);
    registerAll(_ -> offer());
    completion()
        .whenComplete(
            (_, thrown) -> {
              if (thrown != null) {
                metadata.completeExceptionally(thrown);
              }
            });
  }

  /** Watches for the key before anybody can know it, and then describes the memory. */
  private void offer() {
    if (isOver()) {
      end(Step.CANCELLED, new NixlException(Reason.CANCELLED, "cancelled before it began"), true);
      return;
    }
    var agent = connection().agent();
    var watch = agent.watch(key.getBytes(StandardCharsets.UTF_8), deadline());
    watch.whenEnded((_, failure) -> endBy(failure));
    if (!runs(watch)) {
      return;
    }
    agent
        .metadata()
        .whenEnded(
            (bytes, failure) -> {
              if (bytes != null) {
                metadata.complete(describe(bytes));
              } else if (failure != null) {
                end(Step.FAILED, failure, true);
                watch.cancel();
              }
            });
  }

  private RdmaMetadata describe(byte[] agent) {
    return new RdmaMetadata(
        local().stream().map(Descriptor::serialized).toList(), AgentText.write(agent), key, kind());
  }

  @Override
  final boolean isPassive() {
    return true;
  }

  /** Nobody can have reached the memory before the metadata was there. */
  @Override
  final boolean isQuietAfter(Reason reason) {
    return !metadata.isDone();
  }

  /** Returns what the other process needs, once the memory is registered. */
  public final CompletionStage<RdmaMetadata> metadata() {
    return metadata.minimalCompletionStage();
  }

  /**
   * Waits for what the other process needs.
   *
   * @throws NixlException when the operation has ended without
   * @throws io.dynamo.error.DeadlineExceededException when {@code timeout} passes first
   */
  public final RdmaMetadata metadata(Duration timeout) throws InterruptedException {
    return await(metadata, timeout);
  }
}
