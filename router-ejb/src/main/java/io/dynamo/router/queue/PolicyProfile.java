package io.dynamo.router.queue;

import io.dynamo.config.router.RouterSettings;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The classes of a model's requests, and which of them a request is in: the one that it names, or
 * of the family that it names, or else the default one, that for as many tokens as it has to
 * prefill. Immutable.
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
   * @param bucketFrom least tokens to prefill of each bucket, ascending, the first 0
   * @param named the classes that are asked for by name
   * @param families the classes of each family by bucket
   * @param defaultFamily one of them
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

  /** One class, by the settings. */
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
   * The index of a request's class.
   *
   * @param asked the class or family that it names; a name that does not exist counts as none
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
