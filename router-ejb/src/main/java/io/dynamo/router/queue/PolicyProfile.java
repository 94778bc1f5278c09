package io.dynamo.router.queue;

import io.dynamo.config.router.RouterSettings;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maps a model's requests to their classes. A request is in the class that it names, or in a class
 * of the family that it names, or else of the default family; within a family the number of tokens
 * to prefill decides. Immutable.
 */
public final class PolicyProfile {
  /** The name of the only class when there is no policy file. */
  public static final String ONLY = "default";

  private final List<PolicyClass> classes;
  private final long[] bucketFrom; // ascending, the first 0
  private final Map<String, Integer> named;
  private final Map<String, int[]> families; // class by bucket
  private final int[] defaultFamily;

  /**
   * Creates a profile.
   *
   * @param bucketFrom least tokens to prefill of each bucket, ascending, the first 0
   * @param named the indexes of the classes that a request can name
   * @param families the class indexes of each family by bucket
   * @param defaultFamily the name of one of the families
   */
  PolicyProfile(
      List<PolicyClass> classes,
      long[] bucketFrom,
      Map<String, Integer> named,
      Map<String, int[]> families,
      String defaultFamily) {
    this.classes = List.copyOf(classes);
    this.bucketFrom = bucketFrom.clone();
    this.named = Map.copyOf(named);
    this.families = new HashMap<>(families);
    var standard = families.get(defaultFamily);
    if (standard == null) {
      throw new IllegalArgumentException("there is no family " + defaultFamily);
    }
    this.defaultFamily = standard;
  }

  /** Returns a profile of one class, by the settings. */
  public static PolicyProfile of(RouterSettings.Queueing settings) {
    boolean waits = settings.threshold() < Double.POSITIVE_INFINITY;
    var only =
        new PolicyClass(
            ONLY,
            settings.policy(),
            1,
            null,
            waits ? (Double) settings.threshold() : null,
            null,
            null,
            null);
    return new PolicyProfile(
        List.of(only), new long[] {0}, Map.of(), Map.of(ONLY, new int[] {0}), ONLY);
  }

  public List<PolicyClass> classes() {
    return classes;
  }

  /** Whether requests of any class ever wait. */
  public boolean waits() {
    return classes.stream().anyMatch(PolicyClass::waits);
  }

  /**
   * Returns the index of a request's class.
   *
   * @param asked the class or family that the request names; a name that does not exist counts as
   *     none
   */
  int classOf(@Nullable String asked, long uncachedTokens) {
    var byName = asked == null ? null : named.get(asked);
    if (byName != null) {
      return byName;
    }
    var family = asked == null ? defaultFamily : families.getOrDefault(asked, defaultFamily);
    int bucket = Arrays.binarySearch(bucketFrom, uncachedTokens);
    return family[bucket >= 0 ? bucket : -bucket - 2];
  }
}
