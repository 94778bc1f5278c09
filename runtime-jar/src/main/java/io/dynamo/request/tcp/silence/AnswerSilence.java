package io.dynamo.request.tcp.silence;

/**
 * The length of one answer's silence, as measured by periodic looks. Used by the looking thread
 * only.
 */
public final class AnswerSilence {
  /** The progress of a request. */
  public enum Stage {
    /** The request is on its way to the worker; a separate timer bounds that. */
    SENT,
    /** The worker has acknowledged the request and is to call home. */
    ACKNOWLEDGED,
    /** The worker has called home and is to begin its answer. */
    CALLED_HOME,
    /** The answer has started; items may arrive. */
    STARTED
  }

  private Stage stage = Stage.SENT;
  private int reads;
  private int items;
  private boolean hasProgressed;
  private boolean hasDelivered;
  private long stageNanos;
  private long silentNanos;
  private long itemlessNanos;

  /**
   * Records the state of the answer at a look.
   *
   * @param reads number of reads so far that brought bytes of the answer; any change counts
   * @param items number of items that have arrived so far
   * @param isPaused whether the worker's data is left unread, so that its silence means nothing
   * @param elapsedNanos time since the last look
   */
  public void look(Stage stage, int reads, int items, boolean isPaused, long elapsedNanos) {
    boolean sameStage = stage == this.stage;
    hasProgressed = !sameStage || reads != this.reads;
    hasDelivered = sameStage && stage == Stage.STARTED && reads != this.reads;
    stageNanos = sameStage ? stageNanos + elapsedNanos : 0;
    silentNanos = hasProgressed || isPaused ? 0 : silentNanos + elapsedNanos;
    itemlessNanos =
        !sameStage || items != this.items || isPaused ? 0 : itemlessNanos + elapsedNanos;
    this.stage = stage;
    this.reads = reads;
    this.items = items;
  }

  /** Returns the stage at the last look. */
  public Stage stage() {
    return stage;
  }

  /** Whether the last look found any progress, which only a running worker can cause. */
  public boolean hasProgressed() {
    return hasProgressed;
  }

  /** Whether the last look found that more of the answer has arrived. */
  boolean hasDelivered() {
    return hasDelivered;
  }

  /** Whether an item has arrived. */
  boolean hasItems() {
    return items != 0;
  }

  /** Returns the time since the answer entered its stage. */
  long stageNanos() {
    return stageNanos;
  }

  /** Returns the time without a new byte or stage, while the answer was read. */
  public long silentNanos() {
    return silentNanos;
  }

  /** Returns the time without a new item or stage, while the answer was read. */
  public long itemlessNanos() {
    return itemlessNanos;
  }
}
