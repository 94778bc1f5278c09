package io.dynamo.worker.engine.remote;

import org.jspecify.annotations.Nullable;

/**
 * The memory that a worker has made its server release, and the contents that were lost with it. It
 * outlives the engines that call the server, one for each time between two sleeps. Safe for
 * concurrent use.
 */
public final class ServerMemory {
  /** Parts of its memory that a server has released. */
  public enum Released {
    /** Nothing by this worker; another may have put the server to sleep. */
    UNKNOWN,
    CACHE,
    CACHE_AND_WEIGHTS
  }

  /**
   * The server's memory at one moment.
   *
   * @param released parts that the server has not taken back
   * @param unreadWeights whether the weights were lost and are not read from disk again
   * @param process what told the server's process apart as it released; null when unknown
   */
  public record State(Released released, boolean unreadWeights, @Nullable String process) {}

  private final ServerAdapters adapters = new ServerAdapters();
  private volatile State state = new State(Released.UNKNOWN, false, null); // replaced as a whole

  /** Returns the adapters that this worker has loaded into the server. */
  public ServerAdapters adapters() {
    return adapters;
  }

  public State state() {
    return state;
  }

  /**
   * Records that the server is about to release memory: its answer may be lost.
   *
   * @param process what tells the server's process apart; null when unknown
   * @return the state before, for {@link #reset} where the server refuses
   */
  public State release(boolean weightsToo, @Nullable String process) {
    var before = state;
    state =
        new State(
            weightsToo ? Released.CACHE_AND_WEIGHTS : Released.CACHE,
            weightsToo || before.unreadWeights,
            process);
    return before;
  }

  public void reset(State to) {
    state = to;
  }

  /** Records that the server has taken back its memory; what was in it may be missing. */
  public void resumed() {
    state = new State(Released.UNKNOWN, state.unreadWeights, null);
  }

  /** Records that the server has its weights. */
  public void weightsRead() {
    state = new State(state.released, false, state.process);
  }
}
