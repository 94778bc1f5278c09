package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.nixl.NixlAgent.Order;
import io.dynamo.transfer.nixl.NixlAgent.Piece;
import io.dynamo.transfer.nixl.NixlException.Reason;
import io.dynamo.transfer.nixl.OperationStatus.Step;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A transfer to or from the memory that another process offers. It begins at once, and tells the
 * other process when all bytes are in place.
 */
public abstract sealed class ActiveOperation extends NixlOperation
    permits ReadOperation, WriteOperation {
  private final RdmaMetadata remote;
  private final byte[] peerMetadata;
  private final String peer;
  private final int remoteMemory;

  ActiveOperation(
      Connector connector,
      OperationKind kind,
      RdmaMetadata remote,
      List<Descriptor> local,
      Deadline deadline) {
    super(connector, kind, local, deadline);
    this.remote = remote;
    if (remote.operationKind() != kind) {
      throw new IllegalArgumentException(
          "the metadata offers %s, not %s".formatted(remote.operationKind(), kind));
    }
    if (remote.notificationKey().isEmpty()) {
      throw new IllegalArgumentException("notification_key is empty");
    }
    this.peerMetadata = AgentText.read(remote.nixlMetadata(), RdmaMetadata.MAX_AGENT_BYTES);
    this.peer = AgentDescription.of(peerMetadata).name();
    if (peer.equals(connection().name())) {
      throw new IllegalArgumentException(
          "the metadata is this connector's own; copy within the process instead");
    }
    this.remoteMemory = remoteMemory(remote, local);
    registerAll(this::begin);
  }

  private static int remoteMemory(RdmaMetadata remote, List<Descriptor> local) {
    var theirs = remote.descriptors();
    if (theirs.size() != local.size()) {
      throw new IllegalArgumentException(
          "%d descriptors for the %d of the peer; they are as many"
              .formatted(local.size(), theirs.size()));
    }
    int memory = Device.of(theirs.getFirst().device()).kind().memory();
    for (int i = 0; i < theirs.size(); i++) {
      if (theirs.get(i).size() != local.get(i).byteSize()) {
        throw new IllegalArgumentException(
            "descriptor %d has %d bytes and the peer's %d; they are as large"
                .formatted(i, local.get(i).byteSize(), theirs.get(i).size()));
      }
      if (Device.of(theirs.get(i).device()).kind().memory() != memory) {
        throw new IllegalArgumentException("the peer's descriptors are of several kinds of memory");
      }
    }
    return memory;
  }

  private void begin(List<Long> registrations) {
    if (isOver()) {
      end(Step.CANCELLED, new NixlException(Reason.CANCELLED, "cancelled before it began"), true);
      return;
    }
    var pieces = new ArrayList<Piece>();
    for (int i = 0; i < registrations.size(); i++) {
      var mine = local().get(i);
      var theirs = remote.descriptors().get(i);
      pieces.add(
          new Piece(
              registrations.get(i),
              mine.address(),
              mine.byteSize(),
              theirs.ptr(),
              Device.of(theirs.device()).id()));
    }
    var transfer =
        connection()
            .agent()
            .transfer(
                new Order(
                    kind() == OperationKind.WRITE,
                    remoteMemory,
                    pieces,
                    peerMetadata,
                    remote.notificationKey().getBytes(StandardCharsets.UTF_8),
                    deadline()));
    var _ = runs(transfer);
    transfer.whenEnded((_, failure) -> endBy(failure));
  }

  @Override
  final boolean isPassive() {
    return false;
  }

  /** Nothing began after a refusal; nothing arrives by a connection that broke. */
  @Override
  final boolean isQuietAfter(Reason reason) {
    return switch (reason) {
      case PEER_LOST, REFUSED, CORRUPT, BUSY, ABSENT -> true;
      case EXPIRED, CANCELLED, CLOSED, BACKEND -> false;
    };
  }

  /** Returns the name of the other process's agent. */
  public final String peer() {
    return peer;
  }
}
