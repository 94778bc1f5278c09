package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import java.util.List;

/** Memory that another process may write. */
public final class WritableOperation extends PassiveOperation {
  WritableOperation(Connector connector, List<Descriptor> local, Deadline lease) {
    super(connector, OperationKind.WRITE, writable(local), lease);
  }
}
