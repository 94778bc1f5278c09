package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import java.util.List;

/** Memory that another process may read. */
public final class ReadableOperation extends PassiveOperation {
  ReadableOperation(Connector connector, List<Descriptor> local, Deadline lease) {
    super(connector, OperationKind.READ, local, lease);
  }
}
