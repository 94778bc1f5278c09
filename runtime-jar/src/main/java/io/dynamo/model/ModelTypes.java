package io.dynamo.model;

import java.util.Collection;
import java.util.List;

/** The flags of a model's abilities ({@code model_type}) in Dynamo 1.6.1. */
public final class ModelTypes {
  private ModelTypes() {}

  /** Returns the {@code flags} that Dynamo does not have, sorted; its names are case-sensitive. */
  public static List<String> unknown(Collection<String> flags) {
    return flags.stream().filter(flag -> !ModelCardJson.FLAGS.contains(flag)).sorted().toList();
  }
}
