package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import java.util.List;

/** Reads the memory that another process offers. */
public final class ReadOperation extends ActiveOperation {
  ReadOperation(
      Connector connector, RdmaMetadata remote, List<Descriptor> local, Deadline deadline) {
    super(connector, OperationKind.READ, remote, writable(local), deadline);
  }

  /**
   * Returns the memory with the bytes.
   *
   * @throws IllegalStateException when the operation is not complete
   */
  public List<Descriptor> results() {
    var status = status();
    if (status != OperationStatus.COMPLETE) {
      throw new IllegalStateException("the operation is %s, not complete".formatted(status.name()));
    }
    return local();
  }
}
