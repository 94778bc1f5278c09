package io.dynamo.request.tcp.silence;

import io.dynamo.config.plane.SilenceSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When an answer is given up because its worker is silent. Immutable.
 *
 * <p>A worker that flows is never given up. One that is silent and answers probes is slow and has
 * until the limit between items; one that answers none is lost after two of them, or after one when
 * its instance has left discovery as well. An answer that stops in the middle although its worker
 * has left discovery is lost a little later in any case: such a worker may have withdrawn because
 * its engine hangs.
 */
public final class SilenceRules {
  /** Why an answer is given up. */
  public enum Verdict {
    /** The worker answers no probe. */
    UNANSWERED_PROBES,
    /** The worker has left discovery and its answer has stopped. */
    LEFT_DISCOVERY,
    /** The limit between items has passed. */
    NO_NEXT_ITEM,
    /** The limit to the first item has passed. */
    NO_FIRST_ITEM
  }

  private static final int PROBES = 2;

  private final long silenceNanos;
  private final long probeNanos;
  private final long betweenItemsNanos;
  private final long firstItemNanos;
  private final boolean mayIdle;

  private SilenceRules(
      SilenceSettings settings, Duration betweenItems, Duration firstItem, boolean mayIdle) {
    silenceNanos = settings.silence().toNanos();
    probeNanos = settings.probe().toNanos();
    betweenItemsNanos = betweenItems.toNanos();
    firstItemNanos = firstItem.toNanos();
    this.mayIdle = mayIdle;
  }

  /** For answers to whole requests. */
  public static SilenceRules of(SilenceSettings settings) {
    return new SilenceRules(settings, settings.betweenItems(), settings.firstItem(), false);
  }

  /**
   * For answers to streams of requests, which say nothing while there is nothing to answer.
   *
   * @param inactivity how long they may be silent; zero is for ever
   */
  public static SilenceRules ofExchanges(SilenceSettings settings, Duration inactivity) {
    return new SilenceRules(settings, inactivity, inactivity, true);
  }

  /** Whether the worker of {@code answer} is to be asked for a sign of life. */
  public boolean isSuspect(AnswerSilence answer) {
    return answer.stage() != AnswerSilence.Stage.SENT
        && exceeds(answer.silentNanos(), silenceNanos);
  }

  /**
   * Decides on one answer.
   *
   * @param hasLeft whether the instance has left discovery
   * @param missedProbes that the worker has left unanswered one after the other
   * @return null to wait on
   */
  public @Nullable Verdict judge(AnswerSilence answer, boolean hasLeft, int missedProbes) {
    if (isSuspect(answer) && missedProbes >= (hasLeft ? 1 : PROBES)) {
      return Verdict.UNANSWERED_PROBES;
    }
    if (answer.stage() == AnswerSilence.Stage.BEGUN) {
      if (answer.hasItems()) {
        if (exceeds(answer.itemlessNanos(), betweenItemsNanos)) {
          return Verdict.NO_NEXT_ITEM;
        }
      } else if (exceeds(answer.itemlessNanos(), firstItemNanos)) {
        return Verdict.NO_FIRST_ITEM;
      }
    }
    return hasLeft && !mayIdle && isTooSilentAlone(answer) ? Verdict.LEFT_DISCOVERY : null;
  }

  /** A prompt that is still worked on is not repeated elsewhere as soon as an answer is. */
  private boolean isTooSilentAlone(AnswerSilence answer) {
    return isSuspect(answer)
        && (answer.hasItems()
            ? answer.silentNanos() >= silenceNanos + probeNanos
            : exceeds(answer.silentNanos(), betweenItemsNanos));
  }

  private static boolean exceeds(long nanos, long limitNanos) {
    return limitNanos > 0 && nanos >= limitNanos;
  }
}
