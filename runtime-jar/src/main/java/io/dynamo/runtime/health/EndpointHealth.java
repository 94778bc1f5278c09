package io.dynamo.runtime.health;

import java.util.function.Consumer;

/** The readiness of one endpoint. Safe for concurrent use. */
public final class EndpointHealth implements AutoCloseable {
  private final String name;
  private final boolean target;
  private final Consumer<EndpointHealth> onClosed;
  private volatile State state = State.FAILING;

  private enum State {
    READY,
    FAILING,
    RESTING
  }

  EndpointHealth(String name, boolean target, Consumer<EndpointHealth> onClosed) {
    this.name = name;
    this.target = target;
    this.onClosed = onClosed;
  }

  public String name() {
    return name;
  }

  /** Whether it can be probed, and so counts for the process. */
  public boolean isTarget() {
    return target;
  }

  public boolean isReady() {
    return state == State.READY;
  }

  /** Whether it is out of service on purpose, and does not count for the process. */
  boolean isResting() {
    return state == State.RESTING;
  }

  void set(boolean ready) {
    state = ready ? State.READY : State.FAILING;
  }

  void rest() {
    state = State.RESTING;
  }

  /** Takes the endpoint out of the process's health. Idempotent. */
  @Override
  public void close() {
    onClosed.accept(this);
  }
}
