package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.nixl.NixlException.Reason;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Makes operations that move bytes to and from other processes by NIXL. Both sides have one: the
 * passive side {@linkplain #createReadable offers} memory and passes the operation's {@link
 * RdmaMetadata} on, the active side {@linkplain #beginRead reads} or writes it. Other sides may be
 * {@code dynamo.nixl_connect}'s.
 *
 * <p>All operations of a connector share one agent of NIXL, which is opened with the first of them.
 * No method waits but {@link #close}. Safe for concurrent use; equal to another one of the same
 * name.
 */
public final class Connector implements AutoCloseable {
  private static final int LONGEST_NAME = 200;

  private final String workerId;
  private final NixlAgent.Factory agents;
  private final NixlLimits limits;
  private @Nullable NixlConnection shared; // guarded by this
  private boolean isClosed; // guarded by this

  /**
   * @param workerId unique among all connectors that exchange metadata
   */
  public Connector(String workerId, NixlAgent.Factory agents, NixlLimits limits) {
    if (workerId.isEmpty() || workerId.length() > LONGEST_NAME || workerId.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "a worker id has 1 to %d characters".formatted(LONGEST_NAME));
    }
    this.workerId = workerId;
    this.agents = agents;
    this.limits = limits;
  }

  /** Makes a connector with a random name. */
  public Connector(NixlAgent.Factory agents) {
    this(UUID.randomUUID().toString().replace("-", ""), agents, NixlLimits.STANDARD);
  }

  public String name() {
    return workerId;
  }

  /** Returns the name of this host. */
  public String hostname() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /** Ends when the agent can be used; opens it. Fails with the reason when NIXL is absent. */
  public NixlCommand<String> ready() {
    return connection().agent().ready();
  }

  /**
   * Offers memory for another process to read.
   *
   * @param lease how long it may take; then the operation ends as {@link OperationStatus#ERRORED}
   */
  public ReadableOperation createReadable(List<Descriptor> local, Duration lease) {
    return new ReadableOperation(this, local, Deadline.after(lease));
  }

  /**
   * Offers memory for another process to write.
   *
   * @param lease how long it may take; then the operation ends as {@link OperationStatus#ERRORED}
   */
  public WritableOperation createWritable(List<Descriptor> local, Duration lease) {
    return new WritableOperation(this, local, Deadline.after(lease));
  }

  /**
   * Begins to read the memory that another process offers.
   *
   * @param local as many descriptors, of the same sizes
   * @throws IllegalArgumentException when the metadata offers no read, or does not fit
   */
  public ReadOperation beginRead(RdmaMetadata remote, List<Descriptor> local, Duration timeout) {
    return new ReadOperation(this, remote, local, Deadline.after(timeout));
  }

  /**
   * Begins to write into the memory that another process offers.
   *
   * @param local as many descriptors, of the same sizes
   * @throws IllegalArgumentException when the metadata offers no write, or does not fit
   */
  public WriteOperation beginWrite(List<Descriptor> local, RdmaMetadata remote, Duration timeout) {
    return new WriteOperation(this, remote, local, Deadline.after(timeout));
  }

  /**
   * Registers memory and tells how this process and all that it has registered is reached: {@code
   * nixl_metadata} of {@link RdmaMetadata}. Others may read and write the memory as often as they
   * like, until the descriptor is closed.
   */
  public CompletionStage<String> share(Descriptor memory) {
    memory.register(this);
    return memory
        .registration()
        .thenCompose(_ -> connection().agent().metadata().outcome())
        .thenApply(AgentText::write);
  }

  synchronized NixlConnection connection() {
    if (isClosed) {
      throw new NixlException(Reason.CLOSED, "connector %s is closed".formatted(workerId));
    }
    var known = shared;
    if (known == null) {
      var name = workerId + "-1"; // the original numbers its connections, and shares one, too
      known = new NixlConnection(name, agents.open(name), limits);
      shared = known;
    }
    return known;
  }

  /**
   * Ends all operations as {@link OperationStatus#ERRORED} or {@link OperationStatus#CANCELLED} and
   * frees the agent. Idempotent; must not be called on an event loop.
   */
  @Override
  public void close() {
    NixlConnection ending;
    synchronized (this) {
      isClosed = true;
      ending = shared;
      shared = null;
    }
    if (ending != null) {
      ending.close();
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Connector one && one.workerId.equals(workerId);
  }

  @Override
  public int hashCode() {
    return workerId.hashCode();
  }

  @Override
  public String toString() {
    return "connector " + workerId;
  }
}
