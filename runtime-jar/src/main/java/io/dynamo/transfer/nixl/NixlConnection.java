package io.dynamo.transfer.nixl;

import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The agent of a connector with the memory that it has registered and the operations that run on
 * it. Safe for concurrent use.
 */
final class NixlConnection implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(NixlConnection.class.getName());

  /**
   * Connections that have not ended: the library uses their memory, which has to stay even if
   * nobody else refers to it any more.
   */
  private static final Set<NixlConnection> OPEN = ConcurrentHashMap.newKeySet();

  private final String name;
  private final NixlAgent agent;
  private final RegistrationCache registrations;

  NixlConnection(String name, NixlAgent agent, NixlLimits limits) {
    this.name = name;
    this.agent = agent;
    this.registrations = new RegistrationCache(agent, limits);
    OPEN.add(this);
    agent
        .ready()
        .whenEnded(
            (absent, failure) -> {
              if (failure != null) {
                LOG.log(Level.WARNING, "NIXL agent {0}: {1}", name, failure.getMessage());
              } else if (absent != null && !absent.isEmpty()) {
                LOG.log(Level.WARNING, "NIXL agent {0}: {1}", name, absent.strip());
              } else {
                LOG.log(Level.INFO, "NIXL agent {0} is ready", name);
              }
            });
  }

  String name() {
    return name;
  }

  NixlAgent agent() {
    return agent;
  }

  RegistrationCache registrations() {
    return registrations;
  }

  @Override
  public void close() {
    if (agent.end()) {
      registrations.clear();
      OPEN.remove(this);
    } else {
      LOG.log(
          Level.WARNING,
          "NIXL did not end agent {0} in time; the memory that it registered is kept",
          name);
    }
  }
}
