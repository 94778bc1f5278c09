package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import java.util.List;

/** Writes into the memory that another process offers. */
public final class WriteOperation extends ActiveOperation {
  WriteOperation(
      Connector connector, RdmaMetadata remote, List<Descriptor> local, Deadline deadline) {
    super(connector, OperationKind.WRITE, remote, local, deadline);
  }
}
