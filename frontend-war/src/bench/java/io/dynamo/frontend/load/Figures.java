package io.dynamo.frontend.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** The measurements of one count. Safe for concurrent use. */
final class Figures {
  private final List<Answer> answers = new ArrayList<>();
  private final List<Answer> refusals = new ArrayList<>();
  private final LongAdder streamed = new LongAdder();
  private volatile Gaps gaps = new Gaps();
  private int failed;
  private volatile boolean counting;

  void count(boolean on) {
    counting = on;
  }

  /** Counts a token as it comes, also of an answer that does not end while it is counted. */
  void token(long nanosSinceLast) {
    if (counting) {
      streamed.increment();
      if (nanosSinceLast > 0) {
        gaps.record(nanosSinceLast);
      }
    }
  }

  /** Counts tokens of an answer that came in chunks with others. */
  void joined(int tokens) {
    if (counting) {
      streamed.add(tokens);
    }
  }

  /** Tokens that came, whether or not their answers have ended. */
  long streamed() {
    return streamed.sum();
  }

  /** Collects the times between tokens anew. */
  Gaps newGaps() {
    gaps = new Gaps();
    return gaps;
  }

  synchronized void answered(Answer answer) {
    if (counting) {
      (answer.refused() ? refusals : answers).add(answer);
    }
  }

  synchronized void failed(Exception cause) {
    if (failed++ == 0) {
      System.err.println("first failure: " + cause);
    }
  }

  synchronized int failed() {
    return failed;
  }

  synchronized int refused() {
    return refusals.size();
  }

  /** How long those that were refused waited for that, in milliseconds. */
  synchronized String refusedMillis(double... quantiles) {
    return millis(refusals, Answer::wholeNanos, quantiles);
  }

  synchronized int requests() {
    return answers.size();
  }

  synchronized long tokens() {
    return answers.stream().mapToLong(Answer::tokens).sum();
  }

  /** The values of those that were answered at {@code quantiles}, in milliseconds. */
  synchronized String millis(ToLongFunction<Answer> what, double... quantiles) {
    return millis(answers, what, quantiles);
  }

  private static String millis(List<Answer> of, ToLongFunction<Answer> what, double... quantiles) {
    var values = of.stream().mapToLong(what).sorted().toArray();
    if (values.length == 0) {
      return "none";
    }
    var text = new StringBuilder();
    for (double q : quantiles) {
      text.append(text.isEmpty() ? "" : " / ")
          .append("%.2f".formatted(values[(int) ((values.length - 1) * q)] / 1e6));
    }
    return text.toString();
  }
}
