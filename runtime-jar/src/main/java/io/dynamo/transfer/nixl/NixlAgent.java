package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import java.util.List;

/**
 * An agent of NIXL: registered memory, and transfers to and from the memory of other agents.
 * Commands are executed in the order of their submission, by one thread that is not the caller's;
 * no method waits but {@link #close}. A command that cannot be accepted has failed when it is
 * returned. Safe for concurrent use.
 */
public interface NixlAgent extends AutoCloseable {
  /** Opens agents. */
  @FunctionalInterface
  interface Factory {
    /**
     * Opens an agent. Never waits, and never throws because NIXL is absent: then every command
     * fails with {@link NixlException.Reason#ABSENT}.
     *
     * @param name unique among all agents that exchange metadata
     */
    NixlAgent open(String name);
  }

  /**
   * A range of registered memory, and where its bytes go to or come from.
   *
   * @param registration of the local memory
   * @param address of the local bytes
   * @param remote address at the peer
   * @param remoteDevice number of the device at the peer
   */
  record Piece(long registration, long address, long byteSize, long remote, long remoteDevice) {}

  /**
   * A transfer.
   *
   * @param isWrite whether bytes go to the peer
   * @param remoteMemory kind of the peer's memory, as {@link DeviceKind#memory()} numbers it
   * @param peerMetadata which the peer's agent described itself with
   * @param notification which the peer is sent when the bytes are in place
   */
  record Order(
      boolean isWrite,
      int remoteMemory,
      List<Piece> pieces,
      byte[] peerMetadata,
      byte[] notification,
      Deadline deadline) {
    public Order {
      pieces = List.copyOf(pieces);
    }
  }

  /** Ends when the agent can be used, with a line for each backend that is absent. */
  NixlCommand<String> ready();

  /**
   * Registers memory, which has to stay until it is deregistered or the agent is closed.
   *
   * @return the registration's number
   */
  NixlCommand<Long> register(long address, long byteSize, Device device);

  /** Deregisters memory; ends when no transfer of this agent can touch it any more. */
  NixlCommand<Long> deregister(long registration);

  /** Returns the description of the agent and of what is registered, for peers. */
  NixlCommand<byte[]> metadata();

  /** Waits for a notification; ends with the name of the agent that sent it. */
  NixlCommand<String> watch(byte[] key, Deadline deadline);

  /** Moves bytes; ends with their number. */
  NixlCommand<Long> transfer(Order order);

  /**
   * Ends all commands and frees the agent. Idempotent; must not be called on an event loop.
   *
   * @return false when NIXL did not return in time; then registered memory must stay for ever
   */
  boolean end();

  @Override
  default void close() {
    end();
  }
}
