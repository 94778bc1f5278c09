package io.dynamo.router.queue;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.json.JsonObject;
import io.dynamo.json.Yaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Dynamo's policy file ({@code router_policy_config}): request classes for all models, and classes
 * for some models that replace these. Immutable.
 */
public final class PolicyFile {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]+");
  private static final Set<String> PROFILE =
      Set.of("default_policy_family", "uncached_isl_buckets", "policy_classes");
  private static final Set<String> CLASS =
      Set.of(
          "name",
          "policy_family",
          "cache_bucket",
          "queue_policy",
          "quantum",
          "prefill_busy_threshold",
          "prefill_busy_threshold_frac",
          "request_queue_limit_per_worker",
          "raw_isl_token_queue_limit_per_worker",
          "cached_token_queue_limit_per_worker");

  private final @Nullable PolicyProfile root;
  private final Map<String, PolicyProfile> models;

  private PolicyFile(@Nullable PolicyProfile root, Map<String, PolicyProfile> models) {
    this.root = root;
    this.models = Map.copyOf(models);
  }

  /**
   * Reads {@code file}.
   *
   * @throws IllegalArgumentException when the file cannot be read or is wrong; names the file and
   *     the error
   */
  public static PolicyFile read(Path file) {
    try {
      return of(Yaml.readObject(Files.readString(file)));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "dynamo.router.policy-config = \"%s\" cannot be read: %s".formatted(file, e), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "dynamo.router.policy-config = \"%s\": %s".formatted(file, e.getMessage()), e);
    }
  }

  static PolicyFile of(JsonObject document) {
    var known = new ArrayList<>(PROFILE);
    known.add("models");
    checkKnown(document, Set.copyOf(known), "the file");
    var root =
        document.members().keySet().stream().anyMatch(PROFILE::contains)
            ? profile(document, "the file")
            : null;
    var models = new LinkedHashMap<String, PolicyProfile>();
    var perModel = document.optionalObject("models");
    if (perModel != null) {
      for (var model : perModel.members().keySet()) {
        var its = perModel.object(model);
        checkKnown(its, PROFILE, "model " + model);
        models.put(model, profile(its, "model " + model));
      }
    }
    if (root == null && models.isEmpty()) {
      throw new IllegalArgumentException(
          "it has no classes; give default_policy_family, uncached_isl_buckets and policy_classes, for all or under models");
    }
    return new PolicyFile(root, models);
  }

  private static void checkKnown(JsonObject of, Set<String> known, String where) {
    for (var name : of.members().keySet()) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "%s has %s, which is not known here; leave it out".formatted(where, name));
      }
    }
  }

  private static PolicyProfile profile(JsonObject from, String where) {
    for (var needed : PROFILE) {
      if (from.members().get(needed) == null) {
        throw new IllegalArgumentException("%s lacks %s".formatted(where, needed));
      }
    }
    var buckets = new Buckets(from.optionalObjects("uncached_isl_buckets"), where);
    var classes = new ArrayList<PolicyClass>();
    var named = new HashMap<String, Integer>();
    var families = new LinkedHashMap<String, int[]>();
    for (var each : from.optionalObjects("policy_classes")) {
      checkKnown(each, CLASS, where + ": a policy class");
      var one = policyClass(each, where);
      if (named.putIfAbsent(one.name(), classes.size()) != null) {
        throw new IllegalArgumentException(
            "%s has two policy classes %s".formatted(where, one.name()));
      }
      join(families, each, one, buckets, classes.size(), where);
      classes.add(one);
    }
    var standard = from.text("default_policy_family");
    if (!families.containsKey(standard)) {
      throw new IllegalArgumentException(
          "%s has default_policy_family %s, but no class of that family"
              .formatted(where, standard));
    }
    families.forEach((family, members) -> buckets.checkWhole(family, members, where));
    named.keySet().removeAll(families.keySet()); // a name of both means the family
    return new PolicyProfile(classes, buckets.from, named, families, standard);
  }

  private static void join(
      Map<String, int[]> families,
      JsonObject each,
      PolicyClass one,
      Buckets buckets,
      int index,
      String where) {
    var family = each.optionalText("policy_family");
    var bucket = each.optionalText("cache_bucket");
    if (family == null && bucket == null) {
      return;
    }
    if (family == null || bucket == null) {
      throw new IllegalArgumentException(
          "%s: policy class %s has one of policy_family and cache_bucket; give both or neither"
              .formatted(where, one.name()));
    }
    checkName(family, "policy_family", where);
    var members = families.computeIfAbsent(family, _ -> buckets.empty());
    int at = buckets.names.indexOf(bucket);
    if (at < 0) {
      throw new IllegalArgumentException(
          "%s: policy class %s has cache_bucket %s, which uncached_isl_buckets lacks"
              .formatted(where, one.name(), bucket));
    }
    if (members[at] >= 0) {
      throw new IllegalArgumentException(
          "%s has two policy classes of family %s and bucket %s".formatted(where, family, bucket));
    }
    members[at] = index;
  }

  private static PolicyClass policyClass(JsonObject from, String where) {
    var name = from.text("name");
    checkName(name, "policy class", where);
    var of = where + ": policy class " + name;
    var quantum = count(from, "quantum", of);
    if (quantum == null || quantum == 0) {
      throw new IllegalArgumentException(of + " needs a quantum of at least 1 token");
    }
    return new PolicyClass(
        name,
        order(from.optionalText("queue_policy"), of),
        quantum,
        count(from, "prefill_busy_threshold", of),
        fraction(from, "prefill_busy_threshold_frac", of),
        count(from, "request_queue_limit_per_worker", of),
        count(from, "raw_isl_token_queue_limit_per_worker", of),
        count(from, "cached_token_queue_limit_per_worker", of));
  }

  private static RouterSettings.QueuePolicy order(@Nullable String text, String where) {
    return switch (text) {
      case "fcfs" -> RouterSettings.QueuePolicy.FCFS;
      case "wspt" -> RouterSettings.QueuePolicy.WSPT;
      case null -> RouterSettings.QueuePolicy.FCFS;
      default ->
          throw new IllegalArgumentException(
              "%s has queue_policy %s; it is fcfs or wspt".formatted(where, text));
    };
  }

  private static @Nullable Long count(JsonObject from, String name, String where) {
    return switch (from.members().get(name)) {
      case null -> null;
      case Integer value when value >= 0 -> value.longValue();
      default ->
          throw new IllegalArgumentException(
              "%s has %s %s; it is a whole number from 0 to %d"
                  .formatted(where, name, from.members().get(name), Integer.MAX_VALUE));
    };
  }

  private static @Nullable Double fraction(JsonObject from, String name, String where) {
    return switch (from.members().get(name)) {
      case null -> null;
      case Number value when value.doubleValue() >= 0 && Double.isFinite(value.doubleValue()) ->
          value.doubleValue();
      default ->
          throw new IllegalArgumentException(
              "%s has %s %s; it is a number of at least 0"
                  .formatted(where, name, from.members().get(name)));
    };
  }

  private static void checkName(String name, String what, String where) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "%s has %s \"%s\"; a name has letters, digits and _ . -".formatted(where, what, name));
    }
  }

  /** The buckets of {@code uncached_isl_buckets}: ranges of tokens to prefill, with names. */
  private static final class Buckets {
    final long[] from;
    final List<String> names = new ArrayList<>();

    Buckets(List<JsonObject> buckets, String where) {
      from = new long[buckets.size()];
      for (int i = 0; i < from.length; i++) {
        var bucket = buckets.get(i);
        checkKnown(bucket, Set.of("min_tokens", "bucket"), where + ": a bucket");
        var least = count(bucket, "min_tokens", where + ": a bucket");
        if (least == null || (i == 0 ? least != 0 : least <= from[i - 1])) {
          throw new IllegalArgumentException(
              where + ": min_tokens of uncached_isl_buckets begin at 0 and rise");
        }
        from[i] = least;
        var name = bucket.text("bucket");
        checkName(name, "bucket", where);
        if (names.contains(name)) {
          throw new IllegalArgumentException("%s has two buckets %s".formatted(where, name));
        }
        names.add(name);
      }
      if (from.length == 0) {
        throw new IllegalArgumentException(where + " has no uncached_isl_buckets");
      }
    }

    int[] empty() {
      var members = new int[from.length];
      Arrays.fill(members, -1);
      return members;
    }

    void checkWhole(String family, int[] members, String where) {
      for (int i = 0; i < members.length; i++) {
        if (members[i] < 0) {
          throw new IllegalArgumentException(
              "%s lacks a policy class of family %s for bucket %s"
                  .formatted(where, family, names.get(i)));
        }
      }
    }
  }

  /**
   * Returns the classes of {@code model}: its own, or those for all models.
   *
   * @param otherwise the classes to return where the file has neither
   */
  public PolicyProfile of(String model, PolicyProfile otherwise) {
    var its = models.get(model);
    return its != null ? its : root != null ? root : otherwise;
  }
}
