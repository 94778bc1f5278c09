package io.dynamo.router.select;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.router.load.RankLoads;
import java.util.function.DoubleSupplier;
import java.util.function.IntPredicate;

/**
 * Chooses a rank without looking at the prompt: the modes other than kv. Safe for concurrent use.
 */
public final class Spread {
  private final RouterSettings.Mode mode;
  private final int cudaToCpuRatio;
  private final DoubleSupplier random; // uniform in [0, 1); safe for concurrent use
  private final RoundRobin turn = new RoundRobin();
  private final RankPicker picker;

  /**
   * Creates a chooser for one mode.
   *
   * @param cudaToCpuRatio requests that a worker with an accelerator has for one of a worker
   *     without, in the device-aware mode
   */
  public Spread(RouterSettings.Mode mode, int cudaToCpuRatio, DoubleSupplier random) {
    this.mode = mode;
    this.cudaToCpuRatio = cudaToCpuRatio;
    this.random = random;
    this.picker = new RankPicker(0, true, random);
  }

  /**
   * Chooses one of the candidates, of which there is at least one.
   *
   * @param isCpu whether a candidate, given by its index, has no accelerator
   */
  public int choose(RankLoads loads, IntPredicate isCpu) {
    int n = loads.size();
    return switch (mode) {
      case ROUND_ROBIN -> turn.next(n);
      case RANDOM -> draw(n);
      case POWER_OF_TWO -> lessLoadedOfTwo(loads.requests());
      case LEAST_LOADED -> picker.fewest(loads.requests(), _ -> true);
      case DIRECT -> picker.fewest(loads.requests(), _ -> true); // the ranks of the pinned worker
      case DEVICE_AWARE_WEIGHTED -> fewestOfKind(loads.requests(), isCpu);
      case KV -> throw new IllegalStateException("kv looks at prompts");
    };
  }

  /**
   * Returns a candidate without an accelerator while these run less than their share of the
   * requests, otherwise one with an accelerator; the one with the fewest requests of its kind.
   */
  private int fewestOfKind(int[] requests, IntPredicate isCpu) {
    long cpus = 0;
    long onCpus = 0;
    long onOthers = 0;
    for (int i = 0; i < requests.length; i++) {
      if (isCpu.test(i)) {
        cpus++;
        onCpus += requests[i];
      } else {
        onOthers += requests[i];
      }
    }
    long others = requests.length - cpus;
    boolean toCpu =
        others == 0 || (cpus > 0 && onCpus < onOthers * cpus / (cudaToCpuRatio * others));
    return picker.fewest(requests, i -> isCpu.test(i) == toCpu);
  }

  private int lessLoadedOfTwo(int[] requests) {
    int n = requests.length;
    if (n == 1) {
      return 0;
    }
    int first = draw(n);
    int second = (first + 1 + draw(n - 1)) % n;
    return requests[second] < requests[first] ? second : first;
  }

  private int draw(int bound) {
    return Math.min(bound - 1, (int) (random.getAsDouble() * bound));
  }

  /** Returns the reason for the choices of {@link #choose}. */
  public SelectionReason reason() {
    return switch (mode) {
      case ROUND_ROBIN -> SelectionReason.IN_TURN;
      case RANDOM -> SelectionReason.RANDOM;
      case POWER_OF_TWO -> SelectionReason.LESS_LOADED_OF_TWO;
      case LEAST_LOADED, DIRECT, DEVICE_AWARE_WEIGHTED, KV -> SelectionReason.LEAST_LOADED;
    };
  }
}
