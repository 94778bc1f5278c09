package io.dynamo.config;

import io.dynamo.config.worker.WorkerKeys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds names that look like settings but are not: misspelt ones would otherwise be ignored
 * silently.
 */
final class UnknownNames {
  private static final String PREFIX = "dynamo";
  private static final String MODELS = WorkerKeys.MODELS.name() + ".";

  /** The names that are read before the settings are, some by the container's configuration. */
  static final Set<String> READ_EARLIER =
      Set.of("dynamo.role", "dynamo.log.console-level", OperatorFile.LOCATION);

  /**
   * Matches the endings that Kubernetes adds to the name of each service in a pod's environment.
   */
  private static final String SERVICE_LINK =
      "_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)";

  private final Set<String> keys;
  private final Set<String> variables = new HashSet<>();

  /**
   * @param keys of all settings
   */
  UnknownNames(Collection<String> keys) {
    this.keys = new LinkedHashSet<>(keys);
    this.keys.addAll(READ_EARLIER);
    this.keys.forEach(key -> variables.addAll(variables(key)));
  }

  /**
   * Returns the environment variables for a key, in the order in which MicroProfile Config looks
   * for them: the first counts.
   */
  static List<String> variables(String key) {
    var underscored = key.replaceAll("[^A-Za-z0-9]", "_");
    return List.of(key, underscored, underscored.toUpperCase(Locale.ROOT));
  }

  /**
   * Returns a sentence for each name in {@code given} that is named like a setting but is not one.
   */
  List<String> problems(Collection<GivenName> given) {
    var services = services(given);
    var problems = new ArrayList<String>();
    for (var name : given) {
      boolean known = (name.isVariable() ? variables : keys).contains(name.name());
      if (!known && isOurs(name.name()) && !isServiceLink(name, services)) {
        problems.add(name.shown() + advice(name));
      }
    }
    return problems;
  }

  private static boolean isOurs(String name) {
    return name.length() > PREFIX.length()
        && name.regionMatches(true, 0, PREFIX, 0, PREFIX.length())
        && "._".indexOf(name.charAt(PREFIX.length())) >= 0;
  }

  /** Returns the prefixes of the variables with which Kubernetes announces services. */
  private static Set<String> services(Collection<GivenName> given) {
    var services = new HashSet<String>();
    var end = "_SERVICE_HOST";
    for (var name : given) {
      if (name.isVariable() && name.name().endsWith(end)) {
        services.add(name.name().substring(0, name.name().length() - end.length()));
      }
    }
    return services;
  }

  private static boolean isServiceLink(GivenName given, Set<String> services) {
    return given.isVariable()
        && services.stream()
            .anyMatch(
                service ->
                    given.name().startsWith(service)
                        && given.name().substring(service.length()).matches(SERVICE_LINK));
  }

  private String advice(GivenName given) {
    var models = given.isVariable() ? variables(MODELS).getLast() : MODELS;
    if (given.name().startsWith(models)) {
      return " is a setting of no model; name the model in %s, and the setting as docs/configuration.md has it"
          .formatted(WorkerKeys.MODELS.name());
    }
    var near = nearest(given);
    return " is no setting; "
        + (near == null ? "" : "perhaps " + near + " is meant: ")
        + "correct its name as docs/configuration.md has it, or leave it out";
  }

  /** Returns the setting's name with the smallest edit distance; null when none is near. */
  private @Nullable String nearest(GivenName given) {
    String nearest = null;
    int least = Math.max(2, given.name().length() / 6) + 1;
    for (var key : keys) {
      var name = given.isVariable() ? variables(key).getLast() : key;
      int edits = edits(given.name(), name);
      if (edits < least) {
        least = edits;
        nearest = name;
      }
    }
    return nearest;
  }

  /** Computes the Levenshtein distance, ignoring case. */
  private static int edits(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        boolean same =
            Character.toLowerCase(from.charAt(i - 1)) == Character.toLowerCase(to.charAt(j - 1));
        int kept = diagonal + (same ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(kept, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
