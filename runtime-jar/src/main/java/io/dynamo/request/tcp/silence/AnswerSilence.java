package io.dynamo.request.tcp.silence;

/**
 * How long one answer has been silent, as regular looks at it saw. Touched by the thread that looks
 * only.
 */
public final class AnswerSilence {
  /** How far a request has come. */
  public enum Stage {
    /** On its way to the worker; its own timer counts. */
    SENT,
    /** The worker has acknowledged it and is to call home. */
    ACKNOWLEDGED,
    /** The worker has called home and is to begin its answer. */
    CALLED_HOME,
    /** Items may come. */
    BEGUN
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
   * Notes what has become of the answer since the last look.
   *
   * @param reads how often bytes of it have come so far; any change counts
   * @param items how many items have come so far
   * @param isPaused whether what the worker sends is left unread, so that its silence means nothing
   * @param elapsedNanos since the last look
   */
  public void look(Stage stage, int reads, int items, boolean isPaused, long elapsedNanos) {
    boolean sameStage = stage == this.stage;
    hasProgressed = !sameStage || reads != this.reads;
    hasDelivered = sameStage && stage == Stage.BEGUN && reads != this.reads;
    stageNanos = sameStage ? stageNanos + elapsedNanos : 0;
    silentNanos = hasProgressed || isPaused ? 0 : silentNanos + elapsedNanos;
    itemlessNanos =
        !sameStage || items != this.items || isPaused ? 0 : itemlessNanos + elapsedNanos;
    this.stage = stage;
    this.reads = reads;
    this.items = items;
  }

  /** The stage at the last look. */
  public Stage stage() {
    return stage;
  }

  /** Whether the last look saw anything new, which only a running worker can bring about. */
  public boolean hasProgressed() {
    return hasProgressed;
  }

  /** Whether the last look saw that more of the answer has come. */
  boolean hasDelivered() {
    return hasDelivered;
  }

  /** Whether an item has come. */
  boolean hasItems() {
    return items != 0;
  }

  /** Since the answer came to its stage. */
  long stageNanos() {
    return stageNanos;
  }

  /** Since the last byte or stage, while the answer was read. */
  public long silentNanos() {
    return silentNanos;
  }

  /** Since the last item or stage, while the answer was read. */
  public long itemlessNanos() {
    return itemlessNanos;
  }
}
