package io.dynamo.request.tcp.silence;

import io.dynamo.config.plane.SilenceSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which an answer is given up because its worker is silent. Immutable.
 *
 * <p>A silent worker that answers probes is slow and has until the limit between items; one that
 * answers no probes is lost after two of them, or after one when its instance has left discovery as
 * well. A worker that sends bytes but no items has until the same limit. An answer to a whole
 * request that stops in the middle although its worker has left discovery is lost a little later:
 * such a worker may have withdrawn because its engine hangs.
 */
public final class SilenceRules {
  /** The reason why an answer is given up. */
  public enum Verdict {
    /** The worker answers no probes. */
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

  /** Returns the rules for answers to whole requests. */
  public static SilenceRules of(SilenceSettings settings) {
    return new SilenceRules(settings, settings.betweenItems(), settings.firstItem(), false);
  }

  /**
   * Returns the rules for answers to request streams, where a worker is silent while it has nothing
   * to answer.
   *
   * @param inactivity how long such an answer may be silent; zero is for ever
   */
  public static SilenceRules ofExchanges(SilenceSettings settings, Duration inactivity) {
    return new SilenceRules(settings, inactivity, inactivity, true);
  }

  /** Whether the worker of {@code answer} is to be probed. */
  public boolean isSuspect(AnswerSilence answer) {
    return answer.stage() != AnswerSilence.Stage.SENT
        && exceeds(answer.silentNanos(), silenceNanos);
  }

  /**
   * Decides whether one answer is given up.
   *
   * @param hasLeft whether the instance has left discovery
   * @param missedProbes number of consecutive probes that the worker has left unanswered
   * @return null to keep waiting
   */
  public @Nullable Verdict judge(AnswerSilence answer, boolean hasLeft, int missedProbes) {
    if (isSuspect(answer) && missedProbes >= (hasLeft ? 1 : PROBES)) {
      return Verdict.UNANSWERED_PROBES;
    }
    if (answer.stage() == AnswerSilence.Stage.STARTED) {
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

  /**
   * Whether the answer of a worker that has left discovery is silent for too long. A prompt that is
   * still being computed is given more time than an answer in the middle.
   */
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
