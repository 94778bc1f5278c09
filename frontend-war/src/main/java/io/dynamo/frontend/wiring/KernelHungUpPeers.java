package io.dynamo.frontend.wiring;

import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.HungUpPeers;
import io.dynamo.natives.PeerStates;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Clients that went, from the kernel's {@code sock_diag}. For one thread at a time. */
final class KernelHungUpPeers implements HungUpPeers {
  private final PeerStates states = new PeerStates();

  @Override
  public @Nullable List<Peer> look(List<ClientConnection> connections) {
    states.clear();
    for (var connection : connections) {
      states.add(new PeerStates.Connection(connection.local(), connection.remote()));
    }
    if (!states.ask()) {
      return null;
    }
    var peers = new ArrayList<Peer>(connections.size());
    for (int i = 0; i < connections.size(); i++) {
      peers.add(
          switch (states.state(i)) {
            case OPEN -> Peer.OPEN;
            case CLOSED -> Peer.CLOSED;
            case UNKNOWN -> Peer.UNKNOWN;
          });
    }
    return peers;
  }
}
