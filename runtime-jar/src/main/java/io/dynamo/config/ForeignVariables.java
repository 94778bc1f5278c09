package io.dynamo.config;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Variables in Dynamo's name that say nothing here: an operator should hear of each. */
public final class ForeignVariables {
  private ForeignVariables() {}

  /**
   * Those of {@code names} that are Dynamo's by their name and stand for no setting, sorted.
   *
   * @param names of the process's environment
   */
  public static List<String> among(Set<String> names) {
    var unknown = new TreeSet<String>();
    names.stream().filter(name -> name.startsWith("DYN_")).forEach(unknown::add);
    unknown.removeAll(EnvironmentAliases.variables());
    return List.copyOf(unknown);
  }
}
